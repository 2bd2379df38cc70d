"""Domains of filters: connected sites of the lattice whose weights have one sign (figures 3a and 4a)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.observables.weights import couplings


def largest_domains(machine: Machine, lattice: Lattice) -> NDArray[np.float64]:
    """(n_hidden,): the share of the sites that lie in the largest domain of each filter."""
    if machine.n_visible != lattice.n_sites:
        raise InputError("lattice", str(lattice), f"one of {machine.n_visible} sites")
    sites = np.repeat(np.arange(lattice.n_sites), lattice.dimension)
    upper = lattice.neighbours[:, ::2].ravel()  # one end of every bond, in the order of `sites`
    signs = couplings(machine) > 0
    return np.array([_largest(sign, sites, upper) for sign in signs]) / lattice.n_sites


def _largest(sign: NDArray[np.bool_], first: NDArray[np.int_], second: NDArray[np.int32]) -> int:
    """Sites in the largest domain of one filter; bonds join first to second."""
    alike = sign[first] == sign[second]
    bonds = coo_array((alike[alike], (first[alike], second[alike])), shape=(len(sign), len(sign)))
    return int(np.bincount(connected_components(bonds, directed=False)[1]).max())
