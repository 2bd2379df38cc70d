"""A function of the coupling K carried together with its first and second derivative.

ln Z gives the energy by its first derivative in K and the heat capacity by its second. With the chain rule in
one place, the partition functions of this room are written once and differentiated exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Jet:
    """Value, first and second derivative in K, arrays of one shape."""

    value: FloatArray
    first: FloatArray
    second: FloatArray

    # Without this numpy would try array * jet element by element instead of asking the jet.
    __array_ufunc__ = None

    def __add__(self, other: Jet | float) -> Jet:
        if isinstance(other, Jet):
            return Jet(self.value + other.value, self.first + other.first, self.second + other.second)
        return Jet(self.value + other, self.first, self.second)

    def __mul__(self, other: Jet | float | FloatArray) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.first * other, self.second * other)
        return Jet(
            self.value * other.value,
            self.first * other.value + self.value * other.first,
            self.second * other.value + 2 * self.first * other.first + self.value * other.second,
        )

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, other: Jet | float) -> Jet:
        return self + -other

    def __rsub__(self, other: float) -> Jet:
        return -self + other

    def __truediv__(self, other: Jet) -> Jet:
        value = self.value / other.value
        first = (self.first - value * other.first) / other.value
        second = (self.second - value * other.second - 2 * first * other.first) / other.value
        return Jet(value, first, second)

    __radd__ = __add__
    __rmul__ = __mul__

    def sum(self) -> Jet:
        """Sum over the leading axis."""
        return Jet(self.value.sum(axis=0), self.first.sum(axis=0), self.second.sum(axis=0))

    def reshape(self, shape: tuple[int, ...]) -> Jet:
        """The same numbers in another shape."""
        return Jet(self.value.reshape(shape), self.first.reshape(shape), self.second.reshape(shape))


def sqrt(f: Jet) -> Jet:
    """Square root of f, and its derivatives."""
    root = np.sqrt(f.value)
    first = f.first / (2 * root)
    return Jet(root, first, (f.second / 2 - first**2) / root)


def exp(f: Jet) -> Jet:
    """e to the power of f, and its derivatives."""
    return _with_derivatives_of_exp(np.exp(f.value), f)


def expm1(f: Jet) -> Jet:
    """e^f - 1, exact for small f, and its derivatives."""
    return _with_derivatives_of_exp(np.expm1(f.value), f)


def log(f: Jet) -> Jet:
    """ln f, and its derivatives."""
    return _with_derivatives_of_log(np.log(f.value), f, f.value)


def log1p(f: Jet) -> Jet:
    """ln(1 + f), exact for small f, and its derivatives."""
    return _with_derivatives_of_log(np.log1p(f.value), f, 1 + f.value)


def piecewise(points: FloatArray, pieces: Sequence[tuple[BoolArray, Callable[[FloatArray], Jet]]]) -> Jet:
    """A jet (n,) made of one function of `points` (n,) per mask; the masks part the points among them."""
    whole = Jet(*(np.empty_like(points) for _ in range(3)))
    for mask, function in pieces:
        if mask.any():
            part = function(points[mask])
            whole.value[mask], whole.first[mask], whole.second[mask] = part.value, part.first, part.second
    return whole


def _with_derivatives_of_exp(value: FloatArray, f: Jet) -> Jet:
    power = np.exp(f.value)
    return Jet(value, power * f.first, power * (f.second + f.first**2))


def _with_derivatives_of_log(value: FloatArray, f: Jet, argument: FloatArray) -> Jet:
    first = f.first / argument
    return Jet(value, first, f.second / argument - first**2)
