"""Does a machine generate what it was trained on, and does it do so in equilibrium?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.model.random_units import Seed, seed_sequence
from thermorbm.observables.distances import shells, translation_average
from thermorbm.stats import Estimate, mean_estimate, variance_estimate

LIMIT = 4.0  # standard errors
N_CHAINS, N_STEPS = 256, 256

Series = Mapping[str, NDArray[np.float64]]
Move = Callable[[NDArray[Any], int, np.random.SeedSequence], NDArray[np.int8]]


@dataclass(frozen=True)
class Comparison:
    """One quantity of the data and of the machine's chains at their end."""

    quantity: str
    data: Estimate
    model: Estimate

    @property
    def z_score(self) -> float:
        """model - data in standard errors of the difference."""
        distance = self.model.value - self.data.value
        error = math.hypot(self.model.error, self.data.error)
        return 0.0 if distance == 0 else float(np.divide(distance, error))


@dataclass(frozen=True)
class Quality:
    """Chains of a machine from random starts, after n_steps, beside the data.

    comparisons: by quantity; with a lattice energy, |m|, heat capacity (if T is known) and two-point
    correlations, else |m| and the visible energy. starts: the same chains beside ones that began at the data,
    which stand there as "data": they agree if n_steps are enough to forget. left: quantities that came nearer
    to the data earlier in the chain than they are at its end, by more than 4 standard errors. curves: by
    quantity, (n_times, 3) of steps, mean and error from random starts.
    """

    comparisons: tuple[Comparison, ...]
    starts: tuple[Comparison, ...]
    left: tuple[str, ...]
    curves: Mapping[str, NDArray[np.float64]]
    n_chains: int
    n_steps: int

    @property
    def is_equilibrium(self) -> bool:
        return not self.left and all(abs(item.z_score) <= LIMIT for item in self.starts)

    @property
    def verdict(self) -> str:
        """ "equilibrium", or "out of equilibrium" and why."""
        if self.left:
            return f"out of equilibrium: chains leave the data's {', '.join(self.left)}"
        apart = [item.quantity for item in self.starts if abs(item.z_score) > LIMIT]
        if apart:
            return f"out of equilibrium: chains from data and from random starts differ in {', '.join(apart)}"
        return "equilibrium"


def quality(
    machine: Machine,
    data: Dataset,
    n_chains: int = N_CHAINS,
    n_steps: int = N_STEPS,
    seed: Seed = 0,
    move: Move | None = None,
) -> Quality:
    """Runs n_chains from random spins and as many from the data, and compares them with all the data.

    move(v, steps, seed) advances chains, by default plain Gibbs steps; `lambda v, k, s:
    machine.temper(v, k, s).v[0]` tempers them.
    """
    if data.n_sites != machine.n_visible:
        raise InputError("data", f"{data.n_sites} sites", f"of {machine.n_visible}, like the machine")
    if n_chains < 2 or n_steps < 2 or len(data) < 2:
        raise InputError("chains, steps, data", (n_chains, n_steps, len(data)), "two or more of each")
    draw, *seeds = seed_sequence(seed).spawn(2 + _n_times(n_steps))
    forward = machine.gibbs if move is None else move
    v: NDArray[Any] = np.random.default_rng(draw).choice(np.array([-1, 1], np.int8), (n_chains, data.n_sites))
    w = data.select(np.arange(n_chains) * len(data) // n_chains).spins()
    path, done = [], 0
    for time, step_seed in zip(_times(n_steps), seeds, strict=False):
        v = forward(v, time - done, step_seed)
        path.append(_means(_series(machine, v, data.lattice)))
        done = time
    w = forward(w, n_steps, seeds[-1])
    truth = _series(machine, np.concatenate(list(data.blocks())), data.lattice)
    ends = [_estimates(_series(machine, x, data.lattice), data) for x in (v, w)]
    return Quality(
        _compared(_estimates(truth, data), ends[0]),
        _compared(ends[1], ends[0]),
        tuple(name for name in truth if _left([row[name] for row in path], mean_estimate(truth[name]).value)),
        {name: _curve(n_steps, [row[name] for row in path]) for name in truth},
        n_chains,
        n_steps,
    )


def _n_times(n_steps: int) -> int:
    return len(_times(n_steps))


def _times(n_steps: int) -> list[int]:
    """1, 2, 4, ... and n_steps itself."""
    return sorted({*(1 << k for k in range(n_steps.bit_length()) if 1 << k < n_steps), n_steps})


def _series(machine: Machine, v: NDArray[np.int8], lattice: Lattice | None) -> Series:
    """Quantities of each configuration, (n,) each, per spin."""
    found = {"abs_magnetization": np.abs(v.mean(axis=1, dtype=np.float64))}
    if lattice is None:
        return {**found, "visible_energy": machine.visible_energy(v) / v.shape[1]}
    found["energy"] = lattice.energy(v) / v.shape[1]
    bins = shells(lattice)
    curves = bins.average(translation_average(lattice, v.astype(np.float64)))
    for distance in _distances(lattice):
        found[f"correlation_r{distance}"] = curves[:, int(np.argmin(np.abs(bins.distances - distance)))]
    return found


def _distances(lattice: Lattice) -> list[int]:
    """Two steps, and a quarter of the shortest side if that is further; one step is the energy itself."""
    return sorted({2, max(2, min(lattice.shape) // 4)})


def _means(series: Series) -> dict[str, Estimate]:
    return {name: mean_estimate(values) for name, values in series.items()}


def _estimates(series: Series, data: Dataset) -> dict[str, Estimate]:
    """Means, and the heat capacity where energy and temperature are known."""
    found = _means(series)
    if "energy" in series and data.temperature is not None:
        variance, factor = variance_estimate(series["energy"]), data.n_sites / data.temperature**2
        found["heat_capacity"] = Estimate(factor * variance.value, factor * variance.error)
    return found


def _compared(data: Mapping[str, Estimate], model: Mapping[str, Estimate]) -> tuple[Comparison, ...]:
    return tuple(Comparison(name, data[name], model[name]) for name in data)


def _left(path: list[Estimate], truth: float) -> bool:
    """Whether the mean was nearer to the truth than it is at the end, beyond errors."""
    last = path[-1]
    distance = abs(last.value - truth)
    return any(
        distance - abs(item.value - truth) > LIMIT * math.hypot(item.error, last.error) for item in path
    )


def _curve(n_steps: int, path: list[Estimate]) -> NDArray[np.float64]:
    rows = [(time, item.value, item.error) for time, item in zip(_times(n_steps), path, strict=True)]
    return np.array(rows, dtype=np.float64)
