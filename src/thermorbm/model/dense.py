"""The paper's machine: every hidden unit sees every visible one.

What it costs to flip one visible unit, for all units in one pass of rank-one updates: flipping v_j moves the
hidden input x_i by -2 a, a = W_ij v_j, and the hidden term by
    ln cosh(x_i - 2 a) - ln cosh(x_i) = -2 a + ln(p_i + q_i e^(4 a)),  p_i = sigma(2 x_i), q_i = 1 - p_i.
Both terms of p + q e^(4 a) are positive, so nothing cancels however saturated the unit, and the sum over i is
the logarithm of a product: one multiply-add and one multiply per weight. A factor lies between 1 and e^(4 a);
products are cut into runs short enough not to overflow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numba as nb
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from thermorbm.errors import FileError, InputError
from thermorbm.model.energy import log_2cosh_sum
from thermorbm.model.machine import Machine, read_machine
from thermorbm.model.units import checked_provenance, floating_type, parameter, real_array

_SITES_PER_BLOCK = 64  # their tables stay in the second-level cache
_ROWS_PER_BLOCK = 512


@dataclass(frozen=True, eq=False, repr=False)
class RBM(Machine):
    """Dense machine with E(v, h) = -b.v - c.h - h.W v.

    W: (n_hidden, n_visible), b: (n_visible,), c: (n_hidden,). Held as read-only copies, in float32 if W is
    float32 and in float64 otherwise; matrix products are taken in that type, further sums in float64.
    provenance: how the machine was made, anything JSON can hold.
    """

    W: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    kind: ClassVar[str] = "rbm"

    def __init__(
        self, W: ArrayLike, b: ArrayLike, c: ArrayLike, provenance: Mapping[str, Any] | None = None
    ) -> None:
        weights = real_array("W", W)
        if weights.ndim != 2 or 0 in weights.shape:
            raise InputError("W", weights.shape, "an array of shape (n_hidden, n_visible), both >= 1")
        dtype = floating_type(weights)
        n_hidden, n_visible = weights.shape
        object.__setattr__(self, "W", parameter("W", weights, weights.shape, dtype))
        object.__setattr__(self, "b", parameter("b", b, (n_visible,), dtype))
        object.__setattr__(self, "c", parameter("c", c, (n_hidden,), dtype))
        object.__setattr__(self, "provenance", checked_provenance(provenance))

    def __repr__(self) -> str:
        return f"RBM(n_hidden={self.n_hidden}, n_visible={self.n_visible}, {self.dtype})"

    @classmethod
    def load(cls, path: str | Path) -> RBM:
        """Reads a file of `save`; an altered or foreign file raises FileError."""
        arrays, metadata = read_machine(path, cls.kind)
        if not {"W", "b", "c"} <= arrays.keys():
            raise FileError(path, f"holds {sorted(arrays)}", "an rbm file holds W, b and c")
        return cls(arrays["W"], arrays["b"], arrays["c"], metadata.get("provenance"))

    @property
    def n_visible(self) -> int:
        """Number of visible units, that is spins."""
        return int(self.W.shape[1])

    @property
    def n_hidden(self) -> int:
        """Number of hidden units."""
        return int(self.W.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the parameters, float32 or float64."""
        return self.W.dtype

    @property
    def parameters(self) -> dict[str, NDArray[Any]]:
        """W, b and c by name."""
        return {"W": self.W, "b": self.b, "c": self.c}

    def hidden_inputs(self, v: NDArray[Any]) -> NDArray[Any]:
        """W v + c. (n, n_visible) -> (n, n_hidden)."""
        inputs = self._floating(v, self.n_visible) @ self.W.T
        inputs += self.c
        return np.asarray(inputs)

    def visible_inputs(self, h: NDArray[Any]) -> NDArray[Any]:
        """W^T h + b. (n, n_hidden) -> (n, n_visible)."""
        inputs = self._floating(h, self.n_hidden) @ self.W
        inputs += self.b
        return np.asarray(inputs)

    def visible_field(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """b.v of each row. (n, n_visible) -> (n,)."""
        return np.asarray(v @ self.b.astype(np.float64))

    def hidden_field(self, h: NDArray[Any]) -> NDArray[np.float64]:
        """c.h of each row. (n, n_hidden) -> (n,)."""
        return np.asarray(h @ self.c.astype(np.float64))

    def gradient_sums(self, v: NDArray[Any], h: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Sum over rows of h_i v_j, v_j and h_i."""
        v, h = self._floating(v, self.n_visible), self._floating(h, self.n_hidden)
        return {"W": h.T @ v, "b": v.sum(axis=0, dtype=np.float64), "c": h.sum(axis=0, dtype=np.float64)}

    def flip_energies(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """Visible energy of v with site j flipped, minus that of v. (n, n_visible) -> (n, n_visible)."""
        changes = hidden_term_changes(self.hidden_inputs(v), self.W, v)
        return np.asarray(2 * v * self.b.astype(np.float64) - changes)

    def flip_energy(self, v: NDArray[Any], sites: NDArray[Any]) -> NDArray[np.float64]:
        """The same at one site per row. (n, n_visible), (n,) -> (n,)."""
        spins = v[np.arange(len(v)), sites].astype(self.dtype)
        change = hidden_term_change(self.hidden_inputs(v), self.W[:, sites].T, spins)
        return np.asarray(2 * spins * self.b[sites].astype(np.float64) - change)


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
