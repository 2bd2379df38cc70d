"""Energies of large tori from the infinite lattice, with an allowance for their size.

On a torus of side L the energy per spin differs from that of the infinite lattice by at most about 1/L at a
critical point (nu = 1), and less anywhere else. The allowance is that of a torus small enough for its
transfer matrix, brought to the side L as 1/L.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thermorbm.exact.energies import EnergyMoments
from thermorbm.exact.planar import honeycomb, kagome, triangular
from thermorbm.exact.thermodynamics import ManyTemperatures, Thermodynamics
from thermorbm.exact.transfer import transfer_energies
from thermorbm.hamiltonians import Hamiltonian, hamiltonian

# The infinite lattice, and the side of a torus that is quick to sum and fits three sublattices.
_BULK: dict[str, tuple[Callable[..., Any], int]] = {
    "triangular": (triangular, 6),
    "honeycomb": (honeycomb, 3),
    "kagome": (kagome, 3),
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
    small, side = _BULK[H.name][1], min(H.grid.shape)
    if side < small or any(length % small for length in H.grid.shape):
        return None
    torus = hamiltonian(H.name, (small, small), coupling=coupling)
    gap = abs(transfer_energies(torus, T).mean / torus.n_sites - infinite.energy)
    n_sites, allowance = H.n_sites, gap * small / side
    return EnergyMoments(
        n_sites * infinite.energy, n_sites * T**2 * infinite.heat_capacity, n_sites * allowance
    )
