"""Smooth curves through measured points, drawn at random from all that the points and their errors allow.

A curve X(T) is a random spline (see `splines`) of a stretched temperature u(T) = asinh((T - T0) / w): it may
vary fast within w of T0 and slowly elsewhere, as curves do at a transition. T0, w, the roughness and a factor
on the quoted errors are unknown; each combination on a grid gets its posterior weight (marginal likelihood
times prior), and each curve is drawn from one combination. The spread of the curves therefore holds the
errors of the points, what may happen between them, and the choice of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logsumexp

from thermorbm.errors import InputError
from thermorbm.estimators import splines
from thermorbm.shown import Displayed

Array = NDArray[np.float64]

FEWEST_POINTS = 6
ONE_SIGMA = (0.15865525393145707, 0.5, 0.8413447460685429)  # quantiles at -1, 0 and 1 standard errors
TWO_SIGMA = (0.025, 0.5, 0.975)  # the central 95 %
_WIDTHS = (0.3, 1.0, 3.0)  # w, in spacings of the points around T0
_CENTRES_PER_WIDTH = 1.5
_NOISE_FACTORS = np.array([1.0, 1.5, 2.2, 3.5, 6.0, 12.0, 30.0, 100.0])
_NOISE_LOG_PRIOR = -2 * np.log(_NOISE_FACTORS)  # quoted errors are mostly right
_FINE = 8  # curves are drawn at this many temperatures per spacing
_CLEAR = 3.0  # errors that a value is above zero at least, for its logarithm to be taken
_FARTHEST = 50.0  # in ln X, that a curve may rise above the points
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
    """Random curves. temperatures: (m,), the points' among them; values and slopes dX/dT: (n_draws, m)."""

    temperatures: Array
    values: Array
    slopes: Array


@dataclass(frozen=True, eq=False, repr=False)
class FittedCurve(Displayed):
    """A smooth curve: temperatures, values and standard errors, (m,) each."""

    temperatures: Array
    values: Array
    errors: Array


@dataclass(frozen=True, eq=False)
class _Models:
    """Stretched temperatures u in [0, 1] with the spectrum of the prior covariance seen through the errors.

    u: (k, n). log_prior: (k,). eigenvalues: (k, n - q), of the whitened covariance in the space that
    polynomials do not reach; basis: (k, n, n - q) its eigenvectors; trend, triangle: QR of the polynomials.
    """

    q: int
    centres: Array
    widths: Array
    log_prior: Array
    u: Array
    covariance: Array
    eigenvalues: Array
    basis: Array
    trend: Array
    triangle: Array


def draw_curves(points: Points, smoothness: int = 4, n_draws: int = 400, seed: int = 0) -> CurveDraws:
    """Curves through the points; their derivative of order `smoothness` is white noise in the prior."""
    return _Posterior(points, smoothness).draw(n_draws, np.random.default_rng(seed))


def draw_positive_curves(points: Points, smoothness: int, n_draws: int = 400, seed: int = 0) -> CurveDraws:
    """The same, where either X or ln X is such a curve; how many of each, their evidence decides.

    A susceptibility or a variance of weights spans decades, and its logarithm is the smoother curve. ln X is
    considered where all values are clear of zero.
    """
    rng = np.random.default_rng(seed)
    plain = _Posterior(points, smoothness)
    if not np.all(points.values > _CLEAR * points.errors):
        return plain.draw(n_draws, rng)
    relative = Points(points.temperatures, np.log(points.values), points.errors / points.values)
    logarithmic = _Posterior(relative, smoothness)
    ratio = logarithmic.log_evidence - np.log(points.values).sum() - plain.log_evidence
    n_plain = round(n_draws * float(expit(-ratio)))
    parts = [plain.draw(n_plain, rng)] if n_plain else []
    if n_plain < n_draws:
        logs = logarithmic.draw(n_draws - n_plain, rng)
        values = np.exp(np.minimum(logs.values, np.log(points.values).max() + _FARTHEST))
        parts.append(CurveDraws(logs.temperatures, values, values * logs.slopes))
    values, slopes = (np.vstack([getattr(part, name) for part in parts]) for name in ("values", "slopes"))
    return CurveDraws(parts[0].temperatures, values, slopes)


