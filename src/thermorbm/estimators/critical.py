"""Where a curve peaks or is steepest, with an uncertainty that holds for coarse grids and noisy points.

Many smooth curves are drawn through the points (see `smoothing`); each has its own maximum, and the spread of
these maxima is the uncertainty. Where fewer than two points lie in the upper half of the peak, its maximum
hangs on a formula that no point confirms: there the spread is widened by a share of the spacing, and hardly
elsewhere. Both shares were read off rounded logarithms and powers with unequal sides at random places;
`python -m benchmarks.coverage` tells on other curves how often the intervals hold (docs/curves.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import find_peaks

from thermorbm.estimators.smoothing import (
    ONE_SIGMA,
    TWO_SIGMA,
    CurveDraws,
    FittedCurve,
    Points,
    draw_curves,
    fitted_curve,
)
from thermorbm.shown import Displayed
from thermorbm.stats import Estimate

Array = NDArray[np.float64]

_EDGE_SHARE = 0.16  # of the maxima at an end of the grid, beyond which there is no peak to speak of
_HIDDEN = {True: 0.01, False: 0.07}  # of the spacing: standard error that is added, by whether it is resolved
_USELESS = 0.5  # of the grid's range: an interval (95 %) that is wider determines nothing
_SECOND_PEAK = 0.1  # of the curve's range, by which a second peak stands above the dip between both


@dataclass(frozen=True, eq=False, repr=False)
class CriticalPoint(Displayed):
    """Where a curve marks the critical temperature.

    temperature: the median of the maxima and half the width of their central 68 %, lower to upper.
    at_edge: the maximum is as likely at an end of the grid, so that the grid must be extended; temperature
    is then that of the end, or between. resolved: at least two points lie in the upper half of the peak.
    indicator: the curve whose maximum was sought. fit: the smooth curve through the points themselves.
    lower_95 to upper_95: the central 95 %. determined: whether there is a peak to speak of; note: what is
    to be said beside the numbers, such as a second peak.
    """

    temperature: Estimate
    lower: float
    upper: float
    at_edge: bool
    resolved: bool
    indicator: FittedCurve
    fit: FittedCurve
    lower_95: float = np.nan
    upper_95: float = np.nan
    determined: bool = True
    note: str = ""

    @property
    def value(self) -> float:
        """The critical temperature."""
        return self.temperature.value

    @property
    def error(self) -> float:
        """Its standard error."""
        return self.temperature.error

    def _facts(self) -> dict[str, Any]:
        return {"temperature": str(self), "at_edge": self.at_edge or None, "note": self.note or None}

    def __str__(self) -> str:
        """2.2817(10) where the peak is resolved, 2.125-2.375 (95 %) where it is not, or 'not determined'."""
        if not self.determined:
            return "not determined"
        if self.resolved:
            return str(self.temperature)
        return f"{self.lower_95:.4g}-{self.upper_95:.4g}"


def peak(temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, seed: int = 0) -> CriticalPoint:
    """Maximum of X(T), for an indicator such as a variance or a correlation."""
    points = Points(temperatures, values, errors)
    draws = draw_curves(points, False, seed)
    return _locate(points, draws, draws.indicator)


def steepest(temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, seed: int = 0) -> CriticalPoint:
    """Steepest slope of X(T) in the direction in which it goes from the first to the last temperature."""
    points = Points(temperatures, values, errors)
    sign = 1.0 if points.values[-1] >= points.values[0] else -1.0
    rising = Points(points.temperatures, sign * points.values, points.errors)
    draws = draw_curves(rising, True, seed)
    draws = replace(draws, values=sign * draws.values)
    return _locate(points, draws, draws.indicator)


def heat_peak(temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, seed: int = 0) -> CriticalPoint:
    """Maximum of T dX/dT, the heat capacity if X is an entropy."""
    points = Points(temperatures, values, errors)
    draws = draw_curves(points, True, seed)
    return _locate(points, draws, draws.temperatures * draws.indicator)


def _locate(points: Points, draws: CurveDraws, indicator: Array) -> CriticalPoint:
    tops = maxima(draws.temperatures, indicator)
    ends = (tops == draws.temperatures[0]) | (tops == draws.temperatures[-1])
    resolved = _points_in_upper_half(points, draws, indicator) >= 2
    hidden = _HIDDEN[resolved] * _spacing_at(points.temperatures, float(np.median(tops)))
    low, middle, high = _widened(np.quantile(tops, ONE_SIGMA), hidden)
    lowest, _, highest = _widened(np.quantile(tops, TWO_SIGMA), 1.96 * hidden)
    at_edge = bool(ends.mean() > _EDGE_SHARE)
    useless = highest - lowest > _USELESS * float(np.ptp(points.temperatures))
    curve = fitted_curve(draws.temperatures, indicator)
    return CriticalPoint(
        Estimate(middle, (high - low) / 2),
        low,
        high,
        at_edge,
        resolved,
        curve,
        fitted_curve(draws.temperatures, draws.values),
        lowest,
        highest,
        determined=not (at_edge or useless),
        note=describe(at_edge, useless, other_peaks(curve)),
    )


def _widened(quantiles: Array, hidden: float) -> tuple[float, float, float]:
    low, middle, high = (float(x) for x in quantiles)
    below, above = float(np.hypot(middle - low, hidden)), float(np.hypot(high - middle, hidden))
    return middle - below, middle, middle + above


def _spacing_at(temperatures: Array, here: float) -> float:
    place = int(np.clip(np.searchsorted(temperatures, here), 1, len(temperatures) - 1))
    return float(temperatures[place] - temperatures[place - 1])


def describe(at_edge: bool, useless: bool, others: Array) -> str:
    """What is to be said beside a critical temperature, or nothing."""
    if at_edge:
        return "the largest value lies at an end of the temperatures"
    if useless:
        return "the maximum may lie almost anywhere within the temperatures"
    return f"not the only peak: another at {', '.join(f'{t:.4g}' for t in others)}" if len(others) else ""


def other_peaks(curve: FittedCurve) -> Array:
    """Temperatures of peaks beside the largest that are no noise: they rise from the dip between both by a
    tenth of the curve's range, and by more than two errors.
    """
    least = _SECOND_PEAK * float(np.ptp(curve.values))
    places, found = find_peaks(curve.values, prominence=least)
    clear = found["prominences"] > 2 * curve.errors[places]
    largest = curve.values[places] == curve.values.max()
    return np.asarray(curve.temperatures[places[clear & ~largest]])


def _points_in_upper_half(points: Points, draws: CurveDraws, indicator: Array) -> int:
    """How many points lie where the median indicator stays above half its height, median to maximum."""
    curve = np.median(indicator, axis=0)
    top = int(np.argmax(curve))
    below = np.flatnonzero(curve <= (curve[top] + np.median(curve)) / 2)
    left = below[below < top].max(initial=-1)
    right = below[below > top].min(initial=len(curve))
    within = np.isin(draws.temperatures[left + 1 : right], points.temperatures)
    return int(within.sum())


def maxima(temperatures: Array, curves: Array) -> Array:
    """Temperature of each curve's maximum, by a parabola through three points. curves: (n, m) -> (n,)."""
    top = np.argmax(curves, axis=1)
    inner = np.clip(top, 1, len(temperatures) - 2)
    rows = np.arange(len(curves))
    x0, x1, x2 = (temperatures[inner + k] for k in (-1, 0, 1))
    y0, y1, y2 = (curves[rows, inner + k] for k in (-1, 0, 1))
    rise, fall = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
    bend = np.minimum((fall - rise) / (x2 - x0), -1e-290)  # flat tops: the clip below holds them
    vertex = np.clip((x0 + x1) / 2 - rise / (2 * bend), x0, x2)
    return np.asarray(np.where(top == inner, vertex, temperatures[top]))
