"""T_c of the infinite lattice by each indicator, from families on lattices of several sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from thermorbm.errors import InputError
from thermorbm.estimators import extrapolate
from thermorbm.exact import TC_2D, TC_3D, critical_temperature
from thermorbm.records import as_plain
from thermorbm.runner.store import Reduced
from thermorbm.runner.task import Task
from thermorbm.study.named import hamiltonian_of

Values = dict[str, Any]
Machines = tuple[str | None, int]  # name of the group and rank of the size; (None, 0) for configurations
Found = dict[tuple[Machines, str], dict[int, Values]]  # by machines and indicator: what each side says

INFINITE = {2: TC_2D, 3: TC_3D}
CORRELATION = "correlation_r"


def extrapolation(task: Task, results: Sequence[Reduced]) -> Values:
    """Rows of indicators, each with its points by side and what they extrapolate to.

    The targets themselves are extrapolated too: how far they end from T_c is the method's own error.
    """
    sides, nu = task.parameters["sides"], task.parameters["nu"]
    infinite = _infinite(results[0].task.parameters)
    targets = _targets(results)
    by_indicator = {**_target_points(targets), **_points(results, targets)}
    rows = [
        _row(machines, name, points, sides, nu)
        for (machines, name), points in by_indicator.items()
        if len(points) == len(sides)  # the longest distances exist on large lattices alone
    ]
    return {
        "nu": nu,
        "sides": sides,
        "infinite": infinite,
        "rows": [{**row, "relative_to_infinite": _relative(row["estimate"], infinite)} for row in rows],
    }


def _infinite(parameters: Mapping[str, Any]) -> float | None:
    """T_c of the infinite lattice, None where it is not known."""
    model = hamiltonian_of(parameters) if "named" in parameters else None
    return INFINITE.get(len(parameters["shape"])) if model is None else critical_temperature(model)


def _row(
    machines: Machines, name: str, points: Mapping[int, Values], sides: Sequence[int], nu: float
) -> Values:
    first = next(iter(points.values()))
    row: Values = {
        "group": machines[0],
        "union": first.get("union"),
        "indicator": name,
        "feature": first["feature"],
        "kind": first["kind"],
        "points": {str(side): points[side] for side in sides},
    }
    try:
        return {**row, **_fitted(points, sides, nu), "problem": None}
    except InputError as error:
        return {**row, "estimate": None, "problem": str(error)}


def _fitted(points: Mapping[int, Values], sides: Sequence[int], nu: float) -> Values:
    usable = [points[side] for side in sides if points[side]["problem"] is None]
    if len(usable) < len(sides):
        raise InputError("peaks", len(usable), f"found on all {len(sides)} lattices")
    values, errors = ([point["estimate"][key] for point in usable] for key in ("value", "error"))
    fit = extrapolate(sides, values, errors, nu)
    return {
        "estimate": as_plain(fit.temperature),
        "slope": as_plain(fit.slope),
        "curvature": as_plain(fit.curvature),
        "chi_squared": fit.chi_squared,
        "n_degrees": fit.n_degrees,
    }


def _targets(results: Sequence[Reduced]) -> dict[int, Values]:
    """Where heat capacity and susceptibility peak, by side."""
    of_data = [result for result in results if result.task.parameters["what"] == "thermodynamics"]
    return {_side(result): result.values.get("targets", {}) for result in of_data}


def _target_points(targets: Mapping[int, Values]) -> Found:
    points: Found = {}
    for side, kinds in targets.items():
        for kind, target in kinds.items():
            if target is not None:
                row = {"feature": "target", "kind": kind, "problem": None, "estimate": target}
                points.setdefault(((None, 0), f"target_{kind}"), {})[side] = _point(row, None)
    return points


def _points(results: Sequence[Reduced], targets: Mapping[int, Values]) -> Found:
    points: Found = {}
    sizes = _sizes(results)
    for result in results:
        labels, side = result.task.labels, _side(result)
        group, n_hidden = labels.get("group"), labels.get("n_hidden")
        machines = (group, sizes[group, side].index(n_hidden))
        for row in result.values.get("critical", []):
            target = targets.get(side, {}).get(row["kind"])
            point = {**_point(row, target), "n_hidden": n_hidden, "union": labels.get("union")}
            points.setdefault((machines, _scaled_name(row["indicator"], side)), {})[side] = point
    return points


def _point(row: Values, target: Values | None) -> Values:
    estimate = row["estimate"] and {key: row["estimate"][key] for key in ("value", "error")}
    return {
        "estimate": estimate,
        "target": None if target is None else target["value"],
        "relative_to_target": _relative(estimate, None if target is None else target["value"]),
        **{key: row[key] for key in ("feature", "kind", "problem")},
        **{key: row.get(key) for key in ("resolved", "lower_95", "upper_95")},
    }


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


def _relative(estimate: Values | None, truth: float | None) -> float | None:
    return None if not estimate or not truth else float(estimate["value"] / truth - 1)
