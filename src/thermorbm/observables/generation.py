"""New configurations from hidden starts; p_h says how closely a start follows table 1 (section III B)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.observables.weights import filter_sums

_SPINS_AT_ONCE = 1 << 22

Seed = int | np.random.SeedSequence


def magnetization_probability(mean_abs_magnetization: float) -> float:
    """p_h = (<|m|> + 1) / 2."""
    if not 0 <= mean_abs_magnetization <= 1:
        raise InputError("mean |m|", mean_abs_magnetization, "a number in [0, 1]")
    return (mean_abs_magnetization + 1) / 2


def stepwise_probability(
    temperature: float, low: float = 2.0, high: float = 2.5, between: float = 0.75
) -> float:
    """p_h = 1 up to `low`, 0.5 from `high` on, `between` in the middle; the paper's numbers are for 2d."""
    _check_limits(low, high)
    return 1.0 if temperature <= low else 0.5 if temperature >= high else between


def linear_probability(temperature: float, low: float, high: float) -> float:
    """p_h falling from 1 at `low` to 0.5 at `high`, constant outside; the paper prints it rising."""
    _check_limits(low, high)
    return 0.5 + 0.5 * float(np.clip((high - temperature) / (high - low), 0, 1))


def hidden_start(machine: Machine, p_h: float, n: int, seed: Seed) -> NDArray[np.int8]:
    """n hidden layers, (n, n_hidden) of +-1, that encode magnetised configurations as far as p_h says.

    Each start has one sign of m, +1 or -1 with probability 1/2; unit i takes sign(m) sign(filter sum_i) with
    probability p_h and the opposite otherwise. A filter sum of 0 counts as positive. p_h = 0.5 gives random
    layers.
    """
    if not 0 <= p_h <= 1:
        raise InputError("p_h", p_h, "a probability")
    rng = np.random.default_rng(seed)
    pattern = np.where(filter_sums(machine).totals < 0, -1, 1).astype(np.int8)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), size=(n, 1))
    follows = rng.random((n, machine.n_hidden), dtype=np.float32) < p_h
    return np.asarray(np.where(follows, pattern, -pattern) * signs)


def generate(
    machine: Machine,
    p_h: float,
    n: int,
    steps: int = 0,
    seed: int = 0,
    lattice: Lattice | None = None,
    temperature: float | None = None,
) -> Dataset:
    """v^(steps) of h^(0) -> v^(0) -> h^(1) -> v^(1) -> ..., from n hidden starts with p_h, as a dataset.

    steps = 0 is the one-step reconstruction of the paper, p_h = 0.5 with steps = 7 its seven-step chain from
    random starts. lattice and temperature only label the result; without them it has no energy.
    """
    if n < 1:
        raise InputError("n", n, "a whole number >= 1")
    size = max(1, _SPINS_AT_ONCE // machine.n_visible)
    packed = np.empty((n, -(-machine.n_visible // 8)), np.uint8)  # before the work: it may be too much
    seeds = np.random.SeedSequence(seed).spawn(-(-n // size))
    for start, block_seed in zip(range(0, n, size), seeds, strict=True):
        hidden, visible, chain = block_seed.spawn(3)
        h = hidden_start(machine, p_h, min(size, n - start), hidden)
        v = machine.gibbs(machine.sample_visible(h, visible), steps, chain)
        packed[start : start + size] = Dataset.from_spins(v, lattice).packed
    origin = {"method": "generate", "p_h": p_h, "steps": steps, "seed": seed}
    return Dataset(packed, lattice, temperature, origin, n_sites=machine.n_visible)


def _check_limits(low: float, high: float) -> None:
    if not 0 < low < high:
        raise InputError("limits", (low, high), "two temperatures, 0 < low < high")
