"""Newton's method on the likelihood: configurations of a fitted Hamiltonian tell how far it is from the data.

The gradient of the log-likelihood by couplings is the mean of the sums of products over the data minus that
over the model, its curvature the covariance of these sums over the model: the Fisher information. The
model's configurations come from the samplers of this package, so that they are independent and certified.
In a field this is worth it: of 2000 configurations of 16x16 spins in h = 0.1 the pseudo-likelihood knows the
field 1.2 to 1.9 times less well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.hamiltonians.cells import Grid, Product
from thermorbm.inverse_ising.pseudo_likelihood import PRECISION

Floats = NDArray[np.float64]


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


def fitted_hamiltonian(grid: Grid, products: Sequence[Product], values: Floats) -> Hamiltonian:
    """At k_B T = 1. values: (1 + k,), the field first."""
    pairs = zip(products, values[1:].tolist(), strict=True)
    coupled = [replace(product, coupling=value) for product, value in pairs]
    return Hamiltonian.of_cells("fitted", grid, coupled, float(values[0]))


def likelihood_step(
    data: Dataset, grid: Grid, products: Sequence[Product], values: Floats, n_samples: int, seed: int
) -> tuple[Floats, Floats] | None:
    """Values one step on, (1 + k,), and their covariance, from n_samples configurations of the model.

    The covariance is that of the data and of the model's configurations together. None where the model's
    configurations are not certified, so that nothing can be learnt from them.
    """
    from thermorbm.sampling.sampler import draw  # compiled kernels that few trainings need

    H = fitted_hamiltonian(grid, products, values)
    made = draw(H, 1.0, n_samples, seed, threads=1)
    if not made.certificate.passed:
        return None
    model = _sums(Dataset(made.packed, H.lattice, n_sites=H.n_sites), grid, products)
    wanted, prior = _sums(data, grid, products), PRECISION / len(data)
    fisher = np.cov(model, rowvar=False) + prior * np.eye(len(values))
    step = np.linalg.solve(fisher, wanted.mean(axis=0) - model.mean(axis=0) - prior * values)
    covariance = np.asarray(np.linalg.inv(fisher) * (1 / len(data) + 1 / n_samples), np.float64)
    return values + step, covariance


def _sums(data: Dataset, grid: Grid, products: Sequence[Product]) -> Floats:
    return np.concatenate([product_sums(block, grid, products) for block in data.blocks()])
