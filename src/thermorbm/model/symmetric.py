"""The machine that knows the lattice: small filters, the same at every site of a periodic grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from thermorbm.errors import FileError, InputError
from thermorbm.model.convolution import Border, Shape, border, convolve, correlate, log_products, window_sites
from thermorbm.model.dense import RBM
from thermorbm.model.energy import log_2cosh_sum
from thermorbm.model.machine import Machine, read_machine
from thermorbm.model.units import checked_provenance, floating_type, parameter, real_array

_LARGEST_EXPONENT = 600.0  # of products of exponentials in float64


@dataclass(frozen=True, eq=False, repr=False)
class SymmetricRBM(Machine):
    """Translation-symmetric machine on a periodic grid; one hidden unit for every filter and site.

    Hidden unit f * n_sites + i has the input hidden_bias[f] + sum_a filters[f, a] v[i + a - origin], sites
    numbered in C order: n_hidden = n_filters * n_sites. The origin is the middle of the window, for an even
    side the element before it. filters: (n_filters, *window), window sides up to those of `shape`;
    hidden_bias: (n_filters,); visible_bias: one number. Where cells have several sites, `shape` and windows
    count cells, filters are (n_filters, *window, n_cell), there is a hidden unit for every filter and cell,
    and visible units are numbered cell by cell. Held as read-only copies, in float32 if the filters
    are float32 and in float64 otherwise. provenance: how it was made, anything JSON can hold.
    """

    filters: NDArray[Any]
    shape: Shape
    visible_bias: NDArray[Any]
    hidden_bias: NDArray[Any]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    n_cell: int = 1

    kind: ClassVar[str] = "symmetric-rbm"

    def __init__(
        self,
        filters: ArrayLike,
        shape: Sequence[int],
        visible_bias: ArrayLike = 0.0,
        hidden_bias: ArrayLike | None = None,
        provenance: Mapping[str, Any] | None = None,
        n_cell: int = 1,
    ) -> None:
        weights, sides = real_array("filters", filters), checked_shape(shape)
        check_window(weights.shape, sides, n_cell)
        dtype = floating_type(weights)
        biases = np.zeros(len(weights)) if hidden_bias is None else hidden_bias
        object.__setattr__(self, "filters", parameter("filters", weights, weights.shape, dtype))
        object.__setattr__(self, "shape", sides)
        object.__setattr__(self, "visible_bias", parameter("visible_bias", visible_bias, (), dtype))
        object.__setattr__(self, "hidden_bias", parameter("hidden_bias", biases, (len(weights),), dtype))
        object.__setattr__(self, "provenance", checked_provenance(provenance))
        object.__setattr__(self, "n_cell", int(n_cell))

    def __repr__(self) -> str:
        window, sides = ("x".join(map(str, sides)) for sides in (self.window, self.shape))
        cells = f" cells of {self.n_cell} sites" if self.n_cell > 1 else ""
        return f"SymmetricRBM({self.n_filters} filters of {window} on {sides}{cells}, {self.dtype})"

    @classmethod
    def load(cls, path: str | Path) -> SymmetricRBM:
        """Reads a file of `save`; an altered or foreign file raises FileError."""
        arrays, metadata = read_machine(path, cls.kind)
        names = ("filters", "shape", "visible_bias", "hidden_bias")
        if not set(names) <= arrays.keys():
            raise FileError(path, f"holds {sorted(arrays)}", f"a {cls.kind} file holds {', '.join(names)}")
        values = {name: arrays[name] for name in names if name != "shape"}
        n_cell = int(arrays["n_cell"]) if "n_cell" in arrays else 1
        shape, provenance = arrays["shape"].tolist(), metadata.get("provenance")
        return cls(shape=shape, provenance=provenance, n_cell=n_cell, **values)

    @property
    def n_filters(self) -> int:
        """Number of filters."""
        return int(self.filters.shape[0])

    @property
    def window(self) -> Shape:
        """Sides of the filters, in cells."""
        return tuple(self.filters.shape[1 : 1 + len(self.shape)])

    @property
    def origin(self) -> Shape:
        """The element of the window that lies on the site that it belongs to."""
        return window_origin(self.window)

    @property
    def n_visible(self) -> int:
        """Number of visible units, that is sites of the lattice."""
        return self._n_cells * self.n_cell

    @property
    def n_hidden(self) -> int:
        """Number of hidden units: one for every filter and cell."""
        return self.n_filters * self._n_cells

    @property
    def _n_cells(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the parameters, float32 or float64."""
        return self.filters.dtype

    @property
    def parameters(self) -> dict[str, NDArray[Any]]:
        """Filters and biases by name, as they are trained."""
        return {
            "filters": self.filters,
            "visible_bias": self.visible_bias,
            "hidden_bias": self.hidden_bias,
        }

    @property
    def stored(self) -> dict[str, NDArray[Any]]:
        """The arrays that a file holds, by name."""
        cells = {"n_cell": np.array(self.n_cell)} if self.n_cell > 1 else {}
        return {**self.parameters, "shape": np.array(self.shape), **cells}

    @property
    def W(self) -> NDArray[Any]:
        """All weights, (n_hidden, n_visible), made anew at every use: 268 MB for 4 filters on 64 x 64."""
        W = np.zeros((self.n_filters, self._n_cells, self.n_visible), dtype=self.dtype)
        cells = np.arange(self._n_cells)[:, None]
        seen = window_sites(self.shape, self.window, self.origin) * self.n_cell
        for site in range(self.n_cell):
            W[:, cells, seen + site] = self._taps[:, site, None]
        return W.reshape(self.n_hidden, self.n_visible)

    @property
    def b(self) -> NDArray[Any]:
        """(n_visible,), the visible bias of every unit."""
        return np.full(self.n_visible, self.visible_bias)

    @property
    def c(self) -> NDArray[Any]:
        """(n_hidden,), the hidden bias of every unit."""
        return np.repeat(self.hidden_bias, self._n_cells)

    def to_dense(self) -> RBM:
        """The dense machine with the same energy."""
        return RBM(self.W, self.b, self.c, self.provenance)

    def hidden_inputs(self, v: NDArray[Any]) -> NDArray[Any]:
        """(n, n_visible) -> (n, n_hidden)."""
        units = self._by_site(self._floating(v, self.n_visible))
        dtype, filters = units.dtype, self._taps.astype(units.dtype)
        out = np.empty((len(v), self.n_hidden), dtype)
        return convolve(units, filters, self.hidden_bias.astype(dtype), self._from_visible, out)

    def visible_inputs(self, h: NDArray[Any]) -> NDArray[Any]:
        """(n, n_hidden) -> (n, n_visible)."""
        units = self._floating(h, self.n_hidden)
        dtype, filters = units.dtype, self._taps.swapaxes(0, 1)[:, :, ::-1].astype(units.dtype)
        out = np.empty((len(h), self.n_visible), dtype)
        bias = np.full(self.n_cell, self.visible_bias, dtype)
        return self._by_cell(convolve(units, filters, bias, self._from_hidden, out))

    def visible_field(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """b.v of each row. (n, n_visible) -> (n,)."""
        return np.asarray(float(self.visible_bias) * v.sum(axis=1, dtype=np.float64))

    def hidden_field(self, h: NDArray[Any]) -> NDArray[np.float64]:
        """c.h of each row. (n, n_hidden) -> (n,)."""
        return np.asarray(self._filter_sums(h) @ self.hidden_bias.astype(np.float64))

    def gradient_sums(self, v: NDArray[Any], h: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Sums over rows and sites: of h_f,i v_{i + a - origin}, v_i and h_f,i."""
        v, h = self._floating(v, self.n_visible), self._floating(h, self.n_hidden)
        return {
            "filters": self.filter_statistics(v, h).sum(axis=0),
            "visible_bias": v.sum(dtype=np.float64),
            "hidden_bias": self._filter_sums(h).sum(axis=0),
        }

    def filter_statistics(self, v: NDArray[Any], h: NDArray[Any]) -> NDArray[np.float64]:
        """Of each row the sum over cells of h_f,i v_{i + a - origin}. -> (n, *shape of the filters)."""
        v, h = self._floating(v, self.n_visible), self._floating(h, self.n_hidden)
        dtype = np.result_type(v, h)
        others, place = h.astype(dtype, copy=False), self._from_visible
        sites = self._sites(v.astype(dtype, copy=False))
        sums = np.stack([correlate(units, others, place) for units in sites], axis=3)
        return sums.reshape(len(v), *self.filters.shape)

    def flip_energies(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """Visible energy of v with site j flipped, minus that of v. (n, n_visible) -> (n, n_visible).

        Only the hidden units whose window covers j change, by a product as in thermorbm.model.dense.
        """
        x = self.hidden_inputs(v).astype(np.float64, copy=False)
        exponent = 2 * float(np.abs(self._taps).sum(axis=2, dtype=np.float64).max())
        if exponent > _LARGEST_EXPONENT:
            sites = [np.full(len(v), j) for j in range(self.n_visible)]
            return np.stack([self._flip_energy(x, v, site) for site in sites], axis=1)
        filters = self._taps[:, :, ::-1].astype(np.float64)
        run = self.n_filters if exponent == 0 else max(1, int(_LARGEST_EXPONENT / exponent))
        p, q, place = expit(2 * x), expit(-2 * x), self._from_hidden
        parts = [
            log_products(p, q, up, np.ascontiguousarray(filters[:, site]), place, run)
            for site, up in enumerate(self._sites(v > 0))
        ]
        changes = np.stack(parts, axis=2).reshape(v.shape)
        return np.asarray(2 * float(self.visible_bias) * v - changes)

    def flip_energy(self, v: NDArray[Any], sites: NDArray[Any]) -> NDArray[np.float64]:
        """The same at one site per row. (n, n_visible), (n,) -> (n,)."""
        return self._flip_energy(self.hidden_inputs(v), v, sites)

    def _flip_energy(self, x: NDArray[Any], v: NDArray[Any], sites: NDArray[Any]) -> NDArray[np.float64]:
        """x: hidden inputs of v."""
        rows = np.arange(len(v))[:, None]
        reversed_origin = tuple(w - 1 - o for w, o in zip(self.window, self.origin, strict=True))
        units = window_sites(self.shape, self.window, reversed_origin)[sites // self.n_cell]
        seen = x.reshape(len(v), self.n_filters, -1)[rows, :, units].reshape(len(v), -1).astype(np.float64)
        spins = v[rows[:, 0], sites].astype(np.float64)
        weights = self._taps[:, :, ::-1].transpose(1, 2, 0).reshape(self.n_cell, -1)[sites % self.n_cell]
        moves = 2 * spins[:, None] * weights.astype(np.float64)
        change = log_2cosh_sum(seen - moves) - log_2cosh_sum(seen)
        return np.asarray(2 * float(self.visible_bias) * spins - change)

    @cached_property
    def _taps(self) -> NDArray[Any]:
        """(n_filters, n_cell, n_taps)."""
        weights = self.filters.reshape(self.n_filters, -1, self.n_cell)
        return np.ascontiguousarray(weights.swapaxes(1, 2))

    def _sites(self, v: NDArray[Any]) -> list[NDArray[Any]]:
        """The spins of each site of the cells, (n, n_cells) each and contiguous."""
        cells = v.reshape(len(v), -1, self.n_cell)
        return [np.ascontiguousarray(cells[:, :, site]) for site in range(self.n_cell)]

    def _by_site(self, v: NDArray[Any]) -> NDArray[Any]:
        """From cell by cell to site by site. (n, n_visible) -> (n, n_visible), contiguous."""
        return np.ascontiguousarray(v.reshape(len(v), -1, self.n_cell).swapaxes(1, 2)).reshape(len(v), -1)

    def _by_cell(self, v: NDArray[Any]) -> NDArray[Any]:
        """Back."""
        return np.ascontiguousarray(v.reshape(len(v), self.n_cell, -1).swapaxes(1, 2)).reshape(len(v), -1)

    @property
    def _from_visible(self) -> Border:
        return border(self.shape, self.window, self.origin)

    @property
    def _from_hidden(self) -> Border:
        """A visible unit sees the window from the other end."""
        origin = tuple(width - 1 - o for width, o in zip(self.window, self.origin, strict=True))
        return border(self.shape, self.window, origin)

    def _filter_sums(self, h: NDArray[Any]) -> NDArray[np.float64]:
        """(n, n_hidden) -> (n, n_filters)."""
        return np.asarray(h.reshape(len(h), self.n_filters, -1).sum(axis=2, dtype=np.float64))

    def _floating(self, units: NDArray[Any], width: int) -> NDArray[Any]:
        """The convolutions want contiguous units."""
        return np.ascontiguousarray(super()._floating(units, width))


def window_origin(window: Shape) -> Shape:
    """The middle element, for an even side the one before it."""
    return tuple((width - 1) // 2 for width in window)


def checked_shape(shape: Sequence[int]) -> Shape:
    sides = tuple(np.asarray(shape).ravel().tolist())
    if not sides or not all(isinstance(side, int) and side >= 1 for side in sides):
        raise InputError("shape", sides, "sides of the periodic grid", "for example (64, 64)")
    return sides


def check_window(filters: Shape, shape: Shape, n_cell: int = 1) -> None:
    """filters: shape of their array, (n_filters, *window), and n_cell if there are several."""
    if not isinstance(n_cell, Integral) or n_cell < 1:
        raise InputError("n_cell", n_cell, "a whole number >= 1")
    last = () if n_cell == 1 else (n_cell,)
    d = len(shape)
    if len(filters) != 1 + d + len(last) or 0 in filters or filters[1 + d :] != last:
        axes = ", ".join(["n_filters", *["k"] * d, *map(str, last)])
        raise InputError("filters", filters, f"an array of shape ({axes}), all >= 1")
    window = filters[1 : 1 + d]
    if any(width > side for width, side in zip(window, shape, strict=True)):
        raise InputError("window", window, f"no larger than the lattice, {shape}")
