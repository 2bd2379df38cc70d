"""Curves of `estimators.peak_family` in plain linear algebra, with the trend as a very wide Gaussian."""

from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

WIDE = 1e3  # standard deviation of the trend's coefficients


def rank(t, v):
    """Where t stands among the points v (n,): -1/2 at the first, 1/2 at the last, even between."""
    return np.interp(t, v, np.linspace(-0.5, 0.5, len(v)))


def shape(z, of_slope, v):
    """T0, w, k and p of a row of standard normal numbers. T0 of a slope's peak is given by its rank."""
    share, least = norm.cdf(z), 0.05 * np.diff(v).min()
    width, power = least * (0.5 / least) ** share[1], 0.05 * 240 ** share[3]
    centre = 1.4 * (share[0] - 0.5)
    if of_slope and abs(centre) < 0.5:
        centre = np.interp(centre, np.linspace(-0.5, 0.5, len(v)), v)
    return centre, width, np.tanh(z[2] / 2), power


def integrals(f, t):
    """Of f from the first t (n,) to each."""
    return np.r_[0, np.cumsum([quad(f, a, b, limit=200)[0] for a, b in pairwise(t)])]


def peak(z, t, of_slope, v):
    """The peak as it is measured at t (n,), which begins at -1/2 and ends at 1/2."""
    centre, width, skew, power = shape(z, of_slope, v)

    def f(t):
        x, c = (t - centre) / width, np.sqrt(1 - 2 ** (-1 / power))
        return (1 + (x + skew * (np.sqrt(c**2 + x**2) - c)) ** 2) ** -power

    low = min(f(-0.5), f(0.5))
    if not of_slope:
        return (f(t) - low) / (1 - low)
    rise = integrals(lambda t: f(t) - low, t)
    return rise / rise[-1] - 0.5


def wave(k, t, of_slope, v):
    """A wave over the rank among the points v, as it is measured at t (n,)."""

    def f(t):
        return np.cos(k * (0.5 + 0.8 * rank(t, v)))

    return integrals(f, t) if of_slope else f(t)


def features(z, t, of_slope, length, size, n_waves, v):
    """(n, columns) whose independent unit normals make up the curve; the first is the peak."""
    k = np.pi * np.arange(1, n_waves + 1)
    spectrum = np.exp(-((k * 0.8 * length) ** 2) / 2)
    waves = np.array([wave(each, t, of_slope, v) for each in k]).T
    trend = [np.ones_like(t), t] + ([t**2 / 2] if of_slope else [])
    return np.column_stack(
        [
            peak(z, t, of_slope, v),
            WIDE * np.array(trend).T,
            waves * size * np.sqrt(spectrum / spectrum.sum()),
        ]
    )


def posterior(z, v, y, errors, of_slope, length, size, noise, at):
    """Log likelihood, and mean and standard deviation of the measured curve at `at`, v among them."""
    wanted = features(z, at, of_slope, length, size, min(2 * len(v), 30), v)
    design = wanted[np.searchsorted(at, v)]
    covariance = design @ design.T + np.diag((noise * errors) ** 2)
    off = y - design[:, 0]  # the peak's amplitude is 1 on average
    solved = np.linalg.solve(covariance, np.column_stack([off, design @ wanted.T]))
    log_likelihood = -0.5 * (np.linalg.slogdet(covariance)[1] + off @ solved[:, 0])
    gain = wanted @ design.T
    variance = (wanted**2).sum(axis=1) - np.einsum("ij,ji->i", gain, solved[:, 1:])
    return log_likelihood, wanted[:, 0] + gain @ solved[:, 0], np.sqrt(np.maximum(variance, 0))
