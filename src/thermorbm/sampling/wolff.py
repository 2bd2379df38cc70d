"""Wolff: grow one cluster from a random site, joining aligned neighbours with 1 - exp(-2J/T), and flip it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from thermorbm.xoroshiro import next_uniform


@njit(cache=True, nogil=True, error_model="numpy")
def wolff(spins: Any, neighbours: Any, join: Any, generators: Any, n_clusters: int) -> int:
    """Flips n_clusters clusters in each chain and returns how many spins flipped in all.

    spins: (n_chains, n_sites) int8; neighbours: (n_sites, most), the site itself where it has fewer;
    join: of the same shape; generators: (n_chains, 2).
    """
    stack = np.empty(spins.shape[1], np.int64)
    flipped = 0
    for chain in range(spins.shape[0]):
        for _ in range(n_clusters):
            flipped += _flip_one(spins[chain], neighbours, join, generators[chain], stack)
    return flipped


@njit
def _flip_one(spins: Any, neighbours: Any, join: Any, generator: Any, stack: Any) -> int:
    seed = int(next_uniform(generator) * len(spins))
    sign = spins[seed]
    spins[seed] = -sign
    stack[0] = seed
    depth, size = 1, 1
    while depth > 0:
        depth -= 1
        site = stack[depth]
        for bond in range(neighbours.shape[1]):
            other = neighbours[site, bond]
            if spins[other] == sign and next_uniform(generator) < join[site, bond]:
                spins[other] = -sign
                stack[depth] = other
                depth += 1
                size += 1
    return size
