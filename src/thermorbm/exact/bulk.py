"""Energies of large tori from the infinite lattice, with an allowance for their size.

On a torus of side L the energy per spin differs from that of the infinite lattice by about 1/L at a critical
point (nu = 1). Away from it the difference falls faster once L is beyond the correlation length, and slower
before: that of the triangular antiferromagnet at T = 0.5, which is critical at T = 0, is 0.0025, 0.0019,
0.0014 and 0.0008 at L = 3, 6, 12 and 24. The allowance is that of a torus small enough for its transfer
matrix, brought to the side L by the power with which it falls between two such tori, but not faster than 1/L.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from thermorbm.exact.energies import EnergyMoments
from thermorbm.exact.planar import honeycomb, kagome, triangular
from thermorbm.exact.thermodynamics import ManyTemperatures, Thermodynamics
from thermorbm.exact.transfer import transfer_energies
from thermorbm.hamiltonians import Hamiltonian, hamiltonian

# The infinite lattice, and the sides of two tori that are quick to sum (triangular: three sublattices fit).
_BULK: dict[str, tuple[Callable[..., Any], tuple[int, int]]] = {
    "triangular": (triangular, (3, 6)),
    "honeycomb": (honeycomb, (2, 3)),
    "kagome": (kagome, (2, 3)),
}


def bulk_thermodynamics(H: Hamiltonian, T: float | ManyTemperatures) -> Thermodynamics[Any] | None:
    """Per spin of the infinite lattice with the couplings of H; None without a closed form."""
    coupling = _one_coupling(H)
    return None if coupling is None else _BULK[H.name][0](T, coupling)


def _one_coupling(H: Hamiltonian) -> float | None:
    """J of all bonds alike of a lattice with a closed form."""
    if H.name not in _BULK or not H.uniform or H.has_field or H.products is None:
        return None
    couplings = {product.coupling for product in H.products}
    return couplings.pop() if len(couplings) == 1 and 0.0 not in couplings else None


def bulk_energies(H: Hamiltonian, T: float) -> EnergyMoments | None:
    """Mean and variance of the total energy of a large uniform lattice; None without a closed form."""
    coupling, infinite = _one_coupling(H), bulk_thermodynamics(H, T)
    if coupling is None or infinite is None or H.grid is None:
        return None
    sides, side = _BULK[H.name][1], min(H.grid.shape)
    if side < sides[1] or any(length % sides[1] for length in H.grid.shape):
        return None
    smaller, small = (abs(_torus_energy(H.name, L, coupling, T) - infinite.energy) for L in sides)
    power = math.log(smaller / small) / math.log(sides[1] / sides[0]) if smaller > small > 0 else 0.0
    n_sites, allowance = H.n_sites, small * (sides[1] / side) ** min(1.0, power)
    return EnergyMoments(
        n_sites * infinite.energy, n_sites * T**2 * infinite.heat_capacity, n_sites * allowance
    )


def _torus_energy(name: str, side: int, coupling: float, T: float) -> float:
    """Per spin, by transfer matrix."""
    torus = hamiltonian(name, (side, side), coupling=coupling)
    return transfer_energies(torus, T).mean / torus.n_sites
