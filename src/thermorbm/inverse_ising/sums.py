"""Products of spins on a periodic grid of cells, summed over cells or around every site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.hamiltonians.cells import Grid, Product


def in_cells(v: NDArray[Any], grid: Grid) -> NDArray[Any]:
    """(n, n_sites) -> (n, *cells, sites of a cell)."""
    return v.reshape(len(v), *grid.shape, grid.n_cell)


def cell_products(cells: NDArray[Any], product: Product) -> NDArray[Any]:
    """The product of spins that belongs to each cell. (n, *cells, sites of a cell) -> (n, *cells)."""
    (site, offset), *others = product.points
    values = _seen(cells, site, offset)
    for site, offset in others:
        values = values * _seen(cells, site, offset)
    return values


def products_around(cells: NDArray[Any], product: Product) -> NDArray[np.int8]:
    """For every site the sum of the products that contain it, of all cells. -> (n, n_sites)."""
    values = cell_products(cells, product)
    sums = np.zeros(cells.shape, np.int8)
    axes = tuple(range(1, values.ndim))
    for site, offset in product.points:
        sums[..., site] += np.roll(values, offset, axes)
    return sums.reshape(len(cells), -1)


def product_sums(v: NDArray[Any], grid: Grid, products: Sequence[Product]) -> NDArray[np.float64]:
    """Sum of all spins, and of each product over all cells: what couplings multiply. -> (n, 1 + k)."""
    cells = in_cells(v, grid)
    columns = [v.sum(axis=1, dtype=np.int64)]
    for product in products:
        columns.append(cell_products(cells, product).reshape(len(v), -1).sum(axis=1, dtype=np.int64))
    return np.stack(columns, axis=1).astype(np.float64)


def _seen(cells: NDArray[Any], site: int, offset: tuple[int, ...]) -> NDArray[Any]:
    """The spin that each cell sees `offset` cells away."""
    values = cells[..., site]
    if not any(offset):
        return values
    return np.roll(values, tuple(-step for step in offset), tuple(range(1, values.ndim)))
