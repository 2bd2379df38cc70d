"""Where a curve peaks or is steepest, with an uncertainty that holds for coarse grids and noisy points.

Many smooth curves are drawn through the points (see `smoothing`); each has its own maximum, and the spread of
these maxima is the uncertainty. It is then widened by what no smooth curve through the points shows: a peak
whose two sides differ has its maximum off theirs by h s^2 / (0.1 T), s being the spacing of the points, and h
is the larger the fewer points lie in the upper half of the peak. Both h and the share of the spread that
counts were read off 1400 rounded logarithms and two-sided powers with known maxima, at random places on grids
of 0.05, 0.1 and 0.25; `python -m benchmarks.coverage` tells on other curves how often the intervals hold
(docs/curves.md has its table).

Where no smooth curve follows the largest point, which stands alone far above its neighbours, the peak is
nearer to it than to them: no more is said.
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
    draw_positive_curves,
    fitted_curve,
)
from thermorbm.shown import Displayed
from thermorbm.stats import Estimate

Array = NDArray[np.float64]

_EDGE_SHARE = 0.16  # of the maxima at an end of the grid, beyond which there is no peak to speak of
_OF_PEAKS, _OF_SLOPES = 3, 4  # order of the derivative that is white noise: a slope has one less
_LONE = 3.0  # times the noise by which a lone point is above its neighbours
# By the number of points in the upper half, 1, 2, 3 or more: the share of the spread of the random curves'
# maxima that counts (few points leave them too free), and what all smooth curves miss, h, added in quadrature
# to half of the 68 % and of the 95 %.
_WIDTHS = {
    "value": ((0.8, 0.075, 0.19), (0.8, 0.04, 0.18), (0.8, 0.04, 0.1), (1.1, 0.0, 0.0)),
    "slope": ((0.75, 0.12, 0.27), (0.75, 0.12, 0.2), (0.75, 0.0, 0.0), (0.75, 0.0, 0.0)),
}
_MOST_HIDDEN = 1.5  # spacings: peaks far narrower than these are told by no curve
_ASYMMETRY = 0.1  # of T: the width over which the sides of a peak come to differ
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


def peak(
    temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, n_draws: int = 400, seed: int = 0
) -> CriticalPoint:
    """Maximum of X(T), for an indicator such as a variance or a correlation."""
    points = Points(temperatures, values, errors)
    draws = draw_positive_curves(points, _OF_PEAKS, n_draws, seed)
    found = _locate(points, draws, draws.values, "value")
    return _around_lone_point(points, found) if _top_stands_alone(points, found) else found


def steepest(
    temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, n_draws: int = 400, seed: int = 0
) -> CriticalPoint:
    """Steepest slope of X(T) in the direction in which it goes from the first to the last temperature."""
    points = Points(temperatures, values, errors)
    sign = 1.0 if points.values[-1] >= points.values[0] else -1.0
    draws = draw_curves(points, _OF_SLOPES, n_draws, seed)
    return _locate(points, draws, sign * draws.slopes, "slope")


def heat_peak(
    temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, n_draws: int = 400, seed: int = 0
) -> CriticalPoint:
    """Maximum of T dX/dT, the heat capacity if X is an entropy."""
    points = Points(temperatures, values, errors)
    draws = draw_curves(points, _OF_SLOPES, n_draws, seed)
    return _locate(points, draws, draws.temperatures * draws.slopes, "slope")


def _locate(points: Points, draws: CurveDraws, indicator: Array, kind: str) -> CriticalPoint:
    tops = maxima(draws.temperatures, indicator)
    ends = (tops == draws.temperatures[0]) | (tops == draws.temperatures[-1])
    n_upper, here = _points_in_upper_half(points, draws, indicator), float(np.median(tops))
    share, *hidden = _WIDTHS[kind][int(np.clip(n_upper, 1, 4)) - 1]
    tops = here + share * (tops - here)
    spacing = _spacing_at(points.temperatures, here)
    scale = spacing**2 / max(_ASYMMETRY * abs(here), spacing / _MOST_HIDDEN)
    low, middle, high = _widened(np.quantile(tops, ONE_SIGMA), hidden[0] * scale)
    lowest, _, highest = _widened(np.quantile(tops, TWO_SIGMA), hidden[1] * scale)
    at_edge = bool(ends.mean() > _EDGE_SHARE)
    useless = highest - lowest > _USELESS * float(np.ptp(points.temperatures))
    curve = fitted_curve(draws.temperatures, indicator)
    return CriticalPoint(
        Estimate(middle, (high - low) / 2),
        low,
        high,
        at_edge,
        n_upper >= 2,
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
    lowest, _, highest = (float(left + share * (right - left)) for share in TWO_SIGMA)
    return replace(
        found,
        temperature=Estimate(middle, (high - low) / 2),
        lower=low,
        upper=high,
        at_edge=False,
        resolved=False,
        lower_95=lowest,
        upper_95=highest,
        determined=True,
        note="",
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
