"""The family of curves that are fitted where T_c is sought: one peak, and what a peak's formula misses.

The curve that peaks, X(T) or its slope dX/dT, is taken to be

    a + b T + A f((T - T0) / w) + r(T),     f(x) = (1 + s^2)^-p,  s = x + k (sqrt(c^2 + x^2) - c):

a maximum at T0, rounded within w, one side (1 + k) / (1 - k) times as steep as the other, and tails from a
logarithm (small p) to nearly a Gaussian (large p). c = sqrt(1 - 2^(-1/p)) is 1 for a logarithm and the half
width of a Gaussian, so that sides are unequal within the upper half of any peak. Singularities of finite
lattices look like this, but no formula is exact. r(T) is what it misses: a random smooth curve, never taken
to be less than `_LEAST_MISSED` of the peak's height, and the larger the less the points follow the formula.
Stated errors are multiplied by an unknown noise. r varies over as many points whatever their distance, so
that in a wide gap between two of them it makes up no peaks. The peak of a slope is as likely between any two
neighbouring points, because the area between them is measured; of peaks of X a wide gap hides more.

T0, ln w, k and ln p are given; a, b, A and r are normal and integrated exactly, for each size and length of r
and each noise on a grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]

N_PARAMETERS = 4
_CENTRES = 1.4  # T0 may lie beyond the points, as far as this many of their ranges allow
_WIDTHS = (0.05, 0.5)  # w, from this share of the smallest spacing to that of the whole range
_POWERS = (0.05, 12.0)  # p
_LEAST_MISSED = 0.007  # calibrated on curves other than those of `benchmarks.coverage` (docs/curves.md)
_MISSED = _LEAST_MISSED * np.array([1.0, 3.0, 10.0, 30.0, 100.0])  # size of r, in heights of the peak
_LENGTHS = (1.0, 3.0)  # over which r varies, in spacings of the points
_NOISE = np.array([1.0, 1.5, 2.5, 5.0, 15.0, 60.0])
_SIZES, _NOISES = (grid.ravel() for grid in np.meshgrid(_MISSED, _NOISE, indexing="ij"))
_INSIDE = 0.8  # of the waves' longest half period that the points cover
_FINE = 8  # curves are drawn at this many temperatures per spacing
_GAUSS = {n: np.polynomial.legendre.leggauss(n) for n in (4, 8)}  # between drawn temperatures, and points


@dataclass(frozen=True, eq=False)
class _Missed:
    """r(T) of one length, where the trend a + b T is projected out and its covariance is diagonal.

    spectrum: (waves,) variances of its waves, their sum 1. basis: (n, n - q). precision: (options, n - q)
    inverse variances of r and noise together; an option is a size of r with a noise. y: (n - q,) the measured
    values. log_weight: (options,) the part of the likelihood that does not depend on the peak.
    """

    spectrum: Array
    basis: Array
    precision: Array
    y: Array
    log_weight: Array


class PeakFamily:
    """Curves through points v (n,) from -1/2 to 1/2, values y (n,) of range 1, and their errors (n,).

    Shapes are rows z of standard normal numbers, (k, 4), which stand for T0, ln w, k and ln p.
    """

    def __init__(self, v: Array, y: Array, errors: Array, of_slope: bool) -> None:
        self._v, self._y, self._errors, self._of_slope = v, y, errors, of_slope
        spacing = np.diff(v)
        self._widths = (_WIDTHS[0] * float(spacing.min()), _WIDTHS[1])
        self._height = max(float(np.max(np.diff(y) / spacing)), 1.0) if of_slope else 1.0
        self._ranks = np.linspace(-0.5, 0.5, len(v))
        self._waves = np.pi * np.arange(1, min(2 * len(v), 30) + 1)[:, None]
        trend = (self._trends(v)[0] / errors).T
        q = trend.shape[1]
        orthogonal, triangle = np.linalg.qr(trend, mode="complete")
        self._trend, self._triangle, rest = orthogonal[:, :q], triangle[:q], orthogonal[:, q:]
        self._missed = [self._missed_over(length / len(spacing), rest) for length in _LENGTHS]

    def _missed_over(self, length: float, rest: Array) -> _Missed:
        spectrum = np.exp(-((self._waves[:, 0] * _INSIDE * length) ** 2) / 2)
        spectrum /= spectrum.sum()
        waves = (self._wave_curves(self._v)[0] / self._errors) @ rest
        variances, vectors = np.linalg.eigh((waves.T * spectrum) @ waves)
        sizes = (_SIZES * self._height)[:, None]
        precision = 1 / (sizes**2 * np.maximum(variances, 0) + _NOISES[:, None] ** 2)
        y = (self._y / self._errors) @ rest @ vectors
        log_weight = 0.5 * (np.log(precision).sum(axis=1) - precision @ y**2)
        log_weight -= 2 * np.log(_NOISES) + np.log(_SIZES)  # errors and formula are mostly right
        return _Missed(spectrum, rest @ vectors, precision, y, log_weight)

    def log_likelihoods(self, shapes: Array) -> Array:
        """Of each shape with each length and option, (k, lengths x options); A is 1 with variance 1."""
        peaks = self._peaks(shapes, self._v)[0] / self._errors
        parts = []
        for missed in self._missed:
            g = peaks @ missed.basis
            square, product = g**2 @ missed.precision.T, (g * missed.y) @ missed.precision.T
            off = square - 2 * product - (product - square) ** 2 / (1 + square) + np.log1p(square)
            parts.append(missed.log_weight - 0.5 * off)
        return np.hstack(parts)

    def draw(
        self, shapes: Array, chosen: NDArray[np.intp], rng: np.random.Generator
    ) -> tuple[Array, Array, Array]:
        """v (m,), the curves through the points and the curves that peak, (k, m) each.

        chosen: (k,) columns of `log_likelihoods`. Random curves are moved onto the points (Matheron's rule).
        """
        n, k = len(self._v), len(shapes)
        v = np.interp(np.arange((n - 1) * _FINE + 1) / _FINE, np.arange(n), self._v)
        length, option = np.divmod(chosen, len(_SIZES))
        noise, size = _NOISES[option, None], _SIZES[option, None] * self._height
        variances = size**2 * np.array([missed.spectrum for missed in self._missed])[length]
        peaks, waves, trends = self._peaks(shapes, v), self._wave_curves(v), self._trends(v)
        peak, wave = (curves[0][:, ::_FINE] / self._errors for curves in (peaks, waves))
        height = 1 + rng.standard_normal((k, 1))
        amplitudes = np.sqrt(variances) * rng.standard_normal(variances.shape)
        missing = self._y / self._errors - noise * rng.standard_normal((k, n))
        weights = self._weights(missing - height * peak - amplitudes @ wave, peak, length, option)
        height += (weights * peak).sum(axis=1, keepdims=True)
        amplitudes += variances * (weights @ wave.T)
        rest = missing - height * peak - amplitudes @ wave - noise**2 * weights
        trend = np.linalg.solve(self._triangle, self._trend.T @ rest.T).T
        curves = (
            height * p + amplitudes @ w + trend @ t for p, w, t in zip(peaks, waves, trends, strict=True)
        )
        return v, *curves

    def _weights(
        self, missing: Array, peaks: Array, lengths: NDArray[np.intp], options: NDArray[np.intp]
    ) -> Array:
        """Inverse covariance of peak, r and noise times what is missing, (k, n), without trends."""
        weights = np.empty_like(missing)
        for place, missed in enumerate(self._missed):
            rows = lengths == place
            precision, g = missed.precision[options[rows]], peaks[rows] @ missed.basis
            plain, along = precision * (missing[rows] @ missed.basis), precision * g
            share = (g * plain).sum(axis=1) / (1 + (g * along).sum(axis=1))
            weights[rows] = (plain - share[:, None] * along) @ missed.basis.T
        return weights

    def _trends(self, v: Array) -> tuple[Array, Array]:
        """1, v (and v^2 / 2) as they are measured, and of the curve that peaks."""
        one, zero = np.ones_like(v), np.zeros_like(v)
        if self._of_slope:
            return np.array([one, v, v**2 / 2]), np.array([zero, one, v])
        return np.array([one, v]), np.array([one, v])

    def _wave_curves(self, v: Array) -> tuple[Array, Array]:
        """Waves over the rank u of a place among the points, and their integrals where slopes peak.

        v: the points, or places between them too, so that from one to the next v is linear in u.
        """
        u = np.interp(v, self._v, self._ranks)
        phase = self._waves * (0.5 + _INSIDE * u)
        waves = np.cos(phase)
        if not self._of_slope:
            return waves, waves
        steps = np.diff(np.sin(phase) / (_INSIDE * self._waves)) * (np.diff(v) / np.diff(u))
        return np.cumsum(np.pad(steps, ((0, 0), (1, 0))), axis=1), waves

    def _peaks(self, shapes: Array, v: Array) -> tuple[Array, Array]:
        """The peak as it is measured, and itself, (k, m) each: f less its lower end, or the integral of that.

        f rises by 1, its integral by 1.
        """
        centre, width, *form = self._parameters(shapes)
        ends = _rounded((np.array([-0.5, 0.5]) - centre) / width, *form).min(axis=1, keepdims=True)
        x = (v - centre) / width
        f = _rounded(x, *form) - ends
        if not self._of_slope:
            f /= 1 - ends
            return f, f
        n_nodes = 8 if len(v) == len(self._v) else 4
        integral = _integral(
            x,
            _onset(form[1]),
            n_nodes,
            lambda at: _rounded(at, *(each[:, None] for each in form)) - ends[:, None],
        )
        rise = width * integral[:, -1:]
        return integral / integral[:, -1:] - 0.5, f / rise

    def _parameters(self, shapes: Array) -> tuple[Array, ...]:
        """T0, w, k and p, (k, 1) each; the ratio of both sides' slopes has a logarithm of variance 1."""
        share = ndtr(shapes)
        centre = _CENTRES * (share[:, 0] - 0.5)
        if self._of_slope:
            inside = np.clip(centre, -0.5, 0.5)
            centre += np.interp(inside, self._ranks, self._v) - inside
        columns = (
            centre,
            _between(self._widths, share[:, 1]),
            np.tanh(shapes[:, 2] / 2),
            _between(_POWERS, share[:, 3]),
        )
        return tuple(column[:, None] for column in columns)


def _between(ends: tuple[float, float], share: Array) -> Array:
    return np.asarray(ends[0] * (ends[1] / ends[0]) ** share)


def _onset(power: Array) -> Array:
    """c, the x at which the sides of a peak become unequal."""
    return np.asarray(np.sqrt(1 - 0.5 ** (1 / power)))


def _rounded(x: Array, skew: Array, power: Array) -> Array:
    c = _onset(power)
    s = x + skew * (np.sqrt(c**2 + x**2) - c)
    return np.asarray(np.exp(-power * np.log1p(s**2)))


def _integral(x: Array, scale: Array, n_nodes: int, f: Callable[[Array], Array]) -> Array:
    """From the first x of each row, (k, m), by Gauss's rule between neighbours, in asinh(x / scale)."""
    nodes, node_weights = _GAUSS[n_nodes]
    u = np.arcsinh(x / scale)
    half = np.diff(u, axis=1)[..., None] / 2
    at = scale[..., None] * np.sinh(u[:, :-1, None] + half * (1 + nodes))
    steps = half[..., 0] * ((f(at) * np.hypot(scale[..., None], at)) @ node_weights)
    return np.concatenate([np.zeros((len(x), 1)), np.cumsum(steps, axis=1)], axis=1)
