"""A value with its standard error, and the jackknife that gives one to any function of averages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError


@dataclass(frozen=True)
class Estimate:
    """A measured value and its standard error."""

    value: float
    error: float

    def z_score(self, truth: float) -> float:
        """Distance from the truth in standard errors; 0 where both agree exactly and the error is 0."""
        distance = self.value - truth
        return 0.0 if distance == 0 else float(np.divide(distance, self.error))


def mean_estimate(samples: ArrayLike) -> Estimate:
    """Mean of independent samples (n,) and its standard error."""
    x = np.asarray(samples, dtype=np.float64)
    if x.ndim != 1 or len(x) < 2:
        raise InputError("samples", x.shape, "two or more values in one dimension")
    return Estimate(float(x.mean()), float(x.std(ddof=1) / np.sqrt(len(x))))


def jackknife(
    samples: ArrayLike, function: Callable[[NDArray[np.float64]], float], n_blocks: int = 100
) -> Estimate:
    """A function of the column means of samples (n, k), bias-corrected, with its delete-one-block error.

    Blocks are contiguous, so samples that stay correlated within one block do no harm.
    """
    x = np.asarray(samples, dtype=np.float64)
    x = x.reshape(len(x), -1)
    n_blocks = min(n_blocks, len(x))
    if n_blocks < 2:
        raise InputError("samples", x.shape, "two or more rows")
    used = x[: len(x) // n_blocks * n_blocks]
    block_means = used.reshape(n_blocks, -1, x.shape[1]).mean(axis=1)
    whole = function(block_means.mean(axis=0))
    left_out = (block_means.sum(axis=0) - block_means) / (n_blocks - 1)
    partial = np.array([function(row) for row in left_out])
    error = np.sqrt((n_blocks - 1) * np.mean((partial - partial.mean()) ** 2))
    return Estimate(float(n_blocks * whole - (n_blocks - 1) * partial.mean()), float(error))
