"""Histograms on common bins, with the moments that tell a Gaussian from a pair of peaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError


@dataclass(frozen=True, eq=False)
class Distribution:
    """A probability density on bins and the moments of the values themselves.

    edges: (n_bins + 1,). density: (n_bins,), integrates to the fraction of the values inside the edges.
    skewness and excess_kurtosis are 0 for a Gaussian, and also where the values do not vary.
    """

    edges: NDArray[np.float64]
    density: NDArray[np.float64]
    n_values: int
    mean: float
    variance: float
    skewness: float
    excess_kurtosis: float

    @property
    def bimodality(self) -> float:
        """Sarle's coefficient (skewness^2 + 1) / kurtosis: 1/3 Gaussian, 5/9 flat, 1 two sharp peaks."""
        return (self.skewness**2 + 1) / (self.excess_kurtosis + 3)


def common_edges(samples: Sequence[ArrayLike], n_bins: int = 60) -> NDArray[np.float64]:
    """(n_bins + 1,) equal bins that hold the values of all arrays, centred on zero where they straddle it."""
    if n_bins < 1 or not samples:
        raise InputError("n_bins and samples", (n_bins, len(samples)), "at least one bin and one array")
    low = min(float(np.min(np.asarray(values))) for values in samples)
    high = max(float(np.max(np.asarray(values))) for values in samples)
    if low < 0 < high:
        low, high = -max(-low, high), max(-low, high)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, n_bins + 1)


def distribution(values: ArrayLike, edges: ArrayLike | None = None, n_bins: int = 60) -> Distribution:
    """Distribution of all elements of an array, on the given edges or on its own range."""
    x = np.asarray(values, dtype=np.float64).ravel()
    if not len(x) or not np.all(np.isfinite(x)):
        raise InputError("values", f"{len(x)} values", "one or more finite numbers")
    bins = common_edges([x], n_bins) if edges is None else np.asarray(edges, dtype=np.float64)
    counts, _ = np.histogram(x, bins)
    mean, variance, skewness, kurtosis = _moments(x)
    density = counts / (len(x) * np.diff(bins))
    return Distribution(bins, density, len(x), mean, variance, skewness, kurtosis)


def _moments(x: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Mean, variance, skewness, excess kurtosis, all averages over n."""
    mean = float(x.mean())
    distance = x - mean
    variance = float(np.mean(distance**2))
    if variance == 0:
        return mean, 0.0, 0.0, 0.0
    scaled = distance / np.sqrt(variance)
    return mean, variance, float(np.mean(scaled**3)), float(np.mean(scaled**4)) - 3
