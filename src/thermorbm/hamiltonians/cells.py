"""Unit cells, users' graphs and lists of bonds, and the terms that these make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.hamiltonians.terms import (
    FINITE,
    MOST_SPINS_IN_A_PRODUCT,
    Terms,
    are_finite,
    checked_terms,
    merged,
)

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


def of_graph(graph: Any, J: float) -> tuple[tuple[Terms, ...], int]:
    """Terms and number of sites of a graph with networkx's `nodes` and `edges(data=True)`.

    Sites are the nodes in the graph's own order. The coupling of an edge is its attribute "coupling", else J.
    """
    if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise InputError("graph", type(graph).__name__, "a graph with nodes and edges, as in networkx")
    number = {node: index for index, node in enumerate(graph.nodes)}
    edges = [(number[a], number[b], _real(data.get("coupling", J))) for a, b, data in graph.edges(data=True)]
    sites = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    return merged([checked_terms(2, sites, [edge[2] for edge in edges], len(number))]), len(number)


def of_bonds(bonds: Iterable[Sequence[Any]], J: float, n_sites: int | None) -> tuple[tuple[Terms, ...], int]:
    """Terms and number of sites of rows (site, site), or (site, ..., site, J) with two to four sites.

    n_sites: None for one more than the largest site number.
    """
    rows = [_split(row, J) for row in _rows(bonds)]
    if not rows:
        raise InputError("bonds", "none", "one or more rows (site, site, J)")
    largest = 1 + max(max(sites) for sites, _ in rows)
    total = largest if n_sites is None else n_sites
    parts = []
    for order in sorted({len(sites) for sites, _ in rows}):
        chosen = [row for row in rows if len(row[0]) == order]
        parts.append(checked_terms(order, [s for s, _ in chosen], [value for _, value in chosen], total))
    return merged(parts), total


def _rows(bonds: Any) -> list[tuple[Any, ...]]:
    rows = list(bonds) if isinstance(bonds, Iterable) else [bonds]
    for row in rows:
        if not isinstance(row, Iterable):
            raise InputError("bond", row, "a row of sites and a coupling", "for example (0, 1, 0.5)")
    return [tuple(row) for row in rows]


def _split(entries: tuple[Any, ...], J: float) -> tuple[tuple[int, ...], float]:
    """Sites and coupling of a row: a last entry that is not a whole number is the coupling."""
    has_coupling = len(entries) > 2 and (len(entries) == 3 or not _is_whole(entries[-1]))
    sites, coupling = (entries[:-1], _real(entries[-1])) if has_coupling else (entries, J)
    if not 2 <= len(sites) <= MOST_SPINS_IN_A_PRODUCT or not all(_is_whole(site) for site in sites):
        wanted = f"2 to {MOST_SPINS_IN_A_PRODUCT} site numbers and a coupling"
        raise InputError("bond", entries, wanted, "for example (0, 1, 0.5)")
    return tuple(int(site) for site in sites), coupling


def of_cell_bonds(bonds: Iterable[Sequence[Any]], grid: Grid, J: float) -> list[Product]:
    """Rows (site of the cell, site, offset in cells[, J]) as what every cell has."""
    products = []
    for entries in _rows(bonds):
        if len(entries) not in (3, 4) or not isinstance(entries[2], Sequence):
            raise InputError(
                "bond", entries, "(site, site, offset in cells, J)", "for example (0, 1, (0, 1), 1.0)"
            )
        first, second, offset = entries[:3]
        fits = len(offset) == len(grid.shape) and all(_is_whole(step) for step in offset)
        if not fits:
            raise InputError("offset", offset, f"{len(grid.shape)} whole numbers, one for each axis")
        for site in (first, second):
            if not _is_whole(site) or not 0 <= site < grid.n_cell:
                raise InputError("bond", entries, f"between sites 0 to {grid.n_cell - 1} of a cell")
        coupling = _real(entries[3]) if len(entries) == 4 else J
        products.append(bond(int(first), int(second), tuple(int(step) for step in offset), coupling))
    return products


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not are_finite(float(value)):
        raise InputError("coupling", value, FINITE)
    return float(value)
