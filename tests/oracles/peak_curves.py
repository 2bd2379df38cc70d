"""Curves of `estimators.peak_family` in plain linear algebra, with the trend as a very wide Gaussian."""

from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

WIDE = 1e3  # standard deviation of the trend's coefficients


def shape(z, smallest_spacing):
    """T0, w, k and p of a row of standard normal numbers."""
    share, least = norm.cdf(z), 0.05 * smallest_spacing
    width, power = least * (0.5 / least) ** share[1], 0.05 * 240 ** share[3]
    return 1.4 * (share[0] - 0.5), width, np.tanh(z[2] / 2), power


def peak(z, t, of_slope, smallest_spacing):
    """The peak as it is measured at t (n,), which begins at -1/2 and ends at 1/2."""
    centre, width, skew, power = shape(z, smallest_spacing)

    def f(t):
        x, c = (t - centre) / width, np.sqrt(1 - 2 ** (-1 / power))
        return (1 + (x + skew * (np.sqrt(c**2 + x**2) - c)) ** 2) ** -power

    low = min(f(-0.5), f(0.5))
    if not of_slope:
        return (f(t) - low) / (1 - low)
    steps = [quad(lambda t: f(t) - low, a, b, limit=200)[0] for a, b in pairwise(t)]
    rise = np.r_[0, np.cumsum(steps)]
    return rise / rise[-1] - 0.5


def features(z, t, of_slope, length, size, n_waves, smallest_spacing):
    """(n, columns) whose independent unit normals make up the curve; the first is the peak."""
    k = np.pi * np.arange(1, n_waves + 1)
    spectrum = np.exp(-((k * 0.8 * length) ** 2) / 2)
    phase = k * (0.5 + 0.8 * t[:, None])
    waves = np.sin(phase) / (0.8 * k) if of_slope else np.cos(phase)
    trend = [np.ones_like(t), t] + ([t**2 / 2] if of_slope else [])
    return np.column_stack(
        [
            peak(z, t, of_slope, smallest_spacing),
            WIDE * np.array(trend).T,
            waves * size * np.sqrt(spectrum / spectrum.sum()),
        ]
    )


def posterior(z, v, y, errors, of_slope, length, size, noise, at):
    """Log likelihood, and mean and standard deviation of the measured curve at `at`, v among them."""
    wanted = features(z, at, of_slope, length, size, min(2 * len(v), 30), np.diff(v).min())
    design = wanted[np.searchsorted(at, v)]
    covariance = design @ design.T + np.diag((noise * errors) ** 2)
    off = y - design[:, 0]  # the peak's amplitude is 1 on average
    solved = np.linalg.solve(covariance, np.column_stack([off, design @ wanted.T]))
    log_likelihood = -0.5 * (np.linalg.slogdet(covariance)[1] + off @ solved[:, 0])
    gain = wanted @ design.T
    variance = (wanted**2).sum(axis=1) - np.einsum("ij,ji->i", gain, solved[:, 1:])
    return log_likelihood, wanted[:, 0] + gain @ solved[:, 0], np.sqrt(np.maximum(variance, 0))
