"""From the peaks of finite lattices to T_c of the infinite one: T(L) = T_c + a x + c x^2 with x = L^(-1/nu).

The last term stands for corrections to scaling. Three lattices hardly tell it, so that a prior does: c is of
the size of a, with either sign. For the heat capacity of the square lattice c is -0.7 a (from 16, 32, 64).
What may come after it, a x^3, is added to the errors of the peaks. The error of T_c then holds what
corrections may do, and not only what the errors of the peaks do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError
from thermorbm.stats import Estimate

Array = NDArray[np.float64]

_LEAST_ERROR = 1e-7  # relative; exact peaks have none


@dataclass(frozen=True)
class InfiniteLattice:
    """temperature: T_c. slope: a. curvature: c, mostly its prior. chi_squared: of the points about the fit,
    with n_points - 2 degrees of freedom, as the prior leaves hardly less.
    """

    temperature: Estimate
    slope: Estimate
    curvature: Estimate
    chi_squared: float
    n_degrees: int

    def at(self, sides: ArrayLike, nu: float) -> Array:
        """The fit at some sides L; infinity is allowed."""
        x = _scaled(sides, nu)
        return np.asarray(self.temperature.value + (self.slope.value + self.curvature.value * x) * x)


def extrapolate(sides: ArrayLike, peaks: ArrayLike, errors: ArrayLike, nu: float) -> InfiniteLattice:
    """T_c of the infinite lattice from peaks (n,) with independent errors on lattices of different sides."""
    length, peak, error = (np.asarray(item, dtype=np.float64) for item in (sides, peaks, errors))
    _check(length, peak, error, nu)
    error = np.maximum(error, _LEAST_ERROR * np.abs(peak))
    x = _scaled(length, nu)
    _, line, line_covariance = _fit(np.stack([np.ones_like(x), x]), peak, error, None)
    width = float(np.hypot(line[1], np.sqrt(line_covariance[1, 1])))
    columns = np.stack([np.ones_like(x), x, x * x])
    rest, found, covariance = _fit(columns, peak, np.hypot(error, width * x**3), width)
    spread = np.sqrt(np.diag(covariance))
    constant, slope, curvature = (Estimate(float(v), float(e)) for v, e in zip(found, spread, strict=True))
    return InfiniteLattice(constant, slope, curvature, float(rest @ rest), len(x) - 2)


def _fit(columns: Array, y: Array, error: Array, prior: float | None) -> tuple[Array, Array, Array]:
    """Residuals over errors, parameters and their covariance; prior: the width of the last parameter's."""
    design, target = (columns / error).T, y / error
    if prior is not None:
        design = np.vstack([design, [0.0, 0.0, 1 / prior]])
        target = np.append(target, 0.0)
    found, *_ = np.linalg.lstsq(design, target, rcond=None)
    rest = (y - columns.T @ found) / error
    return rest, np.asarray(found, dtype=np.float64), np.asarray(np.linalg.inv(design.T @ design))


def _scaled(sides: ArrayLike, nu: float) -> Array:
    return np.asarray(np.asarray(sides, dtype=np.float64) ** (-1 / nu))


def _check(sides: Array, peaks: Array, errors: Array, nu: float) -> None:
    if len(set(sides.tolist())) < max(2, len(sides)) or not np.all(sides > 1):
        raise InputError("sides", sides.tolist(), "two or more different sides > 1")
    if not (
        peaks.shape == errors.shape == sides.shape and np.all(np.isfinite(peaks)) and np.all(errors >= 0)
    ):
        raise InputError("peaks", peaks.tolist(), "a finite number and an error >= 0 for each side")
    if not 0 < nu < np.inf:
        raise InputError("nu", nu, "a number > 0")
