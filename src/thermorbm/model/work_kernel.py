"""ln of the ratio of two hidden factors, prod_i cosh(beta' x_i) / cosh(beta x_i), in one pass over x."""

from __future__ import annotations

import math
from typing import Any

import numba as nb
import numpy as np
from numba.core import types
from numba.extending import overload
from numpy.typing import NDArray

from thermorbm.model.random_units import _exp2

_FACTORS = 512  # each lies in (1, 2], so that a product of 512 stays below 2^512
_MINUS_TWO_IN_BITS = np.float32(-2 / math.log(2))


def hidden_work(
    x: NDArray[Any], beta: NDArray[np.float64], to_beta: NDArray[np.float64]
) -> NDArray[np.float64]:
    """sum_i ln 2cosh(to_beta x_i) - ln 2cosh(beta x_i) of each row. x: (n, m); betas: (n,) -> (n,).

    In float64 right to rounding; in float32 each factor is right to 2e-7 of itself.
    """
    work = np.empty(len(x))
    _hidden_work(x, beta.astype(x.dtype), to_beta.astype(x.dtype), work)
    return work


def _decay(y: Any) -> Any:
    """exp(-2 y) for y >= 0."""
    raise NotImplementedError  # the compiled versions follow


@overload(_decay, strict=False, inline="always")
def _decay_of_type(y: Any) -> Any:
    if y == types.float32:
        return lambda y: _exp2(max(_MINUS_TWO_IN_BITS * y, np.float32(-126)))
    return lambda y: np.exp(-2 * y)


@nb.njit(cache=True, fastmath={"contract", "reassoc"})
def _hidden_work(x: Any, beta: Any, to_beta: Any, work: Any) -> None:
    for row in range(len(x)):
        a, b = beta[row], to_beta[row]
        size, logs = 0.0, 0.0
        for start in range(0, x.shape[1], _FACTORS):
            units = x[row, start : start + _FACTORS]
            above, below = 1.0, 1.0
            for i in range(units.size):
                y = abs(units[i])
                size += np.float64(y)
                above *= 1.0 + np.float64(_decay(b * y))
                below *= 1.0 + np.float64(_decay(a * y))
            logs += np.log(above / below)
        work[row] = (np.float64(b) - np.float64(a)) * size + logs
