"""Cluster moves: aligned neighbours are joined with probability 1 - exp(-2J/T).

Wolff grows one cluster from a random site and flips it. Swendsen-Wang joins all neighbours that are aligned
and gives every cluster a random sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from thermorbm.xoroshiro import next_uniform, next_word


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


@njit(cache=True, nogil=True, error_model="numpy")
def swendsen_wang(spins: Any, neighbours: Any, join: Any, generators: Any, n_sweeps: int) -> None:
    """Moves each chain by n_sweeps. spins: (n_chains, n_sites) int8; neighbours: (n_sites, most), each bond
    once, and the site itself where it has fewer; join: of the same shape; generators: (n_chains, 2)."""
    parent = np.empty(spins.shape[1], np.int32)
    for chain in range(spins.shape[0]):
        for _ in range(n_sweeps):
            _join_clusters(spins[chain], neighbours, join, generators[chain], parent)
            _sign_clusters(spins[chain], generators[chain], parent)


@njit
def _join_clusters(spins: Any, neighbours: Any, join: Any, generator: Any, parent: Any) -> None:
    for site in range(len(spins)):
        parent[site] = site
    for site in range(len(spins)):
        for bond in range(neighbours.shape[1]):
            other = neighbours[site, bond]
            if other == site:
                break
            if spins[site] == spins[other] and next_uniform(generator) < join[site, bond]:
                a, b = _root(parent, site), _root(parent, other)
                parent[max(a, b)] = min(a, b)


@njit
def _root(parent: Any, site: int) -> int:
    while parent[site] != site:
        parent[site] = parent[parent[site]]  # halve the path for the next search
        site = parent[site]
    return site


@njit
def _sign_clusters(spins: Any, generator: Any, parent: Any) -> None:
    """Parents are lower sites of the same cluster, so they have their sign before their children."""
    for site in range(len(spins)):
        if parent[site] == site:
            spins[site] = 1 if next_word(generator) >> np.uint64(63) else -1
        else:
            spins[site] = spins[parent[site]]
