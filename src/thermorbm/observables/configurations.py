"""Energy, magnetisation and spin correlations of the configurations themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.observables.distances import RadialCurve, shells, translation_average
from thermorbm.stats import jackknife_many

_SPINS_AT_ONCE = 1 << 20  # one Fourier transform's worth of float64 spins: 8 MB


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

    @property
    def squared_magnetization(self) -> NDArray[np.float64]:
        """(n,): m^2 per spin squared."""
        return self.magnetization**2


def configuration_series(data: Dataset) -> ConfigurationSeries:
    """Energy and magnetisation of every configuration, in the dataset's order."""
    n_up = np.bitwise_count(data.packed).sum(axis=1, dtype=np.int64)
    magnetization = (2 * n_up - data.n_sites) / data.n_sites
    return ConfigurationSeries(total_energies(data), magnetization, data.n_sites)


def total_energies(data: Dataset) -> NDArray[Any] | None:
    """H of every configuration, (n,); a lattice alone stands for its ferromagnet, without one it is None."""
    if data.hamiltonian is not None and data.hamiltonian.plain != (data.lattice, 1.0):
        return np.concatenate([data.hamiltonian.energy(block) for block in data.blocks()])
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