class _Posterior:
    """All models of some points with their weights."""

    def __init__(self, points: Points, smoothness: int) -> None:
        self._temperatures = points.temperatures
        self._middle, self._scale = float(points.values.mean()), float(np.ptp(points.values)) or 1.0
        self._y = (points.values - self._middle) / self._scale
        self._errors = _working_errors(points, self._scale)
        self._models = _models(smoothness, points.temperatures, self._errors)
        self._roughness, self._log_weight = _log_weights(self._models, self._y / self._errors)

    @property
    def log_evidence(self) -> float:
        """ln of the probability density of the measured values, up to a constant."""
        return float(logsumexp(self._log_weight) - np.log(self._errors * self._scale).sum())

    def draw(self, n_draws: int, rng: np.random.Generator) -> CurveDraws:
        fine = _fine_grid(self._temperatures)
        chosen = _choose(self._roughness, self._log_weight, n_draws, rng)
        values, slopes = _conditioned(
            self._models, self._temperatures, fine, self._y, self._errors, chosen, rng
        )
        return CurveDraws(fine, values * self._scale + self._middle, slopes * self._scale)


def fitted_curve(temperatures: Array, draws: Array) -> FittedCurve:
    """Median and half the central 68 % of curves (n_draws, m)."""
    low, middle, high = np.quantile(draws, ONE_SIGMA, axis=0)
    return FittedCurve(temperatures, middle, (high - low) / 2)


def _working_errors(points: Points, scale: float) -> Array:
    """Errors in units of the values' range, none far below the others: scatter does not vanish anywhere."""
    floor = max(_ERROR_FLOOR * float(np.sqrt(np.mean(points.errors**2))), _LEAST_ERROR * scale)
    return np.asarray(np.hypot(points.errors, floor) / scale)


def _fine_grid(temperatures: Array) -> Array:
    place = np.arange((len(temperatures) - 1) * _FINE + 1) / _FINE
    return np.interp(place, np.arange(len(temperatures)), temperatures)


def _stretch(temperatures: Array, centres: Array, widths: Array) -> tuple[Array, Array]:
    """u and du/dT, (k, m) each, u from 0 at the first temperature to 1 at the last."""
    distance = temperatures - centres[:, None]
    raw = np.arcsinh(distance / widths[:, None])
    span = raw[:, -1:] - raw[:, :1]
    return (raw - raw[:, :1]) / span, 1 / (np.hypot(distance, widths[:, None]) * span)


def _centres_and_widths(temperatures: Array) -> tuple[Array, Array, Array]:
    """T0, w and the logarithm of their prior: T0 uniform for each w, and one model without stretching."""
    n, spacing = len(temperatures), np.diff(temperatures)
    nearby = np.convolve(np.pad(spacing, 1, mode="edge"), np.full(3, 1 / 3), mode="valid")
    centres, widths, log_prior = [temperatures[:1]], [np.array([1e3 * np.ptp(temperatures)])], [np.zeros(1)]
    for factor in _WIDTHS:
        place = np.arange(0.5, n - 1, 1 / np.ceil(_CENTRES_PER_WIDTH / factor))
        here = np.interp(place, np.arange(n), temperatures)
        share = np.gradient(here)
        centres.append(here)
        widths.append(factor * nearby[place.astype(np.intp)])
        log_prior.append(np.log(share / share.sum()))
    return np.concatenate(centres), np.concatenate(widths), np.concatenate(log_prior)


