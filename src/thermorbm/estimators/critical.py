"""Where a curve peaks or is steepest, with an uncertainty that holds for coarse grids and noisy points.

Many smooth curves are drawn through the points (see `smoothing`); each has its own maximum, and the spread of
these maxima says how uncertain it is. The curves' formula is not exact, and the fewer points lie on a peak
the more hangs on it. So intervals are calibrated: a share of the spacing is added to the spread in
quadrature, and the sum is multiplied by a factor (`WIDENING`), as rounded logarithms and powers with unequal
sides ask for (`python -m benchmarks.calibration`). How often intervals hold on other curves is told by
`python -m benchmarks.coverage` (docs/curves.md).
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
# By whether the peak is one of a slope and by the points in its upper half (0 or 1, 2, 3 and more): the share
# of the spacing that is added to the spread in quadrature, and what the sum is multiplied by for 68 % and for
# 95 %. `python -m benchmarks.calibration` prints it, and docs/curves.md has it.
WIDENING = {
    (False, 1): (0.09, 1.32, 1.52),
    (False, 2): (0.06, 0.86, 1.00),
    (False, 3): (0.03, 0.83, 0.80),
    (True, 1): (0.08, 0.65, 0.70),
    (True, 2): (0.03, 0.70, 0.83),
    (True, 3): (0.01, 0.78, 0.75),
}
# Intervals are calibrated on curves of 11 to 15 points. Of more points those around the peak count: wings far
# away, which the formula does not describe, would move the peak while its interval becomes narrow.
_MOST_POINTS, _KEPT_POINTS = 15, 13
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


@dataclass(frozen=True)
class Spread:
    """Where random curves have their maxima, before it is calibrated.

    ends: (2, 2) of the central 68 % and of the central 95 %, about the median. spacing: of the points there.
    kind: whether the peak is one of a slope, and the points in its upper half as `WIDENING` counts them.
    ends_share: the share of maxima at an end of the temperatures.
    """

    median: float
    ends: Array
    spacing: float
    kind: tuple[bool, int]
    ends_share: float

    def interval(self, level: int, share: float, factor: float) -> tuple[float, float]:
        """The central 68 % (level 0) or 95 % (1), with that share of the spacing added, times that factor."""
        hidden = (1.0, 1.96)[level] * share * self.spacing
        below, above = factor * np.hypot(np.abs(self.ends[level] - self.median), hidden)
        return self.median - float(below), self.median + float(above)


def peak(temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, seed: int = 0) -> CriticalPoint:
    """Maximum of X(T), for an indicator such as a variance or a correlation."""
    return _locate("peak", Points(temperatures, values, errors), seed)


def steepest(temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, seed: int = 0) -> CriticalPoint:
    """Steepest slope of X(T) in the direction in which it goes from the first to the last temperature."""
    return _locate("steepest", Points(temperatures, values, errors), seed)


def heat_peak(temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, seed: int = 0) -> CriticalPoint:
    """Maximum of T dX/dT, the heat capacity if X is an entropy."""
    return _locate("heat_peak", Points(temperatures, values, errors), seed)


def indicator_draws(mark: str, points: Points, seed: int) -> CurveDraws:
    """Random curves through the points; their indicator is what the function of that name is to maximise."""
    if mark == "peak":
        return draw_curves(points, False, seed)
    sign = -1.0 if mark == "steepest" and _falls(points) else 1.0
    draws = draw_curves(Points(points.temperatures, sign * points.values, points.errors), True, seed)
    weights = draws.temperatures if mark == "heat_peak" else 1.0
    return replace(draws, values=sign * draws.values, indicator=weights * draws.indicator)


def _locate(mark: str, points: Points, seed: int) -> CriticalPoint:
    draws = indicator_draws(mark, points, seed)
    where = _spread_near_peak(mark, points, draws, seed)
    share, *factors = WIDENING[where.kind]
    (low, high), (lowest, highest) = (
        where.interval(level, share, factor) for level, factor in enumerate(factors)
    )
    at_edge = where.ends_share > _EDGE_SHARE
    useless = highest - lowest > _USELESS * float(np.ptp(points.temperatures))
    curve = fitted_curve(draws.temperatures, draws.indicator)
    return CriticalPoint(
        Estimate(where.median, (high - low) / 2),
        low,
        high,
        at_edge,
        where.kind[1] >= 2,
        curve,
        fitted_curve(draws.temperatures, draws.values),
        lowest,
        highest,
        determined=not (at_edge or useless),
        note=describe(at_edge, useless, other_peaks(curve)),
    )


def _falls(points: Points) -> bool:
    return bool(points.values[-1] < points.values[0])


def _spread_near_peak(mark: str, points: Points, draws: CurveDraws, seed: int) -> Spread:
    """Of curves through the points around the maximum, if there are more than the calibration knows."""
    where, n = spread(points, draws), len(points.temperatures)
    if n <= _MOST_POINTS:
        return where
    nearest = int(np.argmin(np.abs(points.temperatures - where.median)))
    first = int(np.clip(nearest - _KEPT_POINTS // 2, 0, n - _KEPT_POINTS))
    kept = slice(first, first + _KEPT_POINTS)
    near = Points(points.temperatures[kept], points.values[kept], points.errors[kept])
    if mark == "steepest" and _falls(near) != _falls(points):
        return where
    return replace(spread(near, indicator_draws(mark, near, seed)), ends_share=where.ends_share)


def spread(points: Points, draws: CurveDraws) -> Spread:
    """Of the maxima of random curves."""
    tops = maxima(draws.temperatures, draws.indicator)
    low, middle, high = np.quantile(tops, ONE_SIGMA)
    lowest, _, highest = np.quantile(tops, TWO_SIGMA)
    at_ends = (tops == draws.temperatures[0]) | (tops == draws.temperatures[-1])
    n_points = min(max(_points_in_upper_half(points, draws), 1), 3)
    return Spread(
        float(middle),
        np.array([[low, high], [lowest, highest]]),
        _spacing_at(points.temperatures, float(middle)),
        (draws.of_slope, n_points),
        float(at_ends.mean()),
    )


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


def _points_in_upper_half(points: Points, draws: CurveDraws) -> int:
    """How many points lie where the median indicator stays above half its height, median to maximum."""
    curve = np.median(draws.indicator, axis=0)
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
