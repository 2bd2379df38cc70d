"""Energy, magnetisation and spin correlations of configurations; functions of the distance of two sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.stats import Estimate, jackknife_many

_SPINS_AT_ONCE = 1 << 20  # one Fourier transform's worth of float64 spins: 8 MB


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


@dataclass(frozen=True, eq=False)
class ConfigurationSeries:
    """energy: (n,) total H, None where no Hamiltonian is known. magnetization: (n,) per spin, signed."""

    energy: NDArray[Any] | None
    magnetization: NDArray[np.float64]
    n_sites: int

    @property
    def abs_magnetization(self) -> NDArray[np.float64]:
        """(n,): |m| per spin."""
        return np.abs(self.magnetization)


def configuration_series(data: Dataset) -> ConfigurationSeries:
    """Energy and magnetisation of every configuration, in the dataset's order."""
    return ConfigurationSeries(total_energies(data), data.magnetization, data.n_sites)


def total_energies(data: Dataset) -> NDArray[Any] | None:
    """H of every configuration, (n,); a lattice alone stands for its ferromagnet, without one it is None."""
    H = data.hamiltonian
    if H is not None and H.plain != (data.lattice, 1.0):
        return np.concatenate([H.energy(block) for block in data.blocks()])
    return None if data.lattice is None else data.lattice.energy_of_packed(data.packed)


def two_point_correlation(data: Dataset, n_blocks: int = 100) -> RadialCurve:
    """<s_i s_j> against the distance of i and j, averaged over all pairs of sites and all configurations.

    The mean magnetisation is not subtracted. Errors are jackknifed over n_blocks blocks of configurations.
    """
    lattice = required_lattice(data)
    bins = shells(lattice)
    size = max(1, min(_SPINS_AT_ONCE // data.n_sites, -(-len(data) // n_blocks)))
    means = np.array([bins.average(_mean_products(lattice, block)) for block in data.blocks(size)])
    weights = np.array([min(size, len(data) - start) for start in range(0, len(data), size)])
    values = weights @ means / len(data)
    if len(means) < 2:
        return RadialCurve(bins.distances, values, np.full(len(values), np.nan), bins.n_pairs)
    errors = jackknife_many(means, lambda mean: mean, n_blocks).errors
    return RadialCurve(bins.distances, values, errors, bins.n_pairs)


def check_sites(machine: Machine, data: Dataset) -> None:
    """InputError unless the machine has a visible unit for every site of the data."""
    if data.n_sites != machine.n_visible:
        raise InputError("data", f"{data.n_sites} sites", f"of {machine.n_visible}, like the machine")


def required_lattice(data: Dataset) -> Lattice:
    """The dataset's lattice; InputError where its geometry is unknown."""
    if data.lattice is None:
        raise InputError("dataset", repr(data), "one with a lattice", "give lattice= when it is made")
    return data.lattice


def required_temperature(data: Dataset) -> float:
    """The dataset's temperature; InputError where it is unknown or mixed."""
    if data.temperature is None:
        raise InputError("dataset", repr(data), "one with a temperature", "give it, or split the dataset")
    return data.temperature


def _mean_products(lattice: Lattice, spins: NDArray[np.int8]) -> NDArray[np.float64]:
    return np.asarray(translation_average(lattice, spins.astype(np.float64)).mean(axis=0))
