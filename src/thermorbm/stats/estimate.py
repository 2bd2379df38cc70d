"""A value with its standard error, and the jackknife that gives one to any function of averages."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError

Seed = int | np.random.SeedSequence


@dataclass(frozen=True, repr=False)
class Estimate:
    """A measured value and its standard error.

    Sums, products and powers of estimates and numbers are estimates. The package `uncertainties` follows the
    errors: what is computed from the same estimate is correlated, so that x - x is 0 without error.
    """

    value: float
    error: float

    @cached_property
    def uncertain(self) -> Any:
        """The same for the package `uncertainties`, with all its functions; a number where the error is 0."""
        from uncertainties import ufloat

        return ufloat(self.value, self.error) if self.error else self.value

    def __str__(self) -> str:
        """The error in units of the last digits, two of them.

        >>> str(Estimate(0.35297, 0.0069))
        '0.3530(69)'
        """
        if not (np.isfinite(self.value) and np.isfinite(self.error) and self.error > 0):
            return f"{self.value:.6g}" if self.error == 0 else f"{self.value:.6g}({self.error:.2g})"
        digits = 1 - int(np.floor(np.log10(self.error)))
        if round(self.error * 10.0**digits) == 100:  # 0.0996 is 0.10
            digits -= 1
        if digits <= 0:
            return f"{round(self.value, digits):.0f}({round(self.error, digits):.0f})"
        in_last_digits = round(self.error * 10.0**digits)
        shown = f"{self.error:.{digits}f}" if self.error >= 1 else f"{in_last_digits}"
        return f"{self.value:.{digits}f}({shown})"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        """As `uncertainties` formats: ".1u" for one digit of the error, "P" for 0.353±0.007."""
        return format(self.uncertain, spec) if spec else str(self)

    def __float__(self) -> float:
        return float(self.value)

    def __neg__(self) -> Estimate:
        return _combined(operator.neg, self)

    def __abs__(self) -> Estimate:
        return -self if self.value < 0 else self

    def __add__(self, other: Estimate | float) -> Estimate:
        return _combined(operator.add, self, other)

    def __radd__(self, other: float) -> Estimate:
        return _combined(operator.add, other, self)

    def __sub__(self, other: Estimate | float) -> Estimate:
        return _combined(operator.sub, self, other)

    def __rsub__(self, other: float) -> Estimate:
        return _combined(operator.sub, other, self)

    def __mul__(self, other: Estimate | float) -> Estimate:
        return _combined(operator.mul, self, other)

    def __rmul__(self, other: float) -> Estimate:
        return _combined(operator.mul, other, self)

    def __truediv__(self, other: Estimate | float) -> Estimate:
        return _combined(operator.truediv, self, other)

    def __rtruediv__(self, other: float) -> Estimate:
        return _combined(operator.truediv, other, self)

    def __pow__(self, other: Estimate | float) -> Estimate:
        return _combined(operator.pow, self, other)

    def __getstate__(self) -> dict[str, float]:
        return {"value": self.value, "error": self.error}  # correlations end with the process

    def scaled(self, factor: float) -> Estimate:
        """A known number times this, as of a total per spin."""
        return Estimate(factor * self.value, abs(factor) * self.error)

    def z_score(self, truth: float) -> float:
        """Distance from the truth in standard errors; 0 where both agree exactly and the error is 0."""
        distance = self.value - truth
        return 0.0 if distance == 0 else float(np.divide(distance, self.error))


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Measured values and their standard errors, arrays of one shape."""

    values: NDArray[np.float64]
    errors: NDArray[np.float64]

    def __repr__(self) -> str:
        pairs = list(zip(np.ravel(self.values), np.ravel(self.errors), strict=True))
        shown = [str(Estimate(*pair)) for pair in pairs[:2] + pairs[2:][-2:]]
        if len(pairs) > 4:
            shown.insert(2, "...")
        return f"Estimates({', '.join(shown)})"

    @classmethod
    def stack(cls, estimates: Iterable[Estimate]) -> Estimates:
        """(n,) values and errors of n estimates."""
        pairs = [(estimate.value, estimate.error) for estimate in estimates]
        values, errors = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        return cls(values, errors)


