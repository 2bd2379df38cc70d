"""All samples of a family read as one series by reweighting: fine curves, entropies and peaks with errors.

The steps `measure` and `energies` leave the total energy and magnetisation of every configuration. Those of
the grid of energies bridge the temperatures of the data. Entropy and free energy also come from the averages
of all temperatures by thermodynamic integration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import exact
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.estimators import (
    CriticalPoint,
    HotEnd,
    Measurements,
    Reweighting,
    exact_hot_end,
    infinite_temperature,
    integrate_entropy,
    ordered_ground_state,
    reweighted_peak,
)
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.observables import total_energies
from thermorbm.observables.order_parameter import known_order
from thermorbm.runner.store import Reduced
from thermorbm.series import RANDOM_SAMPLES, ground_level, random_spins
from thermorbm.stats import Estimates
from thermorbm.study.results import SAMPLES, Curve, IntegratedEntropy

Arrays = dict[str, NDArray[Any]]
ENERGY, MAGNETIZATION = SAMPLES + "energy", SAMPLES + "magnetization"
# The quantity of the registry, or the name in files, of each reweighted curve.
NAMES = {
    "energy": "energy_per_spin",
    "heat_capacity": "heat_capacity_per_spin",
    "abs_magnetization": "abs_magnetization_per_spin",
    "susceptibility": "susceptibility_per_spin",
    "binder": "binder_cumulant",
    "entropy": "entropy_per_spin",
    "free_energy": "free_energy_per_spin",
}
PEAKS = ("heat_capacity", "susceptibility", "entropy")
MAGNETIC = ("abs_magnetization", "susceptibility", "binder")
LEAST_SIDE = 3  # shorter sides have double bonds
SERIES_FROM = 6.0  # in 3d the series is used for all temperatures above the grid's end, if that is so hot


def sample_arrays(data: Dataset) -> Arrays:
    """Total energy and total order parameter of every configuration (n,), as the smallest whole numbers.

    Energies that are no whole numbers stay as they are. The order parameter is the magnetisation, or the
    overlap with a ground state; where neither is known beforehand it is the magnetisation.
    """
    energies = total_energies(data)
    if energies is None:
        return {}
    total = np.rint(known_order(data) * data.n_sites)
    return {
        ENERGY: _whole(energies) if energies.dtype.kind == "i" else energies,
        MAGNETIZATION: _whole(total),
    }


def _whole(values: NDArray[Any]) -> NDArray[Any]:
    limit = np.iinfo(np.int16).max
    return values.astype(np.int16 if np.abs(values).max(initial=0) <= limit else np.int32)


def reweighting_of(
    results: Sequence[Reduced], model: Hamiltonian, seed: int
) -> tuple[Reweighting | None, tuple[str, ...]]:
    """The density of states from the samples of all results, or None, and what is to be said of it."""
    series = measurements_of(results, model.n_sites)
    if not series:
        return None, ()
    hot = random_spins(model, RANDOM_SAMPLES, np.random.default_rng(seed))
    try:
        solved = Reweighting([*series, hot], model.n_sites, ground_level(model), seed=seed)
        low, high = float(solved.temperatures[0]), float(solved.temperatures[-1])
        return solved, solved.curves(np.linspace(low, high, 2)).notes + _gap_notes(solved)
    except InputError as error:
        return None, (f"the samples were not reweighted: {error}",)


def _gap_notes(solved: Reweighting) -> tuple[str, ...]:
    if not solved.gaps:
        return ()
    where = ", ".join(f"{low:g} and {high:g}" for low, high in solved.gaps)
    return (
        f"samples at {where} have too few energies in common: nothing is reweighted in between, and a peak "
        "there is sought in the smooth curve through the averages",
    )


def measurements_of(results: Sequence[Reduced], n_sites: int) -> list[Measurements]:
    """Samples by temperature; those of the data and of the grid at one temperature are joined."""
    parts: dict[float, list[Arrays]] = {}
    for result in results:
        if ENERGY in result.arrays:
            parts.setdefault(float(result.task.labels["value"]), []).append(dict(result.arrays))
    return [
        Measurements(
            temperature,
            np.concatenate([part[ENERGY] for part in rows]),
            np.concatenate([part[MAGNETIZATION] for part in rows]) / n_sites,
        )
        for temperature, rows in sorted(parts.items())
    ]


def fine_curves(solved: Reweighting, temperatures: NDArray[np.float64], magnetic: bool = True) -> Arrays:
    """Every quantity with its error at temperatures (m,), nan where the series does not reach.

    magnetic: with those of the order parameter.
    """
    inside = (temperatures >= solved.temperatures[0]) & (temperatures <= solved.temperatures[-1])
    curves = solved.curves(temperatures[inside])
    arrays: Arrays = {"reweighted.temperature": curves.temperatures}
    for key, name in NAMES.items():
        if key in MAGNETIC and not magnetic:
            continue
        estimates: Estimates = getattr(curves, key)
        arrays[f"reweighted.{name}"] = estimates.values.astype(np.float32)
        arrays[f"reweighted.{name}.errors"] = estimates.errors.astype(np.float32)
    return arrays


def entropies(solved: Reweighting, temperatures: Sequence[float], otherwise: Curve | None) -> Curve | None:
    """S per spin at those temperatures; where no path leads to a known end, from the curve `otherwise`."""
    points = {} if otherwise is None else otherwise.points
    reweighted = Curve.of(temperatures, solved.curves(np.array(temperatures)).entropy).points
    points |= {x: entropy for x, entropy in reweighted.items() if np.isfinite(entropy.value)}
    x = sorted(points)
    return Curve.of(x, Estimates.stack(points[value] for value in x)) if points else None


def reweighted_peaks(solved: Reweighting | None, magnetic: bool = True) -> dict[str, CriticalPoint]:
    """Where heat capacity and susceptibility peak, by quantity; T dS/dT is the heat capacity.

    A quantity is left out where the samples do not tell its peak: its curve through the averages may.
    """
    peaks: dict[str, CriticalPoint] = {}
    if solved is None:
        return peaks
    for name in PEAKS:
        if name in MAGNETIC and not magnetic:
            continue
        try:
            peaks[NAMES[name]] = reweighted_peak(solved, name)
        except InputError:
            continue
    return peaks


def integrated(
    curves: Mapping[str, Curve], wanted: Sequence[float], shape: Sequence[int], seed: int
) -> IntegratedEntropy:
    """Entropy per spin at the wanted temperatures: from T = 0, from T = infinity, and both combined.

    curves: energy and heat capacity per spin over one grid. Also the free energy per spin, E - T S.
    """
    lattice = Lattice(shape)
    energy, heat = curves["energy_per_spin"], curves["heat_capacity_per_spin"]
    grid = np.array(energy.x)
    at = [value for value in wanted if grid[0] <= value <= grid[-1]]
    hot = _hot_end(lattice, float(grid[-1]))
    cold = ordered_ground_state(lattice.dimension, lattice.n_sites)
    entropy = integrate_entropy(grid, energy.estimates, heat.estimates, hot, cold, at=at, seed=seed)
    return IntegratedEntropy(
        from_infinity=Curve.of(at, entropy.from_infinity),
        from_zero=Curve.of(at, entropy.from_zero),
        combined=Curve.of(at, entropy.combined),
        free_energy_per_spin=_free_energy(energy, at, entropy.combined),
        mismatch=entropy.mismatch,
        n_points=len(grid),
        hot_end="series" if hot.beta > 0 else "infinite temperature",
    )


def can_integrate(hamiltonian: str, shape: Sequence[int] | None, n_points: int) -> bool:
    """Whether the energies of a grid can be integrated on that lattice."""
    return hamiltonian == "ising" and shape is not None and min(shape) >= LEAST_SIDE and n_points >= 4


def _hot_end(lattice: Lattice, hottest: float) -> HotEnd:
    if lattice.dimension == 3 and hottest >= SERIES_FROM:
        temperature = 1.1 * hottest
        series = exact.cubic_series(temperature)
        return exact_hot_end(temperature, series.energy, series.heat_capacity, series.entropy)
    return infinite_temperature(lattice.dimension)


def _free_energy(energy: Curve, at: Sequence[float], entropy: Estimates) -> Curve:
    """E - T S; the errors of the two are added as if independent, which is on the safe side."""
    place = [energy.x.index(value) for value in at]
    T = np.array(at)
    values = np.array(energy.values)[place] - T * entropy.values
    errors = np.hypot(np.array(energy.errors)[place], T * entropy.errors)
    return Curve.of(at, Estimates(values, errors))
