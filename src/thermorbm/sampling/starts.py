"""From which configurations chains may start so that all of them reach the same equilibrium.

Above the transition half of the chains start from random spins and half all up, and must come to agree. Below
it a random start may freeze into stripes for longer than anyone can wait, so all chains start all up, except
on lattices so small or narrow that domain walls right across them belong to equilibrium: there a start all up
may miss them just as long, and only the two starts together show it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from thermorbm.exact import TC_2D, TC_3D
from thermorbm.lattice import Lattice

# Configurations with walls that are rarer than this are not missed in any dataset.
RARE = 1e-6


def hot_starts(lattice: Lattice, temperature: float, n_chains: int) -> NDArray[np.bool_]:
    """(n_chains,): which chains start from random spins."""
    if temperature <= _transition(lattice.dimension) and wall_weight(lattice, temperature) < RARE:
        return np.zeros(n_chains, np.bool_)
    return np.asarray(np.arange(n_chains) % 2 == 1)


def wall_weight(lattice: Lattice, temperature: float) -> float:
    """Boltzmann weight of two flat walls across the lattice, over that of all spins aligned.

    Summed over the places and directions of the walls. Each of the two breaks N / side bonds, at 2 J a bond.
    """
    areas = [lattice.n_sites // side for side in lattice.shape]
    return sum(
        math.comb(side, 2) * math.exp(-4 * area / temperature)
        for side, area in zip(lattice.shape, areas, strict=True)
    )


def _transition(dimension: int) -> float:
    """A temperature above which nothing orders; T_c < 2 d (mean field) where it is not tabulated."""
    known: dict[int, float] = {1: 0.0, 2: TC_2D, 3: TC_3D}
    return known.get(dimension, 2.0 * dimension)
