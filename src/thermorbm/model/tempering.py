"""Replica exchange along the inverse temperature of the machine's own energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError
from thermorbm.model.exchange import meeting_rows, swap_log_ratio
from thermorbm.model.layers import Layers
from thermorbm.model.numerics import log_2cosh_sum
from thermorbm.model.path import make_path
from thermorbm.model.random_units import Seed, generator_state, seed_sequence

LADDER = (1.0, 0.97, 0.94, 0.91, 0.88, 0.85, 0.82, 0.79)

Energy = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Tempered:
    """v: (n_replicas, n, n_visible) int8. swap_rates: (n_replicas - 1,), mean acceptance of neighbours."""

    v: NDArray[np.int8]
    swap_rates: NDArray[np.float64]


def temper(machine: Layers, v: NDArray[Any], betas: ArrayLike, steps: int, seed: Seed) -> Tempered:
    """Replicas p(v, h)^beta, all starting at the rows of v; an exchange of neighbours before each Gibbs step.

    v: (n, n_visible). betas: (n_replicas,), the first is usually 1. Pairs (0, 1), (2, 3), ... and (1, 2), ...
    take turns.
    """
    ladder, n = _checked(betas), len(v)
    moves, swaps = seed_sequence(seed).spawn(2)
    state, generator = generator_state(moves), np.random.default_rng(swaps)
    path, rows = make_path(machine, "zero"), np.repeat(ladder, n)
    chains = np.tile(np.asarray(v, dtype=machine.dtype), (len(ladder), 1))
    tried, made = np.zeros(len(ladder)), np.zeros(len(ladder))
    for step in range(steps):
        x = machine.hidden_inputs(chains)
        a, b = meeting_rows(len(ladder), n, step % 2)
        swap = accepted(swap_log_ratio(replica_energy(machine, chains, x, rows), a, b), generator)
        for array in (chains, x):
            array[a[swap]], array[b[swap]] = array[b[swap]], array[a[swap]]
        tried += np.bincount(a // n, minlength=len(ladder))
        made += np.bincount(a[swap] // n, minlength=len(ladder))
        path.gibbs(chains, x, rows, state)
    rates = np.divide(made, tried, out=np.full(len(ladder), np.nan), where=tried > 0)
    return Tempered(chains.astype(np.int8).reshape(len(ladder), n, -1), rates[:-1])


def accepted(log_ratio: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.bool_]:
    """True with probability min(1, exp(log_ratio))."""
    return np.asarray(-generator.standard_exponential(len(log_ratio)) < log_ratio)


def replica_energy(machine: Layers, v: NDArray[Any], x: NDArray[Any], betas: NDArray[np.float64]) -> Energy:
    """energy(rows, at) of the configurations v with hidden inputs x at the inverse temperatures betas."""
    field = machine.visible_field(v)

    def energy(rows: NDArray[np.intp], at: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.asarray(-betas[at] * field[rows] - log_2cosh_sum(betas[at][:, None] * x[rows]))

    return energy


def _checked(betas: ArrayLike) -> NDArray[np.float64]:
    ladder = np.asarray(betas, dtype=np.float64)
    if ladder.ndim != 1 or not len(ladder) or not np.all((ladder >= 0) & np.isfinite(ladder)):
        raise InputError("betas", betas, "one or more finite inverse temperatures >= 0")
    return ladder
