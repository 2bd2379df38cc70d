"""Tasks that put the results of many temperatures together: curves, entropies, critical temperatures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import exact
from thermorbm.estimators import mean_over_seeds
from thermorbm.study.critical import (
    HEAT,
    OF_CONFIGURATIONS,
    OF_MACHINES,
    OF_UNIONS,
    ORDER,
    Finders,
    critical_points,
    exact_heat_peak,
)
from thermorbm.study.entropy import can_integrate, integrated
from thermorbm.study.extrapolation import extrapolation
from thermorbm.study.reduced import Reduced
from thermorbm.study.store import Product, Store
from thermorbm.study.tasks import Task

Values = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

FINE_POINTS = 400
OWN = ("energy_per_spin", "heat_capacity_per_spin")  # of what a symmetric machine generates


def estimate(task: Task, store: Store) -> Product:
    results = [store.reduced(item) for item in task.inputs]
    if task.parameters["what"] == "thermodynamics":
        return thermodynamics(task, results)
    if task.parameters["what"] == "extrapolation":
        return Product(extrapolation(task, results))
    return indicators(task, results)


def thermodynamics(task: Task, results: Sequence[Reduced]) -> Product:
    """Averages of the configurations as curves, what they say of T_c, and exact curves beside them."""
    measured, grid = (
        {r.task.labels["value"]: [r.values.get("thermal", {})] for r in results if r.task.kind == kind}
        for kind in ("measure", "energies")
    )
    values: Values = {"curves": curves(measured), "grid_curves": curves(grid), "entropy": None}
    arrays, everywhere = _exact_curves(task, list(measured)), curves({**grid, **measured})
    p = task.parameters
    if "entropy" in p["parts"] and grid and can_integrate(p["hamiltonian"], p["shape"], len(grid)):
        values["entropy"] = integrated(everywhere, list(measured), p["shape"], p["seed"] % 2**32)
        values["curves"]["entropy_per_spin"] = values["entropy"]["combined"]
    if "critical" in p["parts"]:
        values["critical"], smooth = _critical(task, values["curves"], OF_CONFIGURATIONS)
        values["targets"] = _targets(task, everywhere)
        arrays |= smooth
    return Product(values, arrays)


def indicators(task: Task, results: Sequence[Reduced]) -> Product:
    """What machines of one group and size say at every value, averaged over seeds, and of T_c."""
    found: dict[float, list[Values]] = {}
    for result in results:
        value = result.task.labels["value"]
        if value is not None:  # the weights of a machine for all temperatures belong to none of them
            found.setdefault(value, []).append(_indicators_of(result))
    values: Values = {"curves": curves(found)}
    finders = OF_UNIONS if task.parameters["union"] else OF_MACHINES
    values["critical"], arrays = _critical(task, values["curves"], finders)
    return Product(values, arrays)


def _critical(task: Task, found: Values, finders: Finders) -> tuple[list[Values], Arrays]:
    p = task.parameters
    return critical_points(found, finders, p["is_temperature"], p["seed"] % 2**32)


def _targets(task: Task, found: Values) -> Values:
    """Where heat capacity and susceptibility peak on this very lattice: exact if known, else from samples."""
    known = exact_heat_peak(task.parameters["shape"]) if task.parameters["hamiltonian"] == "ising" else None
    rows, _ = _critical(task, found, OF_CONFIGURATIONS)
    targets: Values = {}
    for name in (HEAT, ORDER):
        measured = next((row["estimate"] for row in rows if row["indicator"] == f"{name}_per_spin"), None)
        targets[name] = None if measured is None else {**measured, "source": "samples"}
    if known is not None:
        targets[HEAT] = {"value": known, "error": 0.0, "source": "kaufman"}
    return targets


def curves(found: Mapping[float, Sequence[Mapping[str, Any]]]) -> Values:
    """name -> {"x", "values", "errors"}, lists of one length; several estimates at one x are averaged."""
    names = dict.fromkeys(name for rows in found.values() for row in rows for name in row)
    return {name: _curve(found, name) for name in names}


def _curve(found: Mapping[float, Sequence[Mapping[str, Any]]], name: str) -> Values:
    points = {x: [row[name] for row in rows if name in row] for x, rows in sorted(found.items())}
    kept = {x: estimates for x, estimates in points.items() if estimates}
    columns = [[[item[key] for item in row] for row in kept.values()] for key in ("value", "error")]
    values, errors = mean_over_seeds(*columns)
    return {"x": list(kept), "values": values.tolist(), "errors": errors.tolist()}


def _indicators_of(result: Reduced) -> Values:
    """The estimates in a result that may tell a transition, by name."""
    values, found = result.values, Values()
    if result.task.kind == "weights":
        return {"filter_sum_abs_variance": values["filter_sum_abs_variance"], **_correlations(result)}
    if result.task.kind in ("partition", "bracket"):
        names = ("entropy_upper_per_spin", "nll_per_spin", "kl_per_spin")
        return {name: values["bracket"][name] for name in names if name in values.get("bracket", {})}
    if result.task.kind == "interactions":
        own = {f"own_{name}": values["own"][name] for name in OWN if name in values["own"]}
        pairs = {coupling_name(pair["r"]): pair for pair in values["pairs"]}
        return {"nearest_coupling": values["nearest_coupling"], **_unsure(pairs), **own}
    n_sites = values["n_sites"]
    if "visible_energy" in values:
        energies = values["visible_energy"]
        for name in ("mean", "variance"):
            found[f"visible_energy_{name}_per_spin"] = _per(n_sites, energies["train"][name])
        found["zero_bias_energy_variance_per_spin"] = _per(n_sites, energies["zero_bias"]["variance"])
    if "likelihood" in values:
        found |= values["likelihood"]["held_out"]
    if "hidden" in values:
        found["sign_rule"] = values["hidden"]["sign_rule"]
    return found


def coupling_name(r: Sequence[int]) -> str:
    """What the curve of J(r) is called: coupling_0_1 for neighbours on a square lattice."""
    return "coupling_" + "_".join(map(str, r))


def _unsure(pairs: Mapping[str, Mapping[str, float]]) -> Values:
    """Couplings of one machine, whose errors only other seeds can tell."""
    return {name: {"value": pair["coupling"], "error": math.nan} for name, pair in pairs.items()}


def _correlations(result: Reduced) -> Values:
    """Inverse-filter correlation at whole distances 1, 2, 4, ... up to half the lattice."""
    if "correlation.distances" not in result.arrays:
        return {}
    distances, values, errors = (
        result.arrays[f"correlation.{name}"] for name in ("distances", "values", "errors")
    )
    longest = min(result.task.parameters["shape"]) // 2
    found = {}
    for power in range(int(np.log2(longest)) + 1):
        place = int(np.argmin(np.abs(distances - 2**power)))
        found[f"correlation_r{2**power}"] = {"value": float(values[place]), "error": float(errors[place])}
    return found


def _per(n: int, estimate: Mapping[str, float]) -> Values:
    return {"value": estimate["value"] / n, "error": estimate["error"] / n}


def _exact_curves(task: Task, values: Sequence[float]) -> Arrays:
    """Kaufman's curves at the lattice's side on a fine grid between the lowest and highest temperature."""
    shape = task.parameters["shape"]
    if task.parameters["hamiltonian"] != "ising" or shape is None or len(shape) != 2 or len(set(shape)) > 1:
        return {}
    temperatures = np.linspace(min(values), max(values), FINE_POINTS)
    found = exact.kaufman(shape[0], temperatures)
    return {
        "exact.temperature": temperatures,
        "exact.energy_per_spin": found.energy,
        "exact.heat_capacity_per_spin": found.heat_capacity,
        "exact.entropy_per_spin": found.entropy,
    }
