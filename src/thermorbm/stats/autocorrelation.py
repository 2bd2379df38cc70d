"""Integrated autocorrelation time of many parallel chains."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft

from thermorbm.errors import InputError

# Sokal's window: the sum over lags stops at WINDOW autocorrelation times.
WINDOW = 6.0


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
