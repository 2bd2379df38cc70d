"""From which configurations chains may start so that all of them reach the same equilibrium.

Above the transition half of the chains start from random spins and half ordered, and must come to agree.
Below it a random start may freeze into stripes for longer than anyone can wait, so all chains start ordered,
except on lattices so small or narrow that domain walls right across them belong to equilibrium: there an
ordered start may miss them just as long, and only the two starts together show it. Chains of frustrated
Hamiltonians, and on graphs without a geometry, always have both starts.

Hamiltonians are seen in the gauge in which all spins up satisfies every term, where there is one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from thermorbm.exact import critical_temperature
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.hamiltonians.cells import Product
from thermorbm.lattice import Lattice

# Configurations with walls that are rarer than this are not missed in any dataset.
RARE = 1e-6


def hot_starts(model: Hamiltonian | Lattice, temperature: float, n_chains: int) -> NDArray[np.bool_]:
    """(n_chains,): which chains start from random spins."""
    H = as_hamiltonian(model)
    ordered = not H.frustrated and temperature <= transition(H)
    if ordered and wall_weight(H, temperature) < RARE and reversed_weight(H, temperature) < RARE:
        return np.zeros(n_chains, np.bool_)
    return np.asarray(np.arange(n_chains) % 2 == 1)


def wall_weight(model: Hamiltonian | Lattice, temperature: float) -> float:
    """Boltzmann weight of flat walls across the lattice, over that of all terms satisfied; inf if unknown.

    Summed over the places and directions of the walls, two on a periodic axis and one between open edges. A
    wall breaks the terms that cross it, at 2 |J| each.
    """
    H = as_hamiltonian(model)
    if H.grid is None or H.products is None:
        return math.inf
    total = 0.0
    for axis, side in enumerate(H.grid.shape):
        crossing = sum(abs(product.coupling) * _span(product, axis) for product in H.products)
        cost = 2 * crossing * (H.grid.n_cells // side) / temperature
        total += (
            (side - 1) * math.exp(-cost) if H.grid.open[axis] else math.comb(side, 2) * math.exp(-2 * cost)
        )
    return total


def _span(product: Product, axis: int) -> int:
    """How many planes between cells a product reaches over."""
    steps = [offset[axis] for _, offset in product.points]
    return max(steps) - min(steps)


def reversed_weight(H: Hamiltonian, temperature: float) -> float:
    """Boltzmann weight of all spins reversed against the field; 0 without a field, where signs are drawn."""
    return math.exp(-2 * float(np.abs(H.field).sum()) / temperature) if H.has_field else 0.0


def transition(H: Hamiltonian) -> float:
    """A temperature above which nothing orders: T_c where it is known, else that of mean fields, above it."""
    if H.plain is not None and H.plain[0].dimension == 1:
        return 0.0
    # A field rounds the transition off, but domains against it still last below the T_c without it.
    without = Hamiltonian(H.name, H.terms, np.zeros(H.n_sites), H.grid, H.products, H.options)
    critical = critical_temperature(without)
    return float(H.scale.max(initial=0.0)) if critical is None else critical
