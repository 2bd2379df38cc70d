"""T_c of the infinite lattice by each indicator, from families on lattices of several sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from thermorbm.errors import InputError
from thermorbm.estimators import InfiniteLattice, extrapolate
from thermorbm.exact import TC_2D, TC_3D, critical_temperature
from thermorbm.records import from_plain
from thermorbm.runner.store import Reduced
from thermorbm.runner.task import Task
from thermorbm.stats import Estimate
from thermorbm.study.named import hamiltonian_of
from thermorbm.study.results import Extrapolation, ExtrapolationPoint, ExtrapolationRow, Indication, Target

Machines = tuple[str | None, int]  # name of the variant and rank of the size; (None, 0) for configurations
Points = dict[tuple[Machines, str], dict[int, ExtrapolationPoint]]  # by machines and indicator, then by side
Targets = dict[int, Mapping[str, Target | None]]  # by side and kind

INFINITE = {2: TC_2D, 3: TC_3D}
CORRELATION = "correlation_r"


def extrapolation(task: Task, results: Sequence[Reduced]) -> Extrapolation:
    """Rows of indicators, each with its points by side and what they extrapolate to.

    The targets themselves are extrapolated too: how far they end from T_c is the method's own error.
    """
    sides, nu = tuple(task.parameters["sides"]), task.parameters["nu"]
    infinite = _infinite(results[0].task.parameters)
    targets = _targets(results)
    by_indicator = {**_target_points(targets), **_points(results, targets)}
    rows = [
        _row(machines, name, points, sides, nu)
        for (machines, name), points in by_indicator.items()
        if len(points) == len(sides)  # the longest distances exist on large lattices alone
    ]
    rows = [replace(row, relative_to_infinite=_relative(row.estimate, infinite)) for row in rows]
    return Extrapolation(task.labels["extrapolation"], nu, sides, tuple(rows), infinite)


def _infinite(parameters: Mapping[str, Any]) -> float | None:
    """T_c of the infinite lattice, None where it is not known."""
    model = hamiltonian_of(parameters) if "named" in parameters else None
    return INFINITE.get(len(parameters["shape"])) if model is None else critical_temperature(model)


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
    return replace(
        row,
        estimate=fit.temperature,
        slope=fit.slope,
        curvature=fit.curvature,
        chi_squared=fit.chi_squared,
        n_degrees=fit.n_degrees,
    )


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
