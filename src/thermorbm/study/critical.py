"""Critical temperatures from curves: the registry of quantities says what is sought in which curve.

Indicators of one machine for all temperatures are averages over the configurations at each temperature, of
one function of the configuration. So they are known between the temperatures too, by reweighting, wherever
the energies of configurations overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import estimators, exact
from thermorbm.errors import InputError
from thermorbm.estimators import CriticalPoint, Measurements, Reweighting, observable_peak
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.runner.store import Reduced
from thermorbm.stats import Estimate
from thermorbm.study.quantities import HEAT_PEAK, QUANTITIES, STEEPEST, find_quantity
from thermorbm.study.results import SAMPLES, Curve, Indication
from thermorbm.study.reweighted import ENERGY, sample_arrays

if TYPE_CHECKING:
    from thermorbm.dataset import Dataset
    from thermorbm.model import Machine

Arrays = dict[str, NDArray[Any]]
NOTHING: Mapping[str, CriticalPoint] = {}
MOST_SAMPLES = 5000
# The quantities that are averages or variances of a number of single configurations.
OF_SAMPLES = {
    "visible_energy": ("visible_energy_mean_per_spin", "visible_energy_variance_per_spin"),
    "zero_bias_energy": ("zero_bias_energy_variance_per_spin",),
    "pseudo_likelihood": ("pseudo_likelihood_per_spin",),
}


def critical_points(
    curves: Mapping[str, Curve],
    of_unions: bool,
    is_temperature: bool,
    seed: int,
    reweighted: Mapping[str, CriticalPoint] = NOTHING,
) -> tuple[list[Indication], Arrays]:
    """What every curve says of T_c, or why it says nothing, and the smooth curves through the points.

    of_unions: whether the curves are of machines for all temperatures together. reweighted: peaks by quantity
    that are known from all samples, so that no curve through the points is needed.
    """
    rows: list[Indication] = []
    arrays: Arrays = {}
    for name, curve in curves.items():
        quantity = find_quantity(name)
        if quantity is None or not quantity.mark or (quantity.only_unions and not of_unions):
            continue
        mark = quantity.mark
        if mark == HEAT_PEAK and not is_temperature:
            mark = STEEPEST  # T dX/dT means something for a temperature alone
        try:
            point = reweighted.get(name) or getattr(estimators, mark)(*_usable(curve), seed=seed)
        except InputError as error:
            rows.append(Indication(name, mark, quantity.target, None, str(error)))
            continue
        rows.append(_described(name, mark, quantity.target, point))
        if name not in reweighted:
            arrays |= _smooth_curves(name, point)
    return rows, arrays


def _usable(curve: Curve) -> NDArray[np.float64]:
    """x, values and errors, (3, n), where all are finite."""
    columns = np.array([curve.x, curve.values, curve.errors], dtype=np.float64)
    return columns[:, np.isfinite(columns).all(axis=0)]


def _described(name: str, mark: str, kind: str, point: CriticalPoint) -> Indication:
    same = ("lower", "upper", "at_edge", "resolved", "lower_95", "upper_95")
    return Indication(
        name,
        mark,
        kind,
        estimate=point.temperature if point.determined else None,
        problem=None if point.determined else point.note,
        note=point.note or None,
        **{key: getattr(point, key) for key in same},
    )


def _smooth_curves(name: str, point: CriticalPoint) -> Arrays:
    """The smooth curve through the points and the one whose maximum was sought, each with its error."""
    columns = {
        "x": point.fit.temperatures,
        "fit": point.fit.values,
        "fit_errors": point.fit.errors,
        "indicator": point.indicator.values,
        "indicator_errors": point.indicator.errors,
    }
    return {f"critical.{name}.{key}": column.astype(np.float32) for key, column in columns.items()}


def square_side(model: Hamiltonian | None) -> int | None:
    """Of a square torus with one coupling between neighbours, all satisfied; None for other lattices."""
    if model is None or model.plain is None or model.frustrated:
        return None
    shape = model.plain[0].shape
    return shape[0] if len(shape) == 2 and len(set(shape)) == 1 else None


def exact_heat_peak(model: Hamiltonian | None) -> float | None:
    """Temperature of the maximum of Kaufman's heat capacity on a square torus; None for other lattices."""
    side = square_side(model)
    if side is None or model is None or model.plain is None:
        return None
    return abs(model.plain[1]) * exact.heat_capacity_peak(side)


