"""Errors by resampling: of samples, or of measured values within their errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError
from thermorbm.stats.estimate import Estimate

Seed = int | np.random.SeedSequence


def bootstrap(
    samples: ArrayLike,
    function: Callable[[NDArray[np.float64]], float],
    n_draws: int = 200,
    seed: Seed = 0,
) -> Estimate:
    """A function of the column means of independent samples (n, k), with the spread over resampled rows.

    Unlike the jackknife it also serves functions that are not smooth, such as a maximum or a median.
    """
    x = np.asarray(samples, dtype=np.float64)
    x = x.reshape(len(x), -1)
    _check(len(x), n_draws)
    rng = np.random.default_rng(seed)
    draws = [function(x[rng.integers(len(x), size=len(x))].mean(axis=0)) for _ in range(n_draws)]
    return Estimate(float(function(x.mean(axis=0))), float(np.std(draws, ddof=1)))


def normal_draws(values: ArrayLike, errors: ArrayLike, n_draws: int, seed: Seed) -> NDArray[np.float64]:
    """(n_draws, *shape): the values moved at random within their independent normal errors."""
    x, sigma = np.asarray(values, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if x.shape != sigma.shape:
        raise InputError("errors", sigma.shape, f"an array of the values' shape {x.shape}")
    if not np.all(np.isfinite(x)) or not np.all(np.isfinite(sigma) & (sigma >= 0)):
        raise InputError("values and errors", (x, sigma), "finite numbers, errors >= 0")
    _check(2, n_draws)
    rng = np.random.default_rng(seed)
    return np.asarray(x + sigma * rng.standard_normal((n_draws, *x.shape)))


def _check(n_samples: int, n_draws: int) -> None:
    if n_samples < 2:
        raise InputError("samples", n_samples, "two or more rows")
    if n_draws < 2:
        raise InputError("n_draws", n_draws, "a whole number >= 2")
