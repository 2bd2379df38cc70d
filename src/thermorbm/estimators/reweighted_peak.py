"""Where a reweighted curve peaks or falls fastest, with the spread over resampled data as its error.

Between overlapping temperatures a reweighted curve is known everywhere: nothing is interpolated. Where the
largest value lies next to temperatures that do not overlap, the maximum may hide between them: then the
smooth curve through the averages at the sampled temperatures is asked (see `critical`), if there are enough.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import unknown_name
from thermorbm.estimators.critical import CriticalPoint, describe, maxima, other_peaks, peak, steepest
from thermorbm.estimators.reweighting import Reweighting, ThermalCurves
from thermorbm.estimators.smoothing import ONE_SIGMA, TWO_SIGMA, FittedCurve
from thermorbm.stats import Estimate, Estimates

Array = NDArray[np.float64]

# What marks T_c in a curve. Energy and entropy have the heat capacity's peak in de/dT and T dS/dT.
_PEAKS = {"heat_capacity": "heat_capacity", "energy": "heat_capacity", "entropy": "heat_capacity"}
_PEAKS["susceptibility"] = "susceptibility"
_FALLS = {"abs_magnetization": "abs_magnetization", "binder": "binder"}
_MARKS = ("peak", "steepest", "heat_peak")  # as the functions of `critical`
_SCAN, _ZOOM = 401, 201
_EDGE_SHARE = 0.16  # of the maxima at an end, beyond which there is no peak to speak of


def reweighted_peak(reweighting: Reweighting, quantity: str) -> CriticalPoint:
    """The maximum of heat_capacity or susceptibility, or the steepest fall of abs_magnetization or binder.

    energy and entropy mean the heat capacity, which is their slope.
    """
    if quantity not in {**_PEAKS, **_FALLS}:
        raise unknown_name("quantity", quantity, [*_PEAKS, *_FALLS])
    name = {**_PEAKS, **_FALLS}[quantity]
    falls = quantity in _FALLS

    def indicator(curves: ThermalCurves) -> Array:
        return -_slopes(curves, name) if falls else _values(curves, name)

    point = _maximum(reweighting, indicator, name)
    return _smooth_estimate(reweighting, name, falls) if point is None else point


def observable_peak(reweighting: Reweighting, mark: str) -> CriticalPoint | None:
    """What a number X of configurations says of T_c, X standing in the place of m in the measurements.

    X must not be negative. mark: "peak" for the maximum of Var X, "steepest" for the steepest <X> in the
    direction in which it goes, "heat_peak" for the maximum of T d<X>/dT. None where the maximum lies next to
    temperatures that do not overlap.
    """

    def indicator(curves: ThermalCurves) -> Array:
        if mark == "peak":
            return _values(curves, "susceptibility") * curves.temperatures
        slopes = _slopes(curves, "abs_magnetization")
        if mark == "heat_peak":
            return slopes * curves.temperatures
        rise = float(np.nansum(slopes[0] * np.gradient(curves.temperatures)))
        return slopes if rise >= 0 else -slopes

    if mark not in _MARKS:
        raise unknown_name("mark", mark, _MARKS)
    return _maximum(reweighting, indicator, "susceptibility" if mark == "peak" else "abs_magnetization")


def _maximum(
    reweighting: Reweighting, indicator: Callable[[ThermalCurves], Array], name: str
) -> CriticalPoint | None:
    """The maximum of an indicator (n_draws + 1, m), the data's own first; None where it is next to a gap.

    name: of the curve from which the indicator is computed.
    """
    grid = np.linspace(reweighting.temperatures[0], reweighting.temperatures[-1], _SCAN)
    scan = np.union1d(grid[~_in_gaps(reweighting, grid)], reweighting.temperatures)
    curves = reweighting.curves(scan)
    rows = indicator(curves)
    where = _tops(scan, rows)
    if _touches_a_gap(reweighting, where):
        return None
    step = (scan[-1] - scan[0]) / (_SCAN - 1)
    low, high = max(where.min() - 3 * step, scan[0]), min(where.max() + 3 * step, scan[-1])
    zoom = np.linspace(low, high, _ZOOM)
    zoom = zoom[~_in_gaps(reweighting, zoom)]
    return _point(zoom, indicator(reweighting.curves(zoom)), scan, rows, curves, name)


def _values(curves: ThermalCurves, name: str) -> Array:
    return np.vstack([getattr(curves, name).values, curves.draws[name]])


def _slopes(curves: ThermalCurves, name: str) -> Array:
    return np.asarray(np.gradient(_values(curves, name), curves.temperatures, axis=1))


def _in_gaps(reweighting: Reweighting, temperatures: Array) -> NDArray[np.bool_]:
    inside = np.zeros(len(temperatures), dtype=bool)
    for low, high in reweighting.gaps:
        inside |= (temperatures > low) & (temperatures < high)
    return inside


def _tops(temperatures: Array, rows: Array) -> Array:
    return np.asarray(temperatures[np.argmax(rows, axis=1)])


def _touches_a_gap(reweighting: Reweighting, where: Array) -> bool:
    ends = np.array(reweighting.gaps).ravel()
    return bool(np.isin(where, ends).mean() > _EDGE_SHARE)


def _point(
    zoom: Array, fine: Array, scan: Array, rows: Array, curves: ThermalCurves, name: str
) -> CriticalPoint:
    found = maxima(zoom, fine)
    draws = found[1:]
    at_ends = (draws <= scan[0]) | (draws >= scan[-1])
    at_edge = bool(at_ends.mean() > _EDGE_SHARE)
    low, _, high = (float(x) for x in np.quantile(draws, ONE_SIGMA))
    lowest, _, highest = (float(x) for x in np.quantile(draws, TWO_SIGMA))
    estimates: Estimates = getattr(curves, name)
    curve = FittedCurve(scan, rows[0], rows[1:].std(axis=0))
    return CriticalPoint(
        Estimate(float(found[0]), float(draws.std(ddof=1))),
        low,
        high,
        at_edge,
        True,
        curve,
        FittedCurve(scan, estimates.values, estimates.errors),
        lowest,
        highest,
        determined=not at_edge,
        note=describe(at_edge, False, other_peaks(curve)),
    )


def _smooth_estimate(reweighting: Reweighting, name: str, falls: bool) -> CriticalPoint:
    """From the averages at the sampled temperatures alone."""
    curves = reweighting.curves(reweighting.temperatures)
    estimates: Estimates = getattr(curves, name)
    finder = steepest if falls else peak
    return finder(curves.temperatures, estimates.values, estimates.errors)
