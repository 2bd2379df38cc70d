"""The density of states from samples at several temperatures: the multi-histogram equations (WHAM, MBAR).

Ferrenberg & Swendsen 1989, Shirts & Chodera 2008. With n_k samples at beta_k and H(E) samples of energy E,

    Omega(E) = H(E) / sum_k n_k exp(f_k - beta_k E),     exp(-f_k) = sum_E Omega(E) exp(-beta_k E).

The f_k, free energies over T up to a common constant, are the minimum of a convex function, which scipy's
trust-region method finds with its exact second derivatives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, logsumexp

from thermorbm.errors import InputError

Array = NDArray[np.float64]

_GRADIENT, _WORST_GRADIENT = 1e-10, 1e-6  # of the shares of samples: asked for, and still accepted
_MOST_STEPS = 50


def free_energies(betas: Array, energies: Array, occupation: Array) -> Array:
    """f_k (K,), the first of them 0, from numbers of samples (K, G); betas (K,) ascend or descend."""
    counts = occupation.sum(axis=1)
    weight, share = occupation.sum(axis=0) / counts.sum(), counts / counts.sum()

    def function(f: Array) -> tuple[float, Array]:
        p, normal = posterior(betas, counts, energies, np.concatenate([[0.0], f]))
        return float(weight @ normal - share[1:] @ f), (p @ weight - share)[1:]

    def hessian(f: Array) -> Array:
        p, _ = posterior(betas, counts, energies, np.concatenate([[0.0], f]))
        return _second_derivatives(p, weight)[1:, 1:]

    start = _first_guess(betas, energies, occupation)
    if len(betas) == 1:
        return start
    options = {"gtol": _GRADIENT}
    result = minimize(function, start[1:], jac=True, hess=hessian, method="trust-exact", options=options)
    if np.abs(result.jac).max() > _WORST_GRADIENT:
        raise InputError("series of temperatures", f"{len(betas)} that do not join", "energies in common")
    return np.concatenate([[0.0], result.x])


def posterior(betas: Array, counts: Array, energies: Array, f: Array) -> tuple[Array, Array]:
    """P(k | E) (K, G), from which temperature a sample of energy E comes, and the logarithm (G,) of
    sum_k n_k exp(f_k - beta_k E), which normalises it.
    """
    logs = (np.log(counts) + f)[:, None] - betas[:, None] * energies
    normal = logsumexp(logs, axis=0)
    return np.exp(logs - normal), normal


def resampled_factors(p: Array, counts: Array, resampled_counts: Array, totals: Array) -> Array:
    """What multiplies n_k exp(f_k) in resampled data, (n_rows, K), p (K, G) and counts (K,) being the data's.

    resampled_counts: (n_rows, K); totals: (n_rows, G). Resampled data differ little, so that the data's own
    second derivatives serve Newton's steps of all rows at once.
    """
    sizes = totals.sum(axis=1, keepdims=True)
    weights, shares = totals / sizes, resampled_counts / sizes
    total = weights.mean(axis=0)
    inverse = np.linalg.pinv(_second_derivatives(p, total), hermitian=True)
    factors = resampled_counts / counts
    for _ in range(_MOST_STEPS):
        gradient = factors * ((weights / (factors @ p)) @ p.T) - shares
        if np.abs(gradient).max() < _GRADIENT:
            break
        factors = factors * np.exp(-gradient @ inverse)
    if np.abs(gradient).max() > _WORST_GRADIENT:
        raise InputError("samples", "too few for resampling", "more samples per temperature")
    return np.asarray(factors / (factors[:, :1] * counts[0] / resampled_counts[:, :1]))


def _second_derivatives(p: Array, weight: Array) -> Array:
    return np.asarray(np.diag(p @ weight) - (p * weight) @ p.T)


def _first_guess(betas: Array, energies: Array, occupation: Array) -> Array:
    """f_k (K,) from d f / d beta = <E>, by trapezia between neighbouring temperatures."""
    means = occupation @ energies / occupation.sum(axis=1)
    steps = np.diff(betas) * (means[1:] + means[:-1]) / 2
    return np.concatenate([[0.0], np.cumsum(steps)])


def shared_samples(betas: Array, occupation: Array, energies: Array) -> float:
    """How many samples of two temperatures tell their free energies apart: sum of P(1|E) P(2|E) over them.

    betas: (2,), occupation: (2, G). The inverse of this sum is the variance of f_2 - f_1, but for the
    smaller terms 1/n_1 and 1/n_2 (Bennett 1976).
    """
    counts, total = occupation.sum(axis=1), occupation.sum(axis=0)
    log_ratio = np.log(counts[1] / counts[0]) - (betas[1] - betas[0]) * energies
    missing = lambda f: float(total @ expit(log_ratio + f) - counts[1])  # noqa: E731
    reach = float(np.abs(betas[1] - betas[0]) * np.abs(energies).max() + 50)
    p = expit(log_ratio + brentq(missing, -2 * reach, 2 * reach))
    return float(total @ (p * (1 - p)))
