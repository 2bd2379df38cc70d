"""What families on lattices of several sides say together.

Finite-size scaling of their configurations, and T_c of the infinite lattice by each indicator of machines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.estimators import InfiniteLattice, Reweighting, ScalingFit, extrapolate, scaling_fit
from thermorbm.exact import TC_2D, TC_3D
from thermorbm.records import as_plain, from_plain
from thermorbm.runner.store import Product, Reduced
from thermorbm.runner.task import Task
from thermorbm.stats import Estimate
from thermorbm.study.named import NamedHamiltonian, infinite_critical_temperature
from thermorbm.study.result_curves import KnownExponents
from thermorbm.study.results import Extrapolation, ExtrapolationPoint, ExtrapolationRow, Indication, Target
from thermorbm.study.reweighted import measurements_of

Arrays = dict[str, NDArray[Any]]
N_DRAWS = 100
FINE_POINTS = 101
# Of the Ising model. 2d: exact, and Kamieniarz & Blöte 1993 for U4. 3d: K_c of Ferrenberg, Xu & Landau 2018,
# the conformal bootstrap (Kos et al. 2016) for the exponents, Blöte, Luijten & Heringa 1995 for U4.
KNOWN = {
    2: KnownExponents(TC_2D, 1.0, 0.61069, 0.125, 1.75),
    3: KnownExponents(TC_3D, 0.629971, 0.46548, 0.518149, 1.963702),
}
Machines = tuple[str | None, int]  # name of the variant and rank of the size; (None, 0) for configurations
Points = dict[tuple[Machines, str], dict[int, ExtrapolationPoint]]  # by machines and indicator, then by side
Targets = dict[int, Mapping[str, Target | None]]  # by side and kind
CORRELATION = "correlation_r"


def scaling(task: Task, results: Sequence[Reduced]) -> Product:
    """T_c and exponents with the Binder crossings, and the curves of every lattice."""
    p = task.parameters
    lattices = {
        int(shape[0]): _reweighting([r for r in results if r.task.labels["family"] == name], shape, seed)
        for seed, (name, shape) in enumerate(p["families"].items(), p["seed"] % 2**32)
    }
    dimension = len(next(iter(p["families"].values())))
    values = {
        "families": list(p["families"]),
        "sides": sorted(lattices),
        "omega": p["omega"],
        "known": as_plain(KNOWN.get(dimension)),
    }
    try:
        values |= _exponents(scaling_fit(lattices, p["omega"]))
    except InputError as error:
        values["problem"] = str(error)
    return Product(values, _curves(lattices))


def _reweighting(results: Sequence[Reduced], shape: Sequence[int], seed: int) -> Reweighting:
    """Seeds differ between lattices, so that their resamplings have nothing in common."""
    n_sites = int(np.prod(shape))
    return Reweighting(measurements_of(results, n_sites), n_sites, n_draws=N_DRAWS, seed=seed)


def _exponents(fit: ScalingFit) -> dict[str, Any]:
    """As `results.json` holds them: the exponents, and beside them the crossings."""
    plain = as_plain(fit)
    return {"crossings": plain.pop("crossings"), "fit": plain}


def _curves(lattices: Mapping[int, Reweighting]) -> Arrays:
    """Of every side: temperatures, U4, <|m|> and N <m^2>, and their errors, (m,) each."""
    arrays: Arrays = {}
    for side, reweighting in lattices.items():
        ends = reweighting.temperatures[0], reweighting.temperatures[-1]
        curves = reweighting.curves(np.linspace(*ends, FINE_POINTS))
        n, t = reweighting.n_sites, curves.temperatures
        squares = n * curves.draws["abs_magnetization"] ** 2 + t * curves.draws["susceptibility"]
        square = n * curves.abs_magnetization.values**2 + t * curves.susceptibility.values
        columns = {
            "temperature": t,
            "binder": curves.binder.values,
            "binder.errors": curves.binder.errors,
            "order": curves.abs_magnetization.values,
            "order.errors": curves.abs_magnetization.errors,
            "square": square,
            "square.errors": squares.std(axis=0),
        }
        arrays |= {f"L{side}.{name}": column for name, column in columns.items()}
    return arrays


def extrapolation(task: Task, results: Sequence[Reduced]) -> Extrapolation:
    """Rows of indicators, each with its points by side and what they extrapolate to.

    The targets themselves are extrapolated too: how far they end from T_c is the method's own error.
    """
    sides, nu = tuple(task.parameters["sides"]), task.parameters["nu"]
    parameters = results[0].task.parameters
    named = NamedHamiltonian.from_parameters(parameters["named"]) if "named" in parameters else None
    infinite = infinite_critical_temperature(named, parameters["shape"])
    targets = _targets(results)
    by_indicator = {**_target_points(targets), **_points(results, targets)}
    rows = [
        _row(machines, name, points, sides, nu)
        for (machines, name), points in by_indicator.items()
        if len(points) == len(sides)  # the longest distances exist on large lattices alone
    ]
    rows = [replace(row, relative_to_infinite=_relative(row.estimate, infinite)) for row in rows]
    return Extrapolation(task.labels["extrapolation"], nu, sides, tuple(rows), infinite)


def _row(
    machines: Machines, name: str, points: Mapping[int, ExtrapolationPoint], sides: Sequence[int], nu: float
) -> ExtrapolationRow:
    first = next(iter(points.values()))
    row = ExtrapolationRow(
        name,
        first.feature,
        first.kind,
        {str(side): points[side] for side in sides},
        estimate=None,
        variant=machines[0],
        union=first.union,
    )
    try:
        fit = _fitted([points[side] for side in sides], sides, nu)
    except InputError as error:
        return replace(row, problem=str(error))
    others = {name: getattr(fit, name) for name in ("slope", "curvature", "chi_squared", "n_degrees")}
    return replace(row, estimate=fit.temperature, **others)


def _fitted(points: Sequence[ExtrapolationPoint], sides: Sequence[int], nu: float) -> InfiniteLattice:
    peaks = [point.estimate for point in points if point.problem is None and point.estimate is not None]
    if len(peaks) < len(sides):
        raise InputError("peaks", len(peaks), f"found on all {len(sides)} lattices")
    return extrapolate(sides, [peak.value for peak in peaks], [peak.error for peak in peaks], nu)


def _targets(results: Sequence[Reduced]) -> Targets:
    """Where heat capacity and susceptibility peak, by side."""
    of_data = [result for result in results if result.task.parameters["what"] == "thermodynamics"]
    return {
        _side(result): from_plain(Mapping[str, Target | None], result.values.get("targets", {}), "targets")  # type: ignore[type-abstract]
        for result in of_data
    }


def _target_points(targets: Targets) -> Points:
    points: Points = {}
    for side, kinds in targets.items():
        for kind, target in kinds.items():
            if target is not None:
                place = ((None, 0), f"target_{kind}")
                estimate = Estimate(target.value, target.error)
                points.setdefault(place, {})[side] = ExtrapolationPoint("target", kind, estimate)
    return points


def _points(results: Sequence[Reduced], targets: Targets) -> Points:
    points: Points = {}
    sizes = _sizes(results)
    for result in results:
        labels, side = result.task.labels, _side(result)
        variant, n_hidden = labels.get("group"), labels.get("n_hidden")
        machines = (variant, sizes[variant, side].index(n_hidden))
        for plain in result.values.get("critical", []):
            row = from_plain(Indication, plain, "critical")
            point = _point(row, targets.get(side, {}).get(row.kind))
            point = replace(point, n_hidden=n_hidden, union=labels.get("union"))
            points.setdefault((machines, _scaled_name(row.indicator, side)), {})[side] = point
    return points


def _point(row: Indication, target: Target | None) -> ExtrapolationPoint:
    truth = None if target is None else target.value
    return ExtrapolationPoint(
        row.feature,
        row.kind,
        row.estimate,
        row.problem,
        truth,
        _relative(row.estimate, truth),
        resolved=row.resolved,
        lower_95=row.lower_95,
        upper_95=row.upper_95,
    )


def _sizes(results: Sequence[Reduced]) -> dict[tuple[str | None, int], list[int | None]]:
    """Numbers of hidden units of each variant on each side, in the order of the study."""
    sizes: dict[tuple[str | None, int], list[int | None]] = {}
    for result in results:
        labels = result.task.labels
        sizes.setdefault((labels.get("group"), _side(result)), []).append(labels.get("n_hidden"))
    return sizes


def _scaled_name(indicator: str, side: int) -> str:
    """Distances are compared as parts of the side: the correlation at r = 4 on 64 is that at r = 1 on 16."""
    if not indicator.startswith(CORRELATION):
        return indicator
    part = side // int(indicator.removeprefix(CORRELATION))
    return f"correlation_L/{part}"


def _side(result: Reduced) -> int:
    return int(result.task.parameters["shape"][0])


def _relative(estimate: Estimate | None, truth: float | None) -> float | None:
    return None if estimate is None or not truth else estimate.value / truth - 1
