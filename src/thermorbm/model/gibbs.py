"""Conditionals, Gibbs chains, cross entropy (section II B and C, appendix C), and replica exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from thermorbm.errors import InputError
from thermorbm.model.energy import log_2cosh_sum, softplus
from thermorbm.model.layers import Layers
from thermorbm.model.path import make_path
from thermorbm.model.random_units import Seed, generator_state, sample_units, seed_sequence
from thermorbm.model.units import row_blocks

Rows = TypeVar("Rows")
Array = TypeVar("Array")
LADDER = (1.0, 0.97, 0.94, 0.91, 0.88, 0.85, 0.82, 0.79)
Energy = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]


def p_hidden(machine: Layers, v: NDArray[Any]) -> NDArray[Any]:
    """P(h_i = +1 | v) = sigma(2 (W v + c)_i). (n, n_visible) -> (n, n_hidden)."""
    p = np.empty((len(v), machine.n_hidden), dtype=machine.dtype)
    for rows in row_blocks(len(v), machine.width):
        p[rows] = expit(2 * machine.hidden_inputs(v[rows]))
    return p


def p_visible(machine: Layers, h: NDArray[Any]) -> NDArray[Any]:
    """P(v_j = +1 | h) = sigma(2 (W^T h + b)_j). (n, n_hidden) -> (n, n_visible)."""
    p = np.empty((len(h), machine.n_visible), dtype=machine.dtype)
    for rows in row_blocks(len(h), machine.width):
        p[rows] = expit(2 * machine.visible_inputs(h[rows]))
    return p


def sample_hidden(machine: Layers, v: NDArray[Any], state: NDArray[np.uint64]) -> NDArray[np.int8]:
    """h drawn given v; advances the generator state. (n, n_visible) -> (n, n_hidden)."""
    h = np.empty((len(v), machine.n_hidden), dtype=np.int8)
    for rows in row_blocks(len(v), machine.width):
        sample_units(machine.hidden_inputs(v[rows]), state, h[rows])
    return h


def sample_visible(machine: Layers, h: NDArray[Any], state: NDArray[np.uint64]) -> NDArray[np.int8]:
    """v drawn given h; advances the generator state. (n, n_hidden) -> (n, n_visible)."""
    v = np.empty((len(h), machine.n_visible), dtype=np.int8)
    for rows in row_blocks(len(h), machine.width):
        sample_units(machine.visible_inputs(h[rows]), state, v[rows])
    return v


def gibbs(machine: Layers, v: NDArray[Any], steps: int, state: NDArray[np.uint64]) -> NDArray[np.int8]:
    """v^(steps) of the chain v -> h -> v -> ... of each row; advances the generator state."""
    last = np.empty((len(v), machine.n_visible), dtype=np.int8)
    for rows in row_blocks(len(v), machine.width):
        chains = np.array(v[rows], dtype=machine.dtype)
        h = np.empty((len(chains), machine.n_hidden), dtype=machine.dtype)
        for _ in range(steps):
            sample_units(machine.hidden_inputs(chains), state, h)
            sample_units(machine.visible_inputs(h), state, chains)
        last[rows] = chains
    return last


def cross_entropy(machine: Layers, v: NDArray[Any], state: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Cross entropy of each v with its reconstruction from one drawn h, nats per visible unit. -> (n,)."""
    entropy = np.empty(len(v))
    for rows in row_blocks(len(v), machine.width):
        h = sample_units(machine.hidden_inputs(v[rows]), state)
        entropy[rows] = cross_entropy_given_hidden(machine, v[rows], h)
    return entropy


def cross_entropy_given_hidden(machine: Layers, v: NDArray[Any], h: NDArray[Any]) -> NDArray[np.float64]:
    """-(1/n_v) sum_j ln p(v'_j = v_j | h) of each row (appendix C). (n, n_visible), (n, n_hidden) -> (n,)."""
    surprise = softplus(-2 * v * machine.visible_inputs(h))  # -ln sigma(2 v y)
    return np.asarray(surprise.mean(axis=1))


