"""The posterior of a random spline in plain linear algebra, with polynomials as very wide Gaussians.

f(u) = sqrt(roughness) sum_s (u - s)_+^(q-1) / (q-1)! xi_s sqrt(ds) + polynomials, on a fine ladder of s.
"""

import math

import numpy as np

WIDE = 1e6


def features(q, u, n_kicks=4000):
    """(len(u), q + n_kicks): columns whose independent unit normals make up f, roughness 1."""
    s = (np.arange(n_kicks) + 0.5) / n_kicks
    kicks = np.maximum(u[:, None] - s, 0) ** (q - 1) / math.factorial(q - 1) / math.sqrt(n_kicks)
    return np.hstack([np.sqrt(WIDE) * u[:, None] ** np.arange(q), kicks])


def slope_features(q, u, n_kicks=4000):
    """The same for f'."""
    s = (np.arange(n_kicks) + 0.5) / n_kicks
    inside = u[:, None] > s
    kicks = np.where(inside, u[:, None] - s, 0.0) ** (q - 2) * inside
    kicks /= math.factorial(q - 2) * math.sqrt(n_kicks)
    powers = np.stack([k * u ** max(k - 1, 0) for k in range(q)], axis=1)
    return np.hstack([np.sqrt(WIDE) * powers, kicks])


def posterior(q, u, y, sigma, roughness, at):
    """Log evidence, and mean and standard deviation of f and of f' at points `at`."""
    scale = np.r_[np.ones(q), np.full(4000, np.sqrt(roughness))]
    design = features(q, u) * scale
    covariance = design @ design.T + np.diag(sigma**2)
    solve = np.linalg.solve
    _, log_det = np.linalg.slogdet(covariance)
    evidence = -0.5 * (log_det + y @ solve(covariance, y))
    found = []
    for wanted in (features(q, at) * scale, slope_features(q, at) * scale):
        gain = wanted @ design.T
        mean = gain @ solve(covariance, y)
        spread = (wanted**2).sum(axis=1) - np.einsum("ij,ji->i", gain, solve(covariance, gain.T))
        found.append((mean, np.sqrt(np.maximum(spread, 0))))
    return evidence, found[0], found[1]
