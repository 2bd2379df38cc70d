"""Where a curve peaks or is steepest, with an uncertainty that holds for coarse grids and noisy points.

Many smooth curves are drawn through the points (see `smoothing`); each has its own maximum, and the spread of
these maxima is the uncertainty. Curves with a white fourth derivative are used where the peak is resolved,
and rougher ones, with a white third derivative, where at most one point lies in its upper half: then little
is known about the shape between the points, and the interval grows to say so. Where no smooth curve follows
the largest point, which stands alone far above its neighbours, the peak is nearer to it than to them: no
more is said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.estimators.smoothing import (
    ONE_SIGMA,
    TWO_SIGMA,
    CurveDraws,
    FittedCurve,
    Points,
    draw_curves,
    fitted_curve,
)
from thermorbm.stats import Estimate

Array = NDArray[np.float64]

_EDGE_SHARE = 0.16  # of the maxima at an end of the grid, beyond which there is no peak to speak of
_SMOOTH, _ROUGH = 4, 3
_LONE = 3.0  # times the noise by which a lone point is above its neighbours


@dataclass(frozen=True, eq=False)
class CriticalPoint:
    """temperature: the median of the maxima and half the width of their central 68 %, lower to upper.

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
        return self.temperature.value

    @property
    def error(self) -> float:
        return self.temperature.error

    def __str__(self) -> str:
        """2.2817(10) where the peak is resolved, 2.125-2.375 (95 %) where it is not, or 'not determined'."""
        if not self.determined:
            return "not determined"
        if self.resolved:
            return str(self.temperature)
        return f"{self.lower_95:.4g}-{self.upper_95:.4g}"


def peak(
    temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, n_draws: int = 400, seed: int = 0
) -> CriticalPoint:
    """Maximum of X(T), for an indicator such as a variance or a correlation."""
    points = Points(temperatures, values, errors)
    found = _locate(points, lambda draws: draws.values, n_draws, seed)
    return _around_lone_point(points, found) if _top_stands_alone(points, found) else found


def steepest(
    temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, n_draws: int = 400, seed: int = 0
) -> CriticalPoint:
    """Steepest slope of X(T) in the direction in which it goes from the first to the last temperature."""
    points = Points(temperatures, values, errors)
    sign = 1.0 if points.values[-1] >= points.values[0] else -1.0
    return _locate(points, lambda draws: sign * draws.slopes, n_draws, seed)


def heat_peak(
    temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, n_draws: int = 400, seed: int = 0
) -> CriticalPoint:
    """Maximum of T dX/dT, the heat capacity if X is an entropy."""
    points = Points(temperatures, values, errors)
    return _locate(points, lambda draws: draws.temperatures * draws.slopes, n_draws, seed)


def _locate(
    points: Points, indicator_of: Callable[[CurveDraws], Array], n_draws: int, seed: int
) -> CriticalPoint:
    draws = draw_curves(points, _SMOOTH, n_draws, seed)
    resolved = _points_in_upper_half(points, draws, indicator_of(draws)) >= 2
    if not resolved:
        draws = draw_curves(points, _ROUGH, n_draws, seed)
    indicator = indicator_of(draws)
    tops = maxima(draws.temperatures, indicator)
    low, middle, high = (float(x) for x in np.quantile(tops, ONE_SIGMA))
    lowest, _, highest = (float(x) for x in np.quantile(tops, TWO_SIGMA))
    ends = (tops == draws.temperatures[0]) | (tops == draws.temperatures[-1])
    return CriticalPoint(
        Estimate(middle, (high - low) / 2),
        low,
        high,
        bool(ends.mean() > _EDGE_SHARE),
        resolved,
        fitted_curve(draws.temperatures, indicator),
        fitted_curve(draws.temperatures, draws.values),
        lowest,
        highest,
    )


def _top_stands_alone(points: Points, found: CriticalPoint) -> bool:
    """Whether the curve misses the largest value, not at an end, which is too far up to be noise.

    Too far up: above the line between its neighbours by three times its error, and by three times what any
    other point, these neighbours apart, is off the line between its own.
    """
    top, last = int(np.argmax(points.values)), len(points.values) - 1
    if top in (0, last):
        return False
    t, x = points.temperatures, points.values
    here = np.interp(t[top], found.fit.temperatures, found.fit.values)
    share = (t[1:-1] - t[:-2]) / (t[2:] - t[:-2])
    off = x[1:-1] - (1 - share) * x[:-2] - share * x[2:]
    others = np.delete(np.abs(off), slice(max(top - 2, 0), top + 1))
    missed = found.at_edge or x[top] - here > _LONE * points.errors[top]
    return missed and bool(off[top - 1] > _LONE * max(points.errors[top], others.max(initial=0.0)))


def _around_lone_point(points: Points, found: CriticalPoint) -> CriticalPoint:
    """The peak anywhere between the middles of the intervals on both sides of the largest value."""
    top = int(np.argmax(points.values))
    left, right = (points.temperatures[top - 1 : top + 1] + points.temperatures[top : top + 2]) / 2
    low, middle, high = (float(left + share * (right - left)) for share in ONE_SIGMA)
    return replace(
        found,
        temperature=Estimate(middle, (high - low) / 2),
        lower=low,
        upper=high,
        at_edge=False,
        resolved=False,
        lower_95=float(left),
        upper_95=float(right),
    )


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
