"""Unit cells: what is repeated at every cell of a lattice, and the terms that this makes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.hamiltonians.terms import Terms

Offset = tuple[int, ...]


@dataclass(frozen=True)
class Product:
    """One coupling per cell: J times a product of spins, each a (site of the cell, offset in cells)."""

    points: tuple[tuple[int, Offset], ...]
    coupling: float

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Product:
        points = tuple((int(site), tuple(int(step) for step in offset)) for site, offset in stored["points"])
        return cls(points, float(stored["coupling"]))


@dataclass(frozen=True)
class Grid:
    """shape: cells along each axis; n_cell: sites per cell; open: which axes have edges.

    Sites are numbered cell by cell in C order, those of one cell one after the other.
    """

    shape: tuple[int, ...]
    n_cell: int
    open: tuple[bool, ...]

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Grid:
        shape = tuple(int(side) for side in stored["shape"])
        return cls(shape, int(stored["n_cell"]), tuple(bool(edge) for edge in stored["open"]))

    @property
    def n_cells(self) -> int:
        return math.prod(self.shape)

    @property
    def n_sites(self) -> int:
        return self.n_cells * self.n_cell

    def expand(self, products: Sequence[Product]) -> list[Terms]:
        """The terms of all cells; at open edges those that would leave the lattice are left out."""
        return [self._expand(product) for product in products]

    def _expand(self, product: Product) -> Terms:
        columns, inside = [], np.ones(self.n_cells, dtype=np.bool_)
        for site, offset in product.points:
            cells, kept = self._moved(offset)
            columns.append(cells * self.n_cell + site)
            inside &= kept
        sites = np.stack(columns, axis=1)[inside]
        ordered = np.sort(sites, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            reach = "x".join(str(side) for side in self.shape)
            raise InputError(
                "lattice shape", reach, "larger than its own bonds", "a bond would join a site to itself"
            )
        return Terms(sites.astype(np.int64), np.full(len(sites), float(product.coupling)))

    def _moved(self, offset: Offset) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """(n_cells,): the cell `offset` away from each, and whether the way there crosses no open edge."""
        places = np.indices(self.shape).reshape(len(self.shape), -1)
        inside = np.ones(self.n_cells, dtype=np.bool_)
        moved = np.empty_like(places)
        for axis, (side, step) in enumerate(zip(self.shape, offset, strict=True)):
            target = places[axis] + step
            if self.open[axis]:
                inside &= (target >= 0) & (target < side)
            moved[axis] = target % side
        return np.asarray(np.ravel_multi_index(tuple(moved), self.shape), np.int64), inside


def bond(first: int, second: int, offset: Offset, coupling: float) -> Product:
    """From a site of each cell to a site of the cell `offset` away."""
    return Product(((first, (0,) * len(offset)), (second, offset)), coupling)


def steps(dimension: int) -> list[Offset]:
    """One cell up along each axis in turn."""
    return [tuple(int(a == axis) for a in range(dimension)) for axis in range(dimension)]
