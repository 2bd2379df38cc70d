"""Chains that are carried along a path of machines, and the work it takes: annealed importance sampling.

Of a chain that starts in equilibrium at the first rung, exp(ln w) has the mean Z_last / Z_first (Jarzynski
1997, Neal 2001), whatever the number of rungs. The step v -> h -> v at each rung obeys detailed balance, so
that the way back is the reverse process of the way there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from thermorbm.model.path import Path

Tick = Callable[[], None]  # called after every rung


@dataclass(frozen=True, eq=False)
class Anneal:
    """works: (n_rungs, n), what each rung added to ln w of each chain."""

    works: NDArray[np.float64]

    @property
    def log_weights(self) -> NDArray[np.float64]:
        """ln w, (n,)."""
        return np.asarray(self.works.sum(axis=0))


def anneal(
    path: Path,
    betas: NDArray[np.float64],
    v: NDArray[Any],
    state: NDArray[np.uint64],
    tick: Tick = lambda: None,
) -> Anneal:
    """Carries the chains v, (n, n_visible) in the machine's type, from betas[0] to betas[-1], in place."""
    works = np.empty((len(betas) - 1, len(v)))
    for rung, work in enumerate(_carried(path, betas, v, state)):
        works[rung] = work
        tick()
    return Anneal(works)


def population(
    path: Path,
    betas: NDArray[np.float64],
    v: NDArray[Any],
    state: NDArray[np.uint64],
    generator: np.random.Generator,
    tick: Tick = lambda: None,
) -> NDArray[np.intp]:
    """The same with resampling: whenever few chains carry most of the weight, chains are copied by weight.

    At the end the chains, all of equal weight, stand for the distribution at betas[-1], modes in their right
    proportion as far as the chains found them. Returns the first ancestor of each chain, (n,).
    """
    families = np.arange(len(v))
    log_weights = np.zeros(len(v))
    for rung, work in enumerate(_carried(path, betas, v, state), start=2):
        log_weights += work
        if effective_number(log_weights) < len(v) / 2 or rung == len(betas):
            kept = _systematic(log_weights, generator)
            v[:], families = v[kept], families[kept]
            log_weights[:] = 0
        tick()
    return families


def relax(
    path: Path, v: NDArray[Any], n_steps: int, state: NDArray[np.uint64], tick: Tick = lambda: None
) -> None:
    """Gibbs steps of the machine itself, in place."""
    ones = np.ones(len(v))
    for _ in range(n_steps):
        path.gibbs(v, path.machine.hidden_inputs(v), ones, state)
        tick()


def effective_number(log_weights: NDArray[np.float64]) -> float:
    """(sum w)^2 / sum w^2: how many equally weighted chains these are worth."""
    return float(np.exp(2 * logsumexp(log_weights) - logsumexp(2 * log_weights)))


def _carried(
    path: Path, betas: NDArray[np.float64], v: NDArray[Any], state: NDArray[np.uint64]
) -> Iterator[NDArray[np.float64]]:
    """The work of each rung in turn, after the chains have moved there."""
    for beta, to_beta in pairwise(betas):
        here, there = np.full(len(v), beta), np.full(len(v), to_beta)
        x = path.machine.hidden_inputs(v)
        work = path.work(v, x, here, there)
        path.gibbs(v, x, there, state)
        yield work


def _systematic(log_weights: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.intp]:
    """n places, each as often as its weight says, to within one copy."""
    n = len(log_weights)
    shares = np.cumsum(np.exp(log_weights - logsumexp(log_weights)))
    marks = (np.arange(n) + generator.random()) / n
    return np.minimum(np.searchsorted(shares, marks), n - 1)
