"""Samples of a posterior by annealing a population: prior to posterior in steps, with moves in between.

At each step as much of the likelihood is added as leaves half of the population effective; the likely ones
are multiplied, and all are moved by the difference of two others (sequential Monte Carlo, Del Moral et al.
2006; differential evolution, ter Braak 2006). Ridges and several maxima are followed as they appear.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_FIRST, _POPULATION = 2000, 200
_MOVES, _LAST_MOVES = 2, 12  # after each step, and after the last
_JITTER = 0.01  # of the population's spread


def sample_posterior(
    log_likelihood: Callable[[Array], Array], n_parameters: int, rng: np.random.Generator
) -> Array:
    """Rows of parameters, (200, n_parameters), whose prior is standard normal."""
    z = rng.standard_normal((_FIRST, n_parameters))
    values, power = log_likelihood(z), 0.0
    while power < 1:
        before, power = power, _next_power(values, power)
        kept = _resampled(np.exp((power - before) * (values - values.max())), rng)
        z, values = z[kept], values[kept]
        for _ in range(_MOVES if power < 1 else _LAST_MOVES):
            _move(z, values, log_likelihood, power, rng)
    return z


def log_sum(logarithms: Array) -> Array:
    """ln of the sum of each row's exponentials. (k, m) -> (k,)."""
    largest = logarithms.max(axis=1)
    return np.asarray(largest + np.log(np.exp(logarithms - largest[:, None]).sum(axis=1)))


def _next_power(values: Array, power: float) -> float:
    """The largest power of the likelihood that leaves half of the population effective, by bisection."""

    def is_enough(trial: float) -> bool:
        weights = np.exp((trial - power) * (values - values.max()))
        return bool(weights.sum() ** 2 >= _POPULATION / 2 * np.sum(weights**2))

    if is_enough(1.0):
        return 1.0
    low, high = power, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if is_enough(middle) else (low, middle)
    return high


def _resampled(weights: Array, rng: np.random.Generator) -> NDArray[np.intp]:
    ladder = np.cumsum(weights) / weights.sum()
    places = (rng.random() + np.arange(_POPULATION)) / _POPULATION
    return np.minimum(np.searchsorted(ladder, places), len(weights) - 1)


def _move(
    z: Array,
    values: Array,
    log_likelihood: Callable[[Array], Array],
    power: float,
    rng: np.random.Generator,
) -> None:
    """Each half moves along differences of the other half, in place: steps of Metropolis."""
    order, half, d = rng.permutation(len(z)), len(z) // 2, z.shape[1]
    spread = _JITTER * z.std(axis=0)
    for moving, other in ((order[:half], order[half:]), (order[half:], order[:half])):
        first = rng.integers(half, size=half)
        second = (first + 1 + rng.integers(half - 1, size=half)) % half
        stride = 2.38 / np.sqrt(2 * d) * np.exp(0.6 * rng.standard_normal((half, 1)) - 0.4)
        step = stride * (z[other[first]] - z[other[second]]) + spread * rng.standard_normal((half, d))
        trial = z[moving] + step
        found = log_likelihood(trial)
        gain = power * (found - values[moving]) - (trial**2 - z[moving] ** 2).sum(axis=1) / 2
        taken = np.log(rng.random(half)) < gain
        z[moving[taken]], values[moving[taken]] = trial[taken], found[taken]