def _models(q: int, temperatures: Array, errors: Array) -> _Models:
    centres, widths, log_prior = _centres_and_widths(temperatures)
    u, _ = _stretch(temperatures, centres, widths)
    whitened = splines.covariance(q, u[:, :, None], u[:, None, :]) / (errors[:, None] * errors)
    trend, triangle = np.linalg.qr(splines.polynomials(q, u) / errors[:, None], mode="complete")
    rest = trend[:, :, q:]
    eigenvalues, vectors = np.linalg.eigh(rest.transpose(0, 2, 1) @ whitened @ rest)
    return _Models(
        q,
        centres,
        widths,
        log_prior,
        u,
        whitened,
        np.maximum(eigenvalues, 0),
        rest @ vectors,
        trend[:, :, :q],
        triangle[:, :q],
    )


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Of each draw, (n,) each: the model, the variance of the white noise, the factor on the errors."""

    model: NDArray[np.intp]
    roughness: Array
    noise: Array


def _log_weights(models: _Models, y: Array) -> tuple[Array, Array]:
    """Values of the roughness (r,), and the posterior of model, roughness and noise. y: (n,) / errors."""
    roughness = 10 ** np.arange(-1, 3 * models.q + 0.5, 0.5)
    seen = np.einsum("kji,j->ki", models.basis, y)[:, None, None]
    variance = roughness[:, None, None] * models.eigenvalues[:, None, None] + _NOISE_FACTORS[:, None] ** 2
    fit = -0.5 * (np.log(variance) + seen**2 / variance).sum(axis=-1)
    trend = np.log(np.abs(np.einsum("kii->ki", models.triangle))).sum(axis=1)
    return roughness, fit + (models.log_prior - trend)[:, None, None] + _NOISE_LOG_PRIOR


def _choose(roughness: Array, log_weight: Array, n_draws: int, rng: np.random.Generator) -> _Chosen:
    """Draws from the posterior, by systematic resampling."""
    weight = np.exp(log_weight - log_weight.max())
    ladder = np.cumsum(weight) / weight.sum()
    picks = np.searchsorted(ladder, (rng.random() + np.arange(n_draws)) / n_draws)
    model, rough, noise = np.unravel_index(np.minimum(picks, len(ladder) - 1), weight.shape)
    return _Chosen(model, roughness[rough], _NOISE_FACTORS[noise])


def _conditioned(
    models: _Models,
    temperatures: Array,
    fine: Array,
    y: Array,
    errors: Array,
    chosen: _Chosen,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """X and dX/dT on the fine grid, (n_draws, m): random paths moved onto the points (Matheron's rule)."""
    q, at = models.q, np.searchsorted(fine, temperatures)
    used, which = np.unique(chosen.model, return_inverse=True)
    u_fine, stretch = _stretch(fine, models.centres[used], models.widths[used])
    paths = splines.random_paths(q, np.diff(u_fine, axis=1), which, rng)
    paths *= np.sqrt(chosen.roughness)[:, None]
    noise = chosen.noise[:, None] * rng.standard_normal((len(which), len(y)))
    missing = (y - paths[0][:, at]) / errors - noise
    u = models.u[used]
    value_gain = splines.covariance(q, u_fine[:, :, None], u[:, None, :]) / errors
    slope_gain = splines.slope_covariance(q, u_fine[:, :, None], u[:, None, :]) / errors
    value_trend, slope_trend = splines.polynomials(q, u_fine), splines.polynomial_slopes(q, u_fine)
    for k, model in enumerate(used):
        rows = which == k
        weights, trend = _kriging(models, model, missing[rows], chosen.roughness[rows], chosen.noise[rows])
        paths[0, rows] += weights @ value_gain[k].T + trend @ value_trend[k].T
        paths[1, rows] += weights @ slope_gain[k].T + trend @ slope_trend[k].T
    return paths[0], paths[1] * stretch[which]


def _kriging(
    models: _Models, model: int, missing: Array, roughness: Array, noise: Array
) -> tuple[Array, Array]:
    """Weights of the points' covariances, (n_rows, n), and polynomial coefficients, (n_rows, q)."""
    basis = models.basis[model]
    spectrum = roughness[:, None] * models.eigenvalues[model] + noise[:, None] ** 2
    weights = roughness[:, None] * (((missing @ basis) / spectrum) @ basis.T)
    rest = missing - weights @ models.covariance[model]
    trend = np.linalg.solve(models.triangle[model], models.trend[model].T @ rest.T).T
    return weights, trend
