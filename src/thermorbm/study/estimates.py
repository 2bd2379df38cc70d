"""Results of many temperatures put together: curves, entropies, critical temperatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import exact
from thermorbm.estimators import CriticalPoint, Reweighting, mean_over_seeds
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.observables.order_parameter import COMPONENT, order_kind
from thermorbm.records import as_plain, from_plain
from thermorbm.runner.store import Product, Reduced
from thermorbm.runner.task import Task
from thermorbm.stats import Estimate, Estimates
from thermorbm.study.critical import NOTHING, critical_points, exact_heat_peak, square_side, union_peaks
from thermorbm.study.named import hamiltonian_of, is_plain
from thermorbm.study.quantities import HEAT_CAPACITY, SUSCEPTIBILITY, read_all
from thermorbm.study.results import (
    Curve,
    Indication,
    IntegratedEntropy,
    Interactions,
    Observation,
    Target,
    Thermodynamics,
    Weights,
)
from thermorbm.study.reweighted import (
    can_integrate,
    entropies,
    fine_curves,
    integrated,
    reweighted_peaks,
    reweighting_of,
)

Arrays = dict[str, NDArray[Any]]
Averages = Mapping[str, Estimate]  # by the name of the quantity

FINE_POINTS = 400
NO_ENERGIES = (
    "the samples were not reweighted: their energies are not known; give the shape of the lattice and the "
    "hamiltonian, and peaks are sought in smooth curves until then"
)
# A transfer matrix of so few spins takes some hundredths of a second at each of so many temperatures.
MOST_KEPT, FEW_POINTS = 14, 30
THERMODYNAMIC = ("energy", "heat_capacity", "entropy", "free_energy")
# The record that a kind of task leaves, from which the registry of quantities reads.
RECORDS = {"weights": Weights, "observe": Observation, "bracket": Observation, "interactions": Interactions}


def thermodynamics(task: Task, results: Sequence[Reduced]) -> Product:
    """Averages of the configurations as curves, what they say of T_c, and exact curves beside them."""
    measured, grid = (_thermal(results, kind) for kind in ("measure", "energies"))
    own, everywhere = curves(measured), curves({**grid, **measured})
    p, temperatures = task.parameters, sorted(measured)
    arrays, entropy, critical, targets = _exact_curves(task, temperatures), None, list[Indication](), {}
    solved, notes = _reweighting(task, results)
    if solved is not None and len(temperatures) > 1:
        fine = np.union1d(np.linspace(temperatures[0], temperatures[-1], FINE_POINTS), temperatures)
        arrays |= fine_curves(solved, fine, _has_one_order(task))
    if "entropy" in p["parts"] and grid and can_integrate(p["hamiltonian"], p["shape"], len(grid)):
        entropy = integrated(everywhere, temperatures, p["shape"], p["seed"] % 2**32)
    own |= _entropy(solved, temperatures, entropy) if "entropy" in p["parts"] else {}
    if "critical" in p["parts"]:
        peaks = reweighted_peaks(solved, _has_one_order(task))
        critical, smooth = _critical(task, own, peaks)
        targets = _targets(task, everywhere, peaks)
        arrays |= smooth
    record = Thermodynamics(own, curves(grid), entropy, tuple(critical), targets, notes=notes)
    return Product(as_plain(record), arrays)


def _reweighting(task: Task, results: Sequence[Reduced]) -> tuple[Reweighting | None, tuple[str, ...]]:
    """From the energies of all samples of the family, where its Hamiltonian is known."""
    p, model = task.parameters, _model(task)
    if not p["is_temperature"]:
        return None, ()
    if model is None:
        return None, (NO_ENERGIES,)
    return reweighting_of(results, model, p["seed"] % 2**32)


def _model(task: Task) -> Hamiltonian | None:
    """H of the family, None where it is not known."""
    return None if task.parameters["hamiltonian"] == "unknown" else hamiltonian_of(task.parameters)


def _has_one_order(task: Task) -> bool:
    """Whether m means the same at all temperatures: principal components differ from dataset to dataset."""
    return order_kind(_model(task)) != COMPONENT


def _entropy(
    solved: Reweighting | None, temperatures: Sequence[float], integral: IntegratedEntropy | None
) -> dict[str, Curve]:
    """The entropy at the temperatures of the data: by reweighting, else by integration, if it is known."""
    otherwise = None if integral is None else integral.combined
    curve = otherwise if solved is None else entropies(solved, temperatures, otherwise)
    return {} if curve is None else {"entropy_per_spin": curve}


def indicators(task: Task, results: Sequence[Reduced]) -> Product:
    """What machines of one variant and size say at every value, averaged over seeds, and of T_c.

    Where machines have one seed each, others that differ in their seed alone may be among the results; their
    scatter is then part of all errors.
    """
    own = task.labels.get("role")
    averaged = curves(_readings(item for item in results if item.task.labels.get("role") == own))
    again = _readings(item for item in results if item.task.labels.get("role") != own)
    averaged = {name: widened(curve, again, name) for name, curve in averaged.items()}
    critical, arrays = _critical(task, averaged, _union_peaks(task, results))
    return Product({"curves": as_plain(averaged), "critical": as_plain(critical)}, arrays)


def _readings(results: Iterable[Reduced]) -> dict[float, list[Averages]]:
    """Quantities of single machines by value; the weights of one for all temperatures belong to none."""
    readings: dict[float, list[Averages]] = {}
    for result in results:
        value = result.task.labels["value"]
        if value is not None:
            readings.setdefault(value, []).append(_quantities(result))
    return readings


def widened(curve: Curve, again: Mapping[float, Sequence[Averages]], name: str) -> Curve:
    """The curve with the scatter between trainings in its errors, as a share of its values.

    again: quantities of machines from several seeds at a few values, between which the share is interpolated.
    """
    groups = {x: [row[name].value for row in rows if name in row] for x, rows in sorted(again.items())}
    shares = {
        x: float(np.std(group, ddof=1) / abs(np.mean(group)))
        for x, group in groups.items()
        if len(group) > 1 and np.mean(group)
    }
    if not shares:
        return curve
    share = np.interp(curve.x, list(shares), list(shares.values()))
    errors = np.hypot(np.nan_to_num(curve.errors), share * np.abs(curve.values))
    return replace(curve, errors=tuple(errors.tolist()))


def _union_peaks(task: Task, results: Sequence[Reduced]) -> dict[str, CriticalPoint]:
    """Peaks of machines for all temperatures by reweighting, where the Hamiltonian is known."""
    p, model = task.parameters, _model(task)
    if not p["union"] or model is None or not p["is_temperature"]:
        return {}
    return union_peaks(results, model.n_sites, p["seed"] % 2**32)


def _thermal(results: Sequence[Reduced], kind: str) -> dict[float, list[Averages]]:
    """Averages by temperature, of tasks of one kind."""
    return {
        result.task.labels["value"]: [_estimates(result.values)]
        for result in results
        if result.task.kind == kind
    }


def _estimates(values: Mapping[str, Any]) -> Averages:
    return {name: from_plain(Estimate, plain, name) for name, plain in values.get("thermal", {}).items()}


def _quantities(result: Reduced) -> Averages:
    """All quantities of the registry that a result holds, by name."""
    if result.task.kind not in RECORDS:
        return {}
    values = dict(result.values)
    if RECORDS[result.task.kind] is Observation:
        values["value"] = result.task.labels["value"]
    return read_all(from_plain(RECORDS[result.task.kind], values), result.arrays)


def _critical(
    task: Task, of: Mapping[str, Curve], reweighted: Mapping[str, CriticalPoint] = NOTHING
) -> tuple[list[Indication], Arrays]:
    p = task.parameters
    return critical_points(of, p["union"], p["is_temperature"], p["seed"] % 2**32, reweighted)


def _targets(
    task: Task, of: Mapping[str, Curve], reweighted: Mapping[str, CriticalPoint]
) -> dict[str, Target | None]:
    """Where heat capacity and susceptibility peak on this very lattice: exact if known, else from samples."""
    peaks = {row.indicator: row.estimate for row in _critical(task, of, reweighted)[0]}
    targets: dict[str, Target | None] = {}
    for kind in (HEAT_CAPACITY, SUSCEPTIBILITY):
        peak = peaks.get(f"{kind}_per_spin")
        targets[kind] = None if peak is None else Target(peak.value, peak.error, "samples")
    truth = exact_heat_peak(_model(task))
    if truth is not None:
        targets[HEAT_CAPACITY] = Target(truth, 0.0, "kaufman")
    return targets


def curves(readings: Mapping[float, Sequence[Averages]]) -> dict[str, Curve]:
    """Curves by name; several estimates at one value, of different seeds, are averaged.

    Seeds of machines share their configurations, so that the mean has the error of these in full.
    """
    names = dict.fromkeys(name for rows in readings.values() for row in rows for name in row)
    return {name: _curve(readings, name) for name in names}


def _curve(readings: Mapping[float, Sequence[Averages]], name: str) -> Curve:
    points = {x: [row[name] for row in rows if name in row] for x, rows in sorted(readings.items())}
    kept = {x: estimates for x, estimates in points.items() if estimates}
    columns = [[[getattr(item, key) for item in row] for row in kept.values()] for key in ("value", "error")]
    return Curve.of(list(kept), Estimates(*mean_over_seeds(*columns, shared=True)))


def _exact_curves(task: Task, values: Sequence[float]) -> Arrays:
    """Curves on a fine grid between the lowest and highest temperature: "exact" ones of this lattice, by
    Kaufman or transfer matrices, else "infinite" ones of the infinite lattice.
    """
    model, temperatures = _model(task), np.linspace(min(values), max(values), FINE_POINTS)
    if model is None:
        return {}
    side = square_side(model)
    if side is not None and model.plain is not None:
        unit = abs(model.plain[1])
        return _named_curves("exact", temperatures, exact.kaufman(side, temperatures / unit), unit)
    if not is_plain(model) and exact.transfer_width(model) <= MOST_KEPT:
        few = np.linspace(min(values), max(values), FEW_POINTS)
        rows = [exact.transfer_matrix(model, float(T)) for T in few]
        columns = ([getattr(row, name) for row in rows] for name in THERMODYNAMIC)
        return _named_curves("exact", few, exact.Thermodynamics(*map(np.array, columns)))
    infinite = exact.bulk_thermodynamics(model, temperatures)
    return {} if infinite is None else _named_curves("infinite", temperatures, infinite)


def _named_curves(
    prefix: str, temperatures: NDArray[np.float64], truth: exact.Thermodynamics[Any], unit: float = 1.0
) -> Arrays:
    return {
        f"{prefix}.temperature": temperatures,
        f"{prefix}.energy_per_spin": unit * truth.energy,
        f"{prefix}.heat_capacity_per_spin": truth.heat_capacity,
        f"{prefix}.entropy_per_spin": truth.entropy,
    }