def meeting_rows(n_replicas: int, n_chains: int, parity: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of replicas parity, parity + 2, ... and of the next replica of each; replica by replica."""
    lower = np.arange(parity, n_replicas - 1, 2)
    rows = (lower[:, None] * n_chains + np.arange(n_chains)).ravel()
    return rows, rows + n_chains


def swap_log_ratio(energy: Callable[[Rows, Rows], Array], a: Rows, b: Rows) -> Array:
    """ln of the Metropolis ratio for rows a and b to swap their configurations; certain above 0.

    energy(rows, at): visible energy of the configurations in `rows` at the inverse temperatures of `at`. The
    ratio p_a(v_b) p_b(v_a) / p_a(v_a) p_b(v_b) keeps both distributions.
    """
    return energy(a, a) + energy(b, b) - energy(a, b) - energy(b, a)  # type: ignore[operator, no-any-return]


@dataclass(frozen=True, eq=False)
class Tempered:
    """v: (n_replicas, n, n_visible) int8. swap_rates: (n_replicas - 1,), mean acceptance of neighbours."""

    v: NDArray[np.int8]
    swap_rates: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Replicas:
    """All replicas after one step; v and walkers are views that the next step changes.

    v: (n_replicas, n, n_visible) in the machine's type. walkers: (n_replicas, n), the replica in which each
    configuration started. tried, made: (n_replicas,), exchanges of this step with the next replica.
    """

    v: NDArray[Any]
    walkers: NDArray[np.intp]
    tried: NDArray[np.intp]
    made: NDArray[np.intp]


def temper(machine: Layers, v: NDArray[Any], betas: ArrayLike, steps: int, seed: Seed) -> Tempered:
    """Where `exchange_steps` is after so many steps, and how often neighbours swapped on the way."""
    ladder = _checked(betas)
    chains = np.broadcast_to(v, (len(ladder), *v.shape))
    tried, made = np.zeros(len(ladder)), np.zeros(len(ladder))
    for now in islice(exchange_steps(machine, v, ladder, seed), steps):
        chains = now.v
        tried += now.tried
        made += now.made
    rates = np.divide(made, tried, out=np.full(len(ladder), np.nan), where=tried > 0)
    return Tempered(chains.astype(np.int8), rates[:-1])


def exchange_steps(machine: Layers, v: NDArray[Any], betas: ArrayLike, seed: Seed) -> Iterator[Replicas]:
    """Replicas p(v, h)^beta, all starting at the rows of v; an exchange of neighbours before each Gibbs step.

    v: (n, n_visible). betas: (n_replicas,), the first is usually 1. Pairs (0, 1), (2, 3), ... and (1, 2), ...
    take turns. It never ends.
    """
    ladder, n = _checked(betas), len(v)
    moves, swaps = seed_sequence(seed).spawn(2)
    state, generator = generator_state(moves), np.random.default_rng(swaps)
    path, rows = make_path(machine, "zero"), np.repeat(ladder, n)
    chains = np.tile(np.asarray(v, dtype=machine.dtype), (len(ladder), 1))
    walkers = np.repeat(np.arange(len(ladder)), n)
    for parity in cycle((0, 1)):
        x = machine.hidden_inputs(chains)
        a, b = meeting_rows(len(ladder), n, parity)
        swap = accepted(swap_log_ratio(replica_energy(machine, chains, x, rows), a, b), generator)
        for array in (chains, x, walkers):
            array[a[swap]], array[b[swap]] = array[b[swap]], array[a[swap]]
        path.gibbs(chains, x, rows, state)
        tried, made = (np.bincount(low // n, minlength=len(ladder)) for low in (a, a[swap]))
        yield Replicas(chains.reshape(len(ladder), n, -1), walkers.reshape(-1, n), tried, made)


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
