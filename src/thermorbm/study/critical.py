"""Critical temperatures from curves: which feature of which curve tells one, and its target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import exact
from thermorbm.errors import InputError
from thermorbm.estimators import CriticalPoint, exact_peak, heat_peak, peak, steepest
from thermorbm.study.thermal import as_dict

Values = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
Finder = Callable[..., CriticalPoint]
Finders = Mapping[str, tuple[Finder, str]]

# On a finite lattice the two kinds of features lie apart: each is set against its own kind.
HEAT, ORDER = "heat_capacity", "susceptibility"
# Feature of a curve by the curve's name: how it is found, and its kind. Names of correlations go on with r.
OF_CONFIGURATIONS: Finders = {
    "heat_capacity_per_spin": (peak, HEAT),
    "susceptibility_per_spin": (peak, ORDER),
    "entropy_per_spin": (heat_peak, HEAT),
    "pseudo_entropy_per_spin": (heat_peak, HEAT),
}
OF_MACHINES: Finders = {
    "filter_sum_abs_variance": (peak, ORDER),
    "correlation_r": (peak, ORDER),
    "visible_energy_variance_per_spin": (peak, HEAT),
    "zero_bias_energy_variance_per_spin": (peak, HEAT),
    "pseudo_likelihood_per_spin": (heat_peak, HEAT),
    "own_heat_capacity_per_spin": (peak, HEAT),
    "entropy_upper_per_spin": (heat_peak, HEAT),
    "nll_per_spin": (heat_peak, HEAT),
}
# One machine for all temperatures has one set of filters, but visible energies that can be compared.
OF_UNIONS: Finders = {**OF_MACHINES, "visible_energy_mean_per_spin": (steepest, HEAT)}


def critical_points(
    curves: Mapping[str, Values], finders: Finders, is_temperature: bool, seed: int
) -> tuple[list[Values], Arrays]:
    """What every curve says of T_c, or why it says nothing, and the smooth curves through the points."""
    found: list[Values] = []
    arrays: Arrays = {}
    for name, curve in curves.items():
        finder, kind = finders.get(name.rstrip("0123456789"), (None, ""))
        if finder is None:
            continue
        if finder is heat_peak and not is_temperature:
            finder = steepest  # T dX/dT means something for a temperature alone
        row: Values = {"indicator": name, "feature": finder.__name__, "kind": kind}
        try:
            x, values, errors = _usable(curve)
            point = finder(x, values, errors, seed=seed)
        except InputError as error:
            found.append({**row, "estimate": None, "problem": str(error)})
            continue
        found.append({**row, **_described(point)})
        arrays |= _smooth_curves(name, point)
    return found, arrays


def _usable(curve: Values) -> NDArray[np.float64]:
    """x, values and errors, (3, n), where all are finite."""
    columns = np.array([curve["x"], curve["values"], curve["errors"]], dtype=np.float64)
    return columns[:, np.isfinite(columns).all(axis=0)]


def _described(point: CriticalPoint) -> Values:
    return {
        "estimate": as_dict(point.temperature),
        "lower": point.lower,
        "upper": point.upper,
        "at_edge": point.at_edge,
        "resolved": point.resolved,
        "problem": "the largest value lies at an end of the grid" if point.at_edge else None,
    }


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


def exact_heat_peak(shape: Sequence[int] | None) -> float | None:
    """Temperature of the maximum of Kaufman's heat capacity on a square torus; None for other lattices."""
    if shape is None or len(shape) != 2 or len(set(shape)) > 1:
        return None
    low, high = 0.8 * exact.TC_2D, 2 * exact.TC_2D
    found = exact_peak(lambda t: exact.kaufman(shape[0], t).heat_capacity, low, high, exact.TC_2D)
    return found.temperature.value