def _combined(operation: Callable[..., Any], *operands: Any) -> Estimate:
    """The operation on values with errors, as an Estimate; NotImplemented for what is not a number."""
    if not all(isinstance(each, Estimate | Real) for each in operands):
        return cast(Estimate, NotImplemented)
    plain = [each.uncertain if isinstance(each, Estimate) else float(each) for each in operands]
    result = operation(*plain)
    if isinstance(result, float):
        return Estimate(result, 0.0)
    estimate = Estimate(float(result.nominal_value), float(result.std_dev))
    estimate.__dict__["uncertain"] = result  # keeps what it is correlated with
    return estimate


def mean_estimate(samples: ArrayLike) -> Estimate:
    """Mean of independent samples (n,) and its standard error."""
    x = _series(samples)
    return Estimate(float(x.mean()), float(x.std(ddof=1) / np.sqrt(len(x))))


def variance_estimate(samples: ArrayLike, n_blocks: int = 100) -> Estimate:
    """Variance of independent samples (n,), <x^2> - <x>^2 over n, and its jackknife error."""
    x = _series(samples)
    x = x - x.mean()  # squares of the distance from the mean do not cancel
    jackknifed = jackknife(np.stack([x, x * x], axis=1), lambda m: float(m[1] - m[0] ** 2), n_blocks)
    return Estimate(float(np.mean(x * x)), jackknifed.error)


def jackknife(
    samples: ArrayLike, function: Callable[[NDArray[np.float64]], float], n_blocks: int = 100
) -> Estimate:
    """A function of the column means of samples (n, k), bias-corrected, with its delete-one-block error.

    Blocks are contiguous, so samples that stay correlated within one block do no harm.
    """
    estimates = jackknife_many(samples, lambda means: np.asarray([function(means)]), n_blocks)
    return Estimate(float(estimates.values[0]), float(estimates.errors[0]))


def jackknife_many(
    samples: ArrayLike, function: Callable[[NDArray[np.float64]], NDArray[np.float64]], n_blocks: int = 100
) -> Estimates:
    """The same for a function that gives an array: every element bias-corrected, with its own error.

    There are at most n_blocks blocks of equal size; fewer samples than one block's may be left over.
    """
    x = np.asarray(samples, dtype=np.float64)
    x = x.reshape(len(x), -1)
    if len(x) < 2 or n_blocks < 2:
        raise InputError("samples", x.shape, "two or more rows, in two or more blocks")
    size = min(-(-len(x) // n_blocks), len(x) // 2)
    n_blocks = len(x) // size
    block_means = x[: n_blocks * size].reshape(n_blocks, size, -1).mean(axis=1)
    whole = function(block_means.mean(axis=0))
    left_out = (block_means.sum(axis=0) - block_means) / (n_blocks - 1)
    partial = np.array([function(row) for row in left_out])
    centre = partial.mean(axis=0)
    errors = np.sqrt((n_blocks - 1) * np.mean((partial - centre) ** 2, axis=0))
    return Estimates(np.asarray(n_blocks * whole - (n_blocks - 1) * centre), np.asarray(errors))


def _series(samples: ArrayLike) -> NDArray[np.float64]:
    x = np.asarray(samples, dtype=np.float64)
    if x.ndim != 1 or len(x) < 2:
        raise InputError("samples", x.shape, "two or more values in one dimension")
    return x


def normal_draws(values: ArrayLike, errors: ArrayLike, n_draws: int, seed: Seed) -> NDArray[np.float64]:
    """(n_draws, *shape): the values moved at random within their independent normal errors."""
    x, sigma = np.asarray(values, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if x.shape != sigma.shape:
        raise InputError("errors", sigma.shape, f"an array of the values' shape {x.shape}")
    if not np.all(np.isfinite(x)) or not np.all(np.isfinite(sigma) & (sigma >= 0)):
        raise InputError("values and errors", (x, sigma), "finite numbers, errors >= 0")
    if n_draws < 2:
        raise InputError("n_draws", n_draws, "a whole number >= 2")
    rng = np.random.default_rng(seed)
    return np.asarray(x + sigma * rng.standard_normal((n_draws, *x.shape)))
