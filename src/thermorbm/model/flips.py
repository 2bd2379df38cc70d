"""What it costs a dense machine to flip one visible unit, for all units in one pass of rank-one updates.

Flipping v_j moves the hidden input x_i by -2 a, a = W_ij v_j, and the hidden term by
    ln cosh(x_i - 2 a) - ln cosh(x_i) = -2 a + ln(p_i + q_i e^(4 a)),  p_i = sigma(2 x_i), q_i = 1 - p_i.
Both terms of p + q e^(4 a) are positive, so nothing cancels however saturated the unit, and the sum over i is
the logarithm of a product: one multiply-add and one multiply per weight. A factor lies between 1 and e^(4 a);
products are cut into runs short enough not to overflow.
"""

from __future__ import annotations

import math
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from thermorbm.model.energy import log_2cosh_sum

_SITES_PER_BLOCK = 64  # their tables stay in the second-level cache
_ROWS_PER_BLOCK = 512


def hidden_term_changes(x: NDArray[Any], W: NDArray[Any], v: NDArray[Any]) -> NDArray[np.float64]:
    """Change of sum_i ln 2cosh(x_i) when v_j flips. x: (n, n_hidden) hidden inputs of v -> (n, n_visible)."""
    p, q = expit(2 * x), expit(-2 * x)
    changes = np.empty(v.shape)
    for start in range(0, v.shape[1], _SITES_PER_BLOCK):
        sites = slice(start, start + _SITES_PER_BLOCK)
        weights = np.ascontiguousarray(W[:, sites].T)
        run = _longest_run(weights)
        if run:
            changes[:, sites] = _changes_by_products(p, q, weights, v[:, sites], run)
        else:
            changes[:, sites] = _changes_one_by_one(x, weights, v[:, sites])
    return changes


def hidden_term_change(x: NDArray[Any], weights: NDArray[Any], spins: NDArray[Any]) -> NDArray[np.float64]:
    """The same at one site per row. x, weights (of the row's site): (n, n_hidden); spins: (n,) -> (n,)."""
    moved = x - 2 * weights * spins[:, None]
    return log_2cosh_sum(moved) - log_2cosh_sum(x)


def _longest_run(weights: NDArray[Any]) -> int:
    """How many consecutive factors can be multiplied within range; 0 if even one factor overflows."""
    limit = math.log(np.finfo(weights.dtype).max) * 0.95
    sizes = 4 * np.abs(weights.astype(np.float64))
    run = sizes.shape[1]
    while run and np.add.reduceat(sizes, np.arange(0, sizes.shape[1], run), axis=1).max() > limit:
        run = (run + 1) // 2 if run > 1 else 0
    return int(run)


def _changes_by_products(
    p: NDArray[Any], q: NDArray[Any], weights: NDArray[Any], v: NDArray[Any], run: int
) -> NDArray[np.float64]:
    up, down = np.exp(4 * weights), np.exp(-4 * weights)
    logs = np.empty(v.shape)
    for start in range(0, len(v), _ROWS_PER_BLOCK):
        rows = slice(start, start + _ROWS_PER_BLOCK)
        _log_products(p[rows], q[rows], up, down, v[rows] > 0, run, logs[rows])
    return np.asarray(logs - 2 * v * weights.sum(axis=1, dtype=np.float64))


def _changes_one_by_one(x: NDArray[Any], weights: NDArray[Any], v: NDArray[Any]) -> NDArray[np.float64]:
    """For weights beyond the range of the exponential, |W| > 170 in float64: no products, slow."""
    columns = [hidden_term_change(x, column[None, :], v[:, j]) for j, column in enumerate(weights)]
    return np.stack(columns, axis=1)


@nb.njit(cache=True, fastmath={"contract", "reassoc", "nsz"})
def _product(p: Any, q: Any, table: Any) -> Any:
    """prod_i (p_i + q_i t_i); reassociation lets the compiler multiply in vector lanes."""
    product = p.dtype.type(1)
    for i in range(p.size):
        product *= p[i] + q[i] * table[i]
    return product


@nb.njit(cache=True)
def _log_products(p: Any, q: Any, up: Any, down: Any, positive: Any, run: Any, logs: Any) -> None:
    """ln prod_i (p_i + q_i e^(4 W_ij v_j)) of every row and site, in products of `run` factors."""
    for j in range(up.shape[0]):
        for k in range(p.shape[0]):
            table = up[j] if positive[k, j] else down[j]
            total = 0.0
            for i in range(0, p.shape[1], run):
                total += math.log(_product(p[k, i : i + run], q[k, i : i + run], table[i : i + run]))
            logs[k, j] = total
