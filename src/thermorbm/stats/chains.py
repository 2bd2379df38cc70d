"""Chains: how long they remember, and whether parallel ones agree with one another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import fdtri  # scipy.stats takes half a second to import

from thermorbm.errors import InputError

# Sokal's window: the sum over lags stops at WINDOW autocorrelation times.
WINDOW = 6.0


def split_r_hat(series: ArrayLike) -> float:
    """Split R-hat (Gelman & Rubin, each chain cut in half) of (n_steps >= 4, n_chains); 1 when all agree."""
    x = np.asarray(series, dtype=np.float64)
    if x.ndim != 2 or len(x) < 4:
        raise InputError("series", x.shape, "an array (n_steps >= 4, n_chains)")
    half = len(x) // 2
    halves = np.concatenate([x[:half], x[-half:]], axis=1)
    within = float(halves.var(axis=0, ddof=1).mean())
    between = float(halves.mean(axis=0).var(ddof=1))
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def split_r_hat_limit(n_steps: int, n_chains: int, probability: float) -> float:
    """The split R-hat that independent normal values (n_steps, n_chains) exceed with that probability.

    n B / W, with the variances between and within half-chains of n steps, then follows the F distribution.
    """
    half, n_halves = n_steps // 2, 2 * n_chains
    largest = float(fdtri(n_halves - 1, n_halves * (half - 1), 1 - probability))
    return float(np.sqrt((half - 1 + largest) / half))


def difference_z_score(first: ArrayLike, second: ArrayLike) -> float:
    """Difference of the means of two sets of independent values, in standard errors."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(a) < 2 or len(b) < 2:
        raise InputError("sample sizes", (len(a), len(b)), "two or more each")
    distance = a.mean() - b.mean()
    error = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    if distance == 0:
        return 0.0
    return float(distance / error) if error > 0 else float(np.copysign(np.inf, distance))


def autocorrelation_time(series: ArrayLike) -> float:
    """tau_int = 1/2 + sum of rho(t), in steps, of chains (n_steps, n_chains) that share one distribution.

    The mean is taken over all chains, so that short chains do not bias the sum; the window is Sokal's. Never
    below 1/2: chains that oscillate count as independent. A series that does not vary has 1/2.
    """
    x = np.asarray(series, dtype=np.float64)
    if x.ndim != 2 or len(x) < 2:
        raise InputError("series", x.shape, "an array (n_steps >= 2, n_chains)")
    x = x - x.mean()
    variance = float(np.mean(x * x))
    if variance == 0:
        return 0.5
    rho = _autocovariance(x) / variance
    sums = 0.5 + np.cumsum(rho[1:])
    beyond = np.flatnonzero(np.arange(1, len(x)) >= WINDOW * sums)
    return max(0.5, float(sums[beyond[0]] if len(beyond) else sums[-1]))


def effective_sample_size(series: ArrayLike) -> float:
    """How many independent samples the (n_steps, n_chains) values of the series are worth."""
    x = np.asarray(series, dtype=np.float64)
    return x.size if len(x) < 2 else x.size / (2 * autocorrelation_time(x))


def _autocovariance(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Autocovariance at lags 0 ... n_steps - 1 of series of mean zero, averaged over chains."""
    n_steps = len(x)
    size = next_fast_len(2 * n_steps, real=True)
    power = np.zeros(size // 2 + 1)
    for start in range(0, x.shape[1], 64):  # blocks of chains bound the memory
        power += (np.abs(rfft(x[:, start : start + 64], size, axis=0)) ** 2).sum(axis=1)
    lags = irfft(power, size)[:n_steps]
    return np.asarray(lags / (np.arange(n_steps, 0, -1) * x.shape[1]))
