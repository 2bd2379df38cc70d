"""Critical temperatures from curves: the registry of quantities says what is sought in which curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import estimators, exact
from thermorbm.errors import InputError
from thermorbm.estimators import CriticalPoint
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.study.quantities import HEAT_PEAK, STEEPEST, find_quantity
from thermorbm.study.results import Curve, Indication

Arrays = dict[str, NDArray[Any]]

NOTHING: Mapping[str, CriticalPoint] = {}


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
    return Indication(
        indicator=name,
        feature=mark,
        kind=kind,
        estimate=point.temperature if point.determined else None,
        problem=None if point.determined else point.note,
        lower=point.lower,
        upper=point.upper,
        at_edge=point.at_edge,
        resolved=point.resolved,
        lower_95=point.lower_95,
        upper_95=point.upper_95,
        note=point.note or None,
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
    low, high = 0.8 * exact.TC_2D, 2 * exact.TC_2D
    point = estimators.exact_peak(lambda t: exact.kaufman(side, t).heat_capacity, low, high, exact.TC_2D)
    return abs(model.plain[1]) * point.temperature.value
