"""Single-flip Metropolis of any Hamiltonian, one number per replica: where couplings are all different.

The field at a site is summed for all replicas at once; then each replica has its own uniform number u and
flips if u < 15/16 min(1, exp(-cost/T)), as in the multispin kernels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from thermorbm.sampling.metropolis import REFUSAL_PROBABILITY
from thermorbm.xoroshiro import next_uniform


@njit(inline="always")
def _sum_terms(spins: Any, begin: int, end: int, others: Any, couplings: Any, total: Any) -> None:
    """total (n_replicas,): sum over the terms begin:end of coupling times the other spins of the product."""
    total[:] = 0.0
    for term in range(begin, end):
        J = couplings[term]
        if others.shape[1] == 1:
            neighbour = spins[others[term, 0]]
            for replica in range(total.size):
                total[replica] += J * neighbour[replica]
        else:
            for replica in range(total.size):
                product = J
                for column in range(others.shape[1]):
                    product *= spins[others[term, column], replica]
                total[replica] += product


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_fields(
    spins: Any, first: Any, others: Any, couplings: Any, temperature: float, generator: Any, n_sweeps: int
) -> None:
    """Moves all replicas by n_sweeps.

    spins: (n_sites + 1, n_replicas) float64 of +-1, the last row all 1. Site i has the terms
    first[i]:first[i + 1] of couplings (n_entries,) and of others (n_entries, width), the other spins of the
    product, padded with the last row.
    """
    n_sites, n_replicas = spins.shape[0] - 1, spins.shape[1]
    field = np.empty(n_replicas)
    for _ in range(n_sweeps):
        for site in range(n_sites):
            _sum_terms(spins, first[site], first[site + 1], others, couplings, field)
            for replica in range(n_replicas):
                cost = 2 * spins[site, replica] * field[replica]
                uniform = next_uniform(generator)
                limit = math.exp(-cost / temperature) if cost > 0 else 1.0
                if uniform < (1 - REFUSAL_PROBABILITY) * limit:
                    spins[site, replica] = -spins[site, replica]


@njit(cache=True, nogil=True, error_model="numpy")
def sum_energies(spins: Any, first: Any, others: Any, shares: Any, energy: Any) -> None:
    """energy (n_replicas,): of each replica. shares: couplings over the number of spins of their product."""
    energy[:] = 0.0
    field = np.empty(spins.shape[1])
    for site in range(spins.shape[0] - 1):
        _sum_terms(spins, first[site], first[site + 1], others, shares, field)
        for replica in range(energy.size):
            energy[replica] -= spins[site, replica] * field[replica]
