"""Order that is known beforehand: ground states of H, and how far configurations follow one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thermorbm.hamiltonians.energy import Hamiltonian

_MOST_FLIPS = 2  # more symmetries than these, as of plaquettes, leave no order of single spins


def order_overlaps(hamiltonian: Hamiltonian, packed: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Signed overlap per spin with the ground state that is nearest, up to the global flip. -> (n,).

    packed: (n, ceil(n_sites / 8)), little bit order. It is the magnetisation of the ferromagnet, and where no
    configuration satisfies every term.
    """
    n_sites = hamiltonian.n_sites
    nearest = np.zeros(len(packed), np.int64)
    for pattern in ground_states(hamiltonian):
        turned = packed ^ np.packbits(pattern < 0, bitorder="little")
        sums = 2 * np.bitwise_count(turned).sum(axis=1, dtype=np.int64) - n_sites
        nearest = np.where(np.abs(sums) > np.abs(nearest), sums, nearest)
    return np.asarray(nearest / n_sites)


def ground_states(hamiltonian: Hamiltonian) -> NDArray[np.int8]:
    """(k, n_sites) of +-1 that satisfy every term, without the global flip: four of Baxter-Wu, else one.

    All up where terms compete.
    """
    if hamiltonian.ground_state is None:
        return np.ones((1, hamiltonian.n_sites), np.int8)
    states = [hamiltonian.ground_state]
    flips = hamiltonian.symmetries[int(hamiltonian.has_global_flip) :]
    if len(flips) <= _MOST_FLIPS:
        for flip in flips:
            states += [state * flip for state in states]
    return np.array(states, np.int8)
