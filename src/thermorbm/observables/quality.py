"""Does a machine generate what it was trained on, and does it do so in equilibrium?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit  # scipy.stats takes half a second to import

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.model.random_units import Seed, seed_sequence
from thermorbm.model.units import row_blocks
from thermorbm.observables.configurations import check_sites, shells, translation_average
from thermorbm.observables.order_parameter import order_pattern
from thermorbm.stats import Estimate, mean_estimate, variance_estimate

FALSE_ALARMS = 1e-3  # machines in equilibrium that the verdict calls out of it
N_CHAINS = 256  # find a difference of 0.46 standard deviations nine times in ten
N_STEPS = 256  # as long as chains live in training (`chain_life` of the fast recipe)
SHORT = 5  # steps, as in the paper's training

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
    """Chains of a machine from random starts, after n_steps, beside data.

    comparisons: per spin, `joint_energy`, the machine's own <E(v, h)> given v in nats, |m|, and with a
    lattice energy, two-point correlations, and heat capacity if T is known; beside held-out data if there are
    some. starts: the same chains beside ones that began at the data, which stand there as "data"; they agree
    if n_steps are enough to forget. trained: the joint energy beside that of the training data. short: beside
    that of chains five steps away from them. false_alarms: share of machines in equilibrium that the verdict
    may call out of it.
    """

    comparisons: tuple[Comparison, ...]
    starts: tuple[Comparison, ...]
    trained: Comparison
    short: Comparison
    n_chains: int
    n_steps: int
    false_alarms: float = FALSE_ALARMS

    @property
    def limit(self) -> float:
        """Standard errors that chance exceeds in any of the verdict's comparisons with `false_alarms`.

        The smallest series has n_chains values, so Student's t with n_chains - 1 degrees of freedom; the
        probability is divided by the number of comparisons, all starts and the joint energy (Bonferroni).
        """
        n_comparisons = len(self.starts) + 1
        return float(-stdtrit(self.n_chains - 1, self.false_alarms / (2 * n_comparisons)))

    @property
    def is_equilibrium(self) -> bool:
        """Whether the verdict finds nothing that speaks against equilibrium."""
        return self.verdict == "equilibrium"

    @property
    def verdict(self) -> str:
        """Whether chains forget their start, and stay where training saw them.

        The change of <E(v, h)> from the data to long chains is the gradient of the likelihood along all
        parameters together; that to chains of k steps is the gradient of CD-k. If long chains agree with
        neither the data nor short chains from them, the likelihood is not stationary and CD-k does not know.
        Other quantities may differ because there are too few hidden units.
        """
        apart = [item.quantity for item in self.starts if abs(item.z_score) > self.limit]
        if apart:
            return f"out of equilibrium: chains from data and from random spins differ in {', '.join(apart)}"
        nearest = min((self.trained, self.short), key=lambda item: abs(item.z_score)).z_score
        if abs(nearest) > self.limit:
            return f"out of equilibrium: chains leave the data's joint energy by {nearest:+.1f} errors"
        return "equilibrium"


def quality(
    machine: Machine,
    data: Dataset,
    n_chains: int = N_CHAINS,
    n_steps: int = N_STEPS,
    seed: Seed = 0,
    move: Move | None = None,
    held_out: Dataset | None = None,
) -> Quality:
    """Runs n_chains from random spins and as many from the data, and compares them with all the data.

    data: what the machine was trained on; of other configurations <E(v, h)> may differ by overfitting.
    move(v, steps, seed) advances chains, by default plain Gibbs steps; `lambda v, k, s:
    machine.temper(v, k, s).v[0]` tempers them. held_out: what `comparisons` compares with, instead of data.
    """
    shown = data if held_out is None else held_out
    _check(machine, (data, shown), n_chains, n_steps)
    draw, *seeds = seed_sequence(seed).spawn(4)
    spins = np.random.default_rng(draw).choice(np.array([-1, 1], np.int8), (n_chains, data.n_sites))
    some = data.select(np.arange(n_chains) * len(data) // n_chains).spins()
    forward = machine.gibbs if move is None else move
    runs = zip((spins, some, some), (n_steps, n_steps, SHORT), seeds, strict=True)
    ends = [forward(start, steps, run_seed) for start, steps, run_seed in runs]
    model, from_data = (_estimates(_series(machine, v, shown), shown) for v in ends[:2])
    of_data = _estimates(_series(machine, _spins(shown), shown), shown)
    energies = (mean_estimate(_joint_energy(machine, v) / data.n_sites) for v in (_spins(data), ends[2]))
    trained, short = (Comparison("joint_energy", energy, model["joint_energy"]) for energy in energies)
    return Quality(_compared(of_data, model), _compared(from_data, model), trained, short, n_chains, n_steps)


def _check(machine: Machine, datasets: tuple[Dataset, ...], n_chains: int, n_steps: int) -> None:
    for data in datasets:
        check_sites(machine, data)
        if n_chains < 2 or n_steps < 1 or len(data) < 2:
            got = n_chains, n_steps, len(data)
            raise InputError("chains, steps and configurations", got, ">= 2, >= 1 and >= 2")


def _spins(data: Dataset) -> NDArray[np.int8]:
    return np.concatenate(list(data.blocks()))


def _series(machine: Machine, v: NDArray[np.int8], data: Dataset) -> Series:
    """Quantities of each configuration, (n,) each, per spin. data: of which they may be configurations."""
    pattern, lattice, model = order_pattern(data), data.lattice, data.hamiltonian or data.lattice
    along = v if pattern is None else v * pattern
    series = {
        "joint_energy": _joint_energy(machine, v) / v.shape[1],
        "abs_magnetization": np.abs(along.mean(axis=1, dtype=np.float64)),
    }
    if model is not None:
        series["energy"] = model.energy(v) / v.shape[1]
    if lattice is None:
        return series
    bins = shells(lattice)
    curves = bins.average(translation_average(lattice, v.astype(np.float64)))
    for distance in _distances(lattice):
        series[f"correlation_r{distance}"] = curves[:, int(np.argmin(np.abs(bins.distances - distance)))]
    return series


def _joint_energy(machine: Machine, v: NDArray[np.int8]) -> NDArray[np.float64]:
    """Mean of E(v, h) over h given v, total in nats. (n, n_visible) -> (n,)."""
    energies = np.empty(len(v))
    for rows in row_blocks(len(v), machine.width):
        x = machine.hidden_inputs(v[rows]).astype(np.float64)
        energies[rows] = -machine.visible_field(v[rows]) - (x * np.tanh(x)).sum(axis=1)
    return energies


def _distances(lattice: Lattice) -> list[int]:
    """Two steps, and a quarter of the shortest side if that is further; one step is the energy itself."""
    return sorted({2, max(2, min(lattice.shape) // 4)})


def _estimates(series: Series, data: Dataset) -> dict[str, Estimate]:
    """Means, and the heat capacity where energy and temperature are known."""
    means = {name: mean_estimate(values) for name, values in series.items()}
    if "energy" in series and data.temperature is not None:
        variance = variance_estimate(series["energy"])
        means["heat_capacity"] = variance.scaled(data.n_sites / data.temperature**2)
    return means


def _compared(data: Mapping[str, Estimate], model: Mapping[str, Estimate]) -> tuple[Comparison, ...]:
    return tuple(Comparison(name, data[name], model[name]) for name in data)
