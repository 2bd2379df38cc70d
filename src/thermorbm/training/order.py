"""The order of the data: the patterns that whole configurations follow, or oppose.

Below a transition configurations are a pattern (all up, say), or its reverse, with excitations on it. A
pattern is the leading principal component u of the second moments <v v^T>, and its strength at site j is
mu_j = <v_j sign(u.v)>. The mean is not taken off: the sign of the order is random. Far above a transition mu
is all but 0, and so is whatever is built on it: there is no threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.training.carriers import Amplitudes, find_amplitudes

# Configurations from which directions are found, and as many more, at most, that tell the strengths.
DIRECTION_ROWS, STRENGTH_ROWS = 1024, 50_000
# A component beyond the first is order if it holds this much of the variance of all spins.
_LEAST_SHARE = 0.1
_MOST_PATTERNS = 4
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Order:
    """strengths: (n, n_visible), mu of each pattern, the strongest first.

    spread: the mean variance of a spin about its pattern, 1 - mean mu_1^2, between 0 and 1. sway: variance of
    u.v over configurations of one sign, by pattern: how much the order itself fluctuates. amplitudes: of the
    first pattern. rows: (n_rows, n_visible) float32, the configurations from which directions were found.
    gauge: (n_visible,) of +-1, by which neighbours of the data's Hamiltonian are alike, 1 at the first site;
    all 1 for ferromagnets and where no such pattern is known.
    """

    strengths: NDArray[np.float64]
    spread: float
    sway: NDArray[np.float64]
    amplitudes: Amplitudes
    rows: NDArray[np.float32]
    gauge: NDArray[np.float64]

    @property
    def n_carriers(self) -> int:
        """Hidden units that carry the order, if there are as many."""
        return self.amplitudes.n_carriers + len(self.strengths) - 1

    @property
    def signs(self) -> NDArray[np.float64]:
        """(n_visible,) of +-1: the first pattern."""
        return np.where(self.strengths[0] < 0, -1.0, 1.0)

    @property
    def directions(self) -> NDArray[np.float32]:
        """(n, n_visible): orthonormal, spanned by the strengths."""
        directions = np.linalg.qr(self.strengths.T)[0].T
        return directions.astype(np.float32)


def find_order(data: Dataset, seed: SeedSequence, most_carriers: int = 1) -> Order:
    """One pattern at least, and as many more as hold a large part of the variance.

    most_carriers: hidden units that may carry the first pattern together.
    """
    numbers = default_rng(seed).permutation(len(data))
    chosen = np.sort(numbers[:DIRECTION_ROWS])
    rows = data.select(chosen).spins(0, len(chosen)).astype(np.float32)
    directions = _leading(rows)
    others = np.sort(numbers[DIRECTION_ROWS : DIRECTION_ROWS + STRENGTH_ROWS])
    telling = data.select(others if len(others) >= len(chosen) else chosen)
    strengths, along = _strengths(telling, directions)
    mean = max(abs(float(strengths[0] @ directions[0])), np.finfo(float).tiny)
    amplitudes = find_amplitudes(along[:, 0] / mean, strengths[0], most_carriers)
    spread = 1 - float(np.mean(strengths[0] ** 2))
    spread = min(1.0, max(0.0, spread))
    return Order(strengths, spread, np.abs(along).var(axis=0), amplitudes, rows, _gauge(data))


def _gauge(data: Dataset) -> NDArray[np.float64]:
    """Of the Hamiltonian and not of the data, whose leading pattern is noise far above a transition."""
    pattern = None if data.hamiltonian is None else data.hamiltonian.ground_state
    return np.ones(data.n_sites) if pattern is None else (pattern * pattern[0]).astype(np.float64)


def _leading(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, n_visible): unit vectors of the leading component, and of others that hold much."""
    values, vectors = np.linalg.eigh(rows @ rows.T / len(rows))
    shares = values[::-1] / rows.shape[1]
    n = 1 + int((shares[1:_MOST_PATTERNS] >= _LEAST_SHARE).sum())
    directions = (rows.T @ vectors[:, ::-1][:, :n]).T
    return np.asarray(directions / np.linalg.norm(directions, axis=1, keepdims=True), np.float32)


def _strengths(
    data: Dataset, directions: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """mu of each direction, noise of its sites removed, and u.v of each configuration, (n_rows, n)."""
    sums = np.zeros(directions.shape, np.float64)
    overlaps = []
    for v in data.blocks(_ROWS_AT_ONCE):
        along = v.astype(np.float32) @ directions.T
        sums += np.where(along < 0, -1, 1).T.astype(np.float32) @ v.astype(np.float32)
        overlaps.append(along.astype(np.float64))
    means = sums / len(data)
    return np.stack([_steadied(mu, len(data)) for mu in means]), np.concatenate(overlaps)


def _steadied(mu: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """mu of all sites drawn towards their common strength, as far as they differ by no more than chance.

    Counts of n configurations scatter by (1 - mu^2) / n; where sites scatter no more than that, they are
    alike and one strength is better than many noisy ones (James and Stein). No strength is beyond what n
    configurations without one excitation tell.
    """
    signs, sizes = np.where(mu < 0, -1.0, 1.0), np.abs(mu)
    common = sizes.mean()
    scatter, chance = sizes.var(), np.mean(1 - sizes**2) / n
    kept = max(0.0, 1 - chance / scatter) if scatter > 0 else 0.0
    largest = 1 - 1 / (n * (len(mu) if kept == 0 else 1) + 1)
    return np.asarray(signs * np.minimum(common + kept * (sizes - common), largest))
