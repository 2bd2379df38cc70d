"""Smooth curves through measured points, drawn at random from all that the points and their errors allow.

The curves are those of `peak_family`; their shapes are found by `population`. The spread of the curves holds
the errors of the points, what may happen between them, and what the family misses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError
from thermorbm.estimators.peak_family import N_PARAMETERS, PeakFamily
from thermorbm.estimators.population import log_sum, sample_posterior
from thermorbm.shown import Displayed

Array = NDArray[np.float64]

FEWEST_POINTS = 6
ONE_SIGMA = (0.15865525393145707, 0.5, 0.8413447460685429)  # quantiles at -1, 0 and 1 standard errors
TWO_SIGMA = (0.025, 0.5, 0.975)  # the central 95 %
_ERROR_FLOOR, _LEAST_ERROR = 0.2, 1e-6  # of the errors' root mean square, and of the values' range


@dataclass(frozen=True, eq=False)
class Points:
    """Measured X(T): temperatures (n,) ascending, values (n,), standard errors (n,), n >= 6."""

    temperatures: Array
    values: Array
    errors: Array

    def __init__(self, temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike) -> None:
        for name, given in (("temperatures", temperatures), ("values", values), ("errors", errors)):
            array = np.array(given, dtype=np.float64)
            if array.ndim != 1 or not np.all(np.isfinite(array)):
                raise InputError(name, given, "finite numbers in one dimension")
            object.__setattr__(self, name, array)
        lengths = (len(self.temperatures), len(self.values), len(self.errors))
        if len(set(lengths)) > 1:
            raise InputError("lengths of the curve's arrays", lengths, "equal")
        if lengths[0] < FEWEST_POINTS:
            wanted = f"at least {FEWEST_POINTS}, for a curve through points"
            raise InputError("number of temperatures", lengths[0], wanted, "sample more around T_c")
        if not np.all(np.diff(self.temperatures) > 0):
            raise InputError("temperatures", temperatures, "ascending, none twice")
        if np.any(self.errors < 0):
            raise InputError("errors", float(self.errors.min()), "numbers >= 0")


@dataclass(frozen=True, eq=False)
class CurveDraws:
    """Random curves. temperatures: (m,), the points' among them; values: (n_draws, m), of X.

    indicator: (n_draws, m), the curve that peaks: X itself or, of_slope, dX/dT.
    """

    temperatures: Array
    values: Array
    indicator: Array
    of_slope: bool


@dataclass(frozen=True, eq=False, repr=False)
class FittedCurve(Displayed):
    """A smooth curve: temperatures, values and standard errors, (m,) each."""

    temperatures: Array
    values: Array
    errors: Array


def draw_curves(points: Points, of_slope: bool, seed: int = 0) -> CurveDraws:
    """200 curves through the points, where X(T) has a peak or, of_slope, dX/dT."""
    rng, t = np.random.default_rng(seed), points.temperatures
    middle, span = (t[0] + t[-1]) / 2, t[-1] - t[0]
    offset, scale = float(points.values.mean()), float(np.ptp(points.values)) or 1.0
    y, errors = (points.values - offset) / scale, _working_errors(points, scale)
    family = PeakFamily((t - middle) / span, y, errors, of_slope)
    shapes = sample_posterior(lambda z: log_sum(family.log_likelihoods(z)), N_PARAMETERS, rng)
    likelihoods = family.log_likelihoods(shapes)
    chosen = np.argmax(likelihoods + rng.gumbel(size=likelihoods.shape), axis=1)
    v, values, indicator = family.draw(shapes, chosen, rng)
    values = values * scale + offset
    return CurveDraws(middle + span * v, values, indicator * scale / span if of_slope else values, of_slope)


def fitted_curve(temperatures: Array, draws: Array) -> FittedCurve:
    """Median and half the central 68 % of curves (n_draws, m)."""
    low, middle, high = np.quantile(draws, ONE_SIGMA, axis=0)
    return FittedCurve(temperatures, middle, (high - low) / 2)


def _working_errors(points: Points, scale: float) -> Array:
    """Errors in units of the values' range, none far below the others: scatter does not vanish anywhere."""
    floor = max(_ERROR_FLOOR * float(np.sqrt(np.mean(points.errors**2))), _LEAST_ERROR * scale)
    return np.asarray(np.hypot(points.errors, floor) / scale)