def union_arrays(machine: Machine, held_out: Dataset, parts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Energies of configurations, (n,), and what the machine says of each; nothing without a lattice."""
    from thermorbm.observables import pseudo_likelihoods, visible_energies

    chosen = held_out[:MOST_SAMPLES]
    arrays = {name: column for name, column in sample_arrays(chosen).items() if name == ENERGY}
    if not arrays:
        return {}
    if "visible-energy" in parts:
        energies = visible_energies(machine, chosen)
        arrays[SAMPLES + "visible_energy"] = energies.full.astype(np.float32)
        arrays[SAMPLES + "zero_bias_energy"] = energies.zero_bias.astype(np.float32)
    if "likelihood" in parts:
        arrays[SAMPLES + "pseudo_likelihood"] = pseudo_likelihoods(machine, chosen).astype(np.float32)
    return arrays


def union_peaks(results: Sequence[Reduced], n_sites: int, seed: int) -> dict[str, CriticalPoint]:
    """What the machines of one variant and size say of T_c, by quantity; several seeds are averaged.

    A quantity is left out where samples are missing or do not overlap around its peak.
    """
    by_seed: dict[Any, list[Reduced]] = {}
    for result in results:
        if ENERGY in result.arrays:
            by_seed.setdefault(result.task.labels["seed_index"], []).append(result)
    each = [_peaks_of_one(rows, n_sites, seed) for rows in by_seed.values()]
    names = set.intersection(*(set(peaks) for peaks in each)) if each else set()
    return {name: _mean_over_seeds([peaks[name] for peaks in each]) for name in sorted(names)}


def _peaks_of_one(results: Sequence[Reduced], n_sites: int, seed: int) -> dict[str, CriticalPoint]:
    peaks: dict[str, CriticalPoint] = {}
    for key, names in OF_SAMPLES.items():
        rows = [result for result in results if SAMPLES + key in result.arrays]
        try:
            solved = Reweighting(_measurements(rows, SAMPLES + key), n_sites, seed=seed)
            points = {name: observable_peak(solved, QUANTITIES[name].mark) for name in names}
        except InputError:
            continue
        peaks |= {name: point for name, point in points.items() if point is not None}
    return peaks


def _measurements(results: Sequence[Reduced], name: str) -> list[Measurements]:
    """Energies with the numbers of that name in the place of m, above the least of all."""
    least = min((float(result.arrays[name].min()) for result in results), default=0.0)
    return [
        Measurements(
            float(result.task.labels["value"]), result.arrays[ENERGY], _double(result.arrays, name) - least
        )
        for result in results
    ]


def _double(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float64]:
    return np.asarray(arrays[name], dtype=np.float64)


def _mean_over_seeds(points: Sequence[CriticalPoint]) -> CriticalPoint:
    """Seeds share their configurations, whose error stays; the scatter of trainings is added to it."""
    if len(points) == 1:
        return points[0]
    values, errors = (np.array([getattr(point, key) for point in points]) for key in ("value", "error"))
    mean = float(values.mean())
    error = float(np.hypot(errors.mean(), values.std(ddof=1) / np.sqrt(len(values))))
    return replace(
        points[0],
        temperature=Estimate(mean, error),
        lower=mean - error,
        upper=mean + error,
        lower_95=mean - 1.96 * error,
        upper_95=mean + 1.96 * error,
        determined=all(point.determined for point in points),
        note=next((point.note for point in points if point.note), ""),
    )
