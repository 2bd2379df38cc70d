"""Heat-capacity-like curves T dX/dT of a measured X(T), with error bands."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from thermorbm.errors import InputError
from thermorbm.estimators.smoothing import FittedCurve, Points, draw_curves, fitted_curve


def smooth_curve(
    temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, at: ArrayLike | None = None, seed: int = 0
) -> FittedCurve:
    """X(T) itself, smoothed; at eight temperatures per spacing, or at those asked for, within the range."""
    draws = draw_curves(Points(temperatures, values, errors), seed=seed)
    return _at(fitted_curve(draws.temperatures, draws.values), at)


def heat_curve(
    temperatures: ArrayLike, values: ArrayLike, errors: ArrayLike, at: ArrayLike | None = None, seed: int = 0
) -> FittedCurve:
    """T dX/dT: a heat capacity if X is an entropy, an estimate of one if X is L~, S~ or NLL."""
    draws = draw_curves(Points(temperatures, values, errors), seed=seed)
    return _at(fitted_curve(draws.temperatures, draws.temperatures * draws.slopes), at)


def _at(curve: FittedCurve, at: ArrayLike | None) -> FittedCurve:
    if at is None:
        return curve
    wanted = np.atleast_1d(np.asarray(at, dtype=np.float64))
    low, high = curve.temperatures[0], curve.temperatures[-1]
    outside = ~((wanted >= low) & (wanted <= high))
    if outside.any():
        raise InputError(
            "temperature", wanted[outside][0].item(), f"between {low} and {high}, the data's range"
        )
    values = np.interp(wanted, curve.temperatures, curve.values)
    return FittedCurve(wanted, values, np.interp(wanted, curve.temperatures, curve.errors))
