"""The paper's machine: every hidden unit sees every visible one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import FileError, InputError
from thermorbm.model import flips
from thermorbm.model.machine import Machine, read_machine
from thermorbm.model.units import checked_provenance, floating_type, parameter, real_array


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
        changes = flips.hidden_term_changes(self.hidden_inputs(v), self.W, v)
        return np.asarray(2 * v * self.b.astype(np.float64) - changes)

    def flip_energy(self, v: NDArray[Any], sites: NDArray[Any]) -> NDArray[np.float64]:
        """The same at one site per row. (n, n_visible), (n,) -> (n,)."""
        spins = v[np.arange(len(v)), sites].astype(self.dtype)
        change = flips.hidden_term_change(self.hidden_inputs(v), self.W[:, sites].T, spins)
        return np.asarray(2 * spins * self.b[sites].astype(np.float64) - change)
