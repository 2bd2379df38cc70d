"""Functions of the displacement between two sites: averages over all pairs, then over directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.stats import Estimate


@dataclass(frozen=True, eq=False)
class RadialCurve:
    """A function of the distance r between two sites, shortest way round the periodic lattice.

    distances: (n_r,), ascending from 0, in lattice spacings. values, errors: (n_r,). n_pairs: (n_r,), the
    number of displacements of that length.
    """

    distances: NDArray[np.float64]
    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    n_pairs: NDArray[np.int64]

    def at(self, distance: float) -> Estimate:
        """The value at the distance nearest to the one asked for."""
        if not 0 <= distance <= self.distances[-1]:
            raise InputError("distance", distance, f"between 0 and {self.distances[-1]:.4g}")
        place = int(np.argmin(np.abs(self.distances - distance)))
        return Estimate(float(self.values[place]), float(self.errors[place]))


@dataclass(frozen=True, eq=False)
class Shells:
    """Displacements sorted by length. order: (n_sites,); starts, n_pairs: (n_r,); distances: (n_r,)."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    n_pairs: NDArray[np.int64]
    distances: NDArray[np.float64]

    def average(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean over the displacements of each length. (..., n_sites) -> (..., n_r)."""
        sums = np.add.reduceat(values[..., self.order], self.starts, axis=-1)
        return np.asarray(sums / self.n_pairs)


def shells(lattice: Lattice) -> Shells:
    """The shells of equal distance from site 0."""
    squares = np.zeros(lattice.shape, dtype=np.int64)
    for axis, side in enumerate(lattice.shape):
        steps = np.arange(side)
        shortest = np.minimum(steps, side - steps) ** 2
        squares += shortest.reshape([-1 if k == axis else 1 for k in range(lattice.dimension)])
    order = np.argsort(squares, axis=None, kind="stable")
    lengths, starts, counts = np.unique(squares.ravel()[order], return_index=True, return_counts=True)
    return Shells(order, starts, counts.astype(np.int64), np.sqrt(lengths))


def translation_average(lattice: Lattice, fields: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over sites j of x_j x_(j+d) for every displacement d. (n, n_sites) -> (n, n_sites)."""
    axes = tuple(range(1, lattice.dimension + 1))
    grid = fields.reshape(-1, *lattice.shape)
    power = np.abs(fft.rfftn(grid, axes=axes)) ** 2
    products = fft.irfftn(power, s=lattice.shape, axes=axes) / lattice.n_sites
    return np.asarray(products).reshape(-1, lattice.n_sites)
