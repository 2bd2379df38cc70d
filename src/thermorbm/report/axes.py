"""Axes of the page's drawings: which numbers they show, and where a number lies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from thermorbm.report.labels import power_of_ten
from thermorbm.report.panels import Panel, Series

Floats = NDArray[np.float64]
Limits = tuple[float, float]

MARGIN = 0.05  # of the range, to either side of the data


@dataclass(frozen=True)
class Axis:
    """Numbers from low to high lie from `start` to `end`, in units of the drawing, evenly or by logarithm."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def place(self, values: Floats | float) -> Floats:
        """Where numbers lie; nan for what a logarithm does not have."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        shares = (self._scaled(values) - low) / (high - low)
        return np.asarray(self.start + shares * (self.end - self.start), dtype=np.float64)

    def _scaled(self, values: Floats | float) -> Floats:
        numbers = np.asarray(values, dtype=np.float64)
        if not self.log:
            return numbers
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(numbers > 0, np.log10(numbers), np.nan)

    def ticks(self, about: int) -> list[tuple[float, str]]:
        """(place, number in words) of about so many round numbers."""
        if self.log and self.high / self.low >= 10:
            decades = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            step = -(-len(decades) // about)
            values = [10.0**power for power in decades[::step]]
        else:
            locator = MaxNLocator(about, steps=[1, 2, 2.5, 5, 10])
            values = [float(value) for value in locator.tick_values(self.low, self.high)]
        slack = 1e-9 * (self.high - self.low)  # rounding must not lose a number at the end
        inside = [value for value in values if self.low - slack <= value <= self.high + slack]
        return list(zip(self.place(np.array(inside)).tolist(), tick_words(inside), strict=True))


def tick_words(values: list[float]) -> list[str]:
    """Numbers at an axis, all with as many decimals: 0.25 and 0.50, −1500; powers of ten as such."""
    words = [f"{0.0 if abs(value) < 1e-12 else value:.6g}" for value in values]
    if any("e" in word for word in words):
        return [_power_words(value) for value in values]
    decimals = max((len(word.partition(".")[2]) for word in words), default=0)
    is_wide = any(abs(value) >= 100 * abs(other) > 0 for value in values for other in values)
    shown = words if is_wide else [f"{value:.{decimals}f}" for value in values]
    return [word.replace("-", "−") for word in shown]


def _power_words(value: float) -> str:
    """2·10⁻⁵, or 10⁻⁵."""
    digits, _, power = f"{value:.3e}".partition("e")
    factor = digits.rstrip("0").rstrip(".").replace("-", "−")
    raised = power_of_ten(int(power))
    return "0" if value == 0 else raised if factor == "1" else f"{factor}·{raised}"


def x_limits(panel: Panel) -> Limits:
    """The range of x that a panel shows."""
    if panel.x_range is not None:
        return panel.x_range
    values = [bound for item in panel.series for bound in _reach(item, item.x, item.sideways)]
    return _widened([*values, *(x for x, _ in panel.marks if not panel.log_x or x > 0)], panel.log_x)


def y_limits(panel: Panel) -> Limits:
    """The range of y that a panel shows."""
    if panel.rows:
        return 0.7 - len(panel.rows), 0.7
    if panel.y_range is not None and (not panel.log_y or panel.y_range[0] > 0):
        return panel.y_range
    values = [bound for item in panel.series for bound in _reach(item, item.y, not item.sideways)]
    bands = [edge for item in panel.series if item.band is not None for edge in item.band]
    return _widened([*values, *(float(y) for edge in bands for y in edge)], panel.log_y)


def _reach(item: Series, values: Floats, has_errors: bool) -> list[float]:
    """The numbers of a series, and the ends of its error bars where they are those of this axis."""
    if item.errors is None or item.marker is None or not has_errors:
        return [float(value) for value in values]
    return [float(value) for value in (*(values - item.errors), *(values + item.errors))]


def _widened(values: list[float], log: bool) -> Limits:
    kept = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    if not kept:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = min(kept), max(kept)
    if log:
        margin = max((high / low) ** MARGIN, 1.02)
        return low / margin, high * margin
    margin = MARGIN * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin
