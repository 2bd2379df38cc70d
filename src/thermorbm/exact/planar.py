"""The infinite triangular, honeycomb and kagome lattices, ferromagnets and antiferromagnets.

With c = cosh 2K, s = sinh 2K and averages over the angles a and b (Houtappel, Physica 16, 425 (1950);
Wannier, Phys. Rev. 79, 357 (1950); Syozi, Prog. Theor. Phys. 6, 306 (1951)):

    triangular   ln Z / N = ln 2 + 1/2 < ln[c^3 + s^3 - s (cos a + cos b + cos(a + b))] >
    honeycomb    ln Z / N = 3/4 ln 2 + 1/4 < ln[c^3 + 1 - s^2 (cos a + cos b + cos(a + b))] >

The average over b is that of ln(A - B cos b), ln[(A + sqrt(A^2 - B^2)) / 2] with B proportional to 2
|cos(a/2)|; the other is taken numerically. A spin in the middle of every bond of a honeycomb with coupling
K_h joins it to the kagome lattice, by summing either over these spins or over the others (star and triangle):

    e^{2 K_h} = (e^{4K} + 1) / 2,    3 f(K) = ln 2 + 3 K_h + 2 f_h(K_h) - 2 K - ln[(e^{4K} + 3) / 4].

Powers of e^{|K|} are taken out, so that low temperatures neither overflow nor cancel.

Energies of large tori come from the infinite lattice, with an allowance for their size. On a torus of side L
the energy per spin differs from that of the infinite lattice by about 1/L at a critical point (nu = 1). Away
from it the difference falls faster once L is beyond the correlation length, and slower before: that of the
triangular antiferromagnet at T = 0.5, which is critical at T = 0, is 0.0025, 0.0019, 0.0014 and 0.0008 at
L = 3, 6, 12 and 24. The allowance is that of a torus small enough for its transfer matrix, brought to the
side L by the power with which it falls between two such tori, but not faster than 1/L.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from thermorbm.errors import InputError
from thermorbm.exact import jets
from thermorbm.exact.energies import EnergyMoments
from thermorbm.exact.jets import FloatArray, Jet
from thermorbm.exact.thermodynamics import (
    ManyTemperatures,
    Thermodynamics,
    as_temperatures,
    coupling_of,
    from_log_partition,
)
from thermorbm.exact.transfer import transfer_energies
from thermorbm.hamiltonians import Hamiltonian, hamiltonian


def triangular(T: float | ManyTemperatures, coupling: float = 1.0) -> Thermodynamics[Any]:
    """Exact thermodynamics per spin of the infinite triangular lattice, with either sign of the coupling."""
    return _thermodynamics(T, coupling, _ferromagnet if coupling > 0 else _antiferromagnet)


def honeycomb(T: float | ManyTemperatures, coupling: float = 1.0) -> Thermodynamics[Any]:
    """Exact thermodynamics per spin of the infinite honeycomb lattice, whatever the sign of the coupling."""
    return _thermodynamics(T, coupling, _honeycomb)


def kagome(T: float | ManyTemperatures, coupling: float = 1.0) -> Thermodynamics[Any]:
    """Exact thermodynamics per spin of the infinite kagome lattice, with either sign of the coupling."""
    return _thermodynamics(T, coupling, _kagome_ferromagnet if coupling > 0 else _kagome_antiferromagnet)


def _thermodynamics(
    T: float | ManyTemperatures, coupling: float, log_partition: Callable[[Jet], Jet]
) -> Thermodynamics[Any]:
    """log_partition: ln Z / N as a function of |K|, (n,) -> (n,)."""
    size = abs(float(coupling))
    if not 0 < size < math.inf:
        raise InputError("coupling", coupling, "a finite number other than 0")
    temperatures = as_temperatures(T) / size
    K = coupling_of(temperatures.ravel())
    log_z = log_partition(Jet(K, np.ones_like(K), np.zeros_like(K)))
    unit = from_log_partition(temperatures, log_z.reshape(temperatures.shape), 0.0)
    return Thermodynamics(size * unit.energy, unit.heat_capacity, unit.entropy, size * unit.free_energy)


def _ferromagnet(K: Jet) -> Jet:
    """Triangular: 3 K taken out, so that A and B are those of the formula times w^(3/2), w = e^{-4K}."""
    w = jets.exp(-4.0 * K)
    c, s = (1 + w) * 0.5, (1 - w) * 0.5
    sw = s * w
    y, away = _cosines()
    least = c * c * c + s * s * s - 3.0 * sw  # A - B where it is smallest, at a = 0; 0 at T_c
    difference = _over_nodes(least) + _over_nodes(sw) * (6 * away - 2 * away**2)
    total = _over_nodes(c * c * c + s * s * s + sw) + _over_nodes(sw) * (2 * y - 2 * y**2)
    return math.log(2) + 3.0 * K + 0.5 * _average_log(difference, total)


def _antiferromagnet(K: Jet) -> Jet:
    """Triangular: |K| taken out; A - B vanishes at cos(a/2) = 1/2 when T does."""
    w = jets.exp(-4.0 * K)
    s = (1 - w) * 0.5
    y, _ = _cosines()
    difference = _over_nodes((w * w + 3.0 * w) * 0.25) + _over_nodes(s) * (2 * (y - 0.5) ** 2)
    total = _over_nodes((3 + w * w) * 0.25 - s) + _over_nodes(s) * (2 * y**2 + 2 * y)
    return math.log(2) + K + 0.5 * _average_log(difference, total)


def _honeycomb(K: Jet) -> Jet:
    """6 |K| / 4 taken out; u = e^{-2|K|}."""
    u = jets.exp(-2.0 * K)
    c, s = (1 + u * u) * 0.5, (1 - u * u) * 0.5
    factor = s * s * u
    y, away = _cosines()
    plain = c * c * c + u * u * u
    difference = _over_nodes(plain - 3.0 * factor) + _over_nodes(factor) * (6 * away - 2 * away**2)
    total = _over_nodes(plain + factor) + _over_nodes(factor) * (2 * y - 2 * y**2)
    return 0.75 * math.log(2) + 1.5 * K + 0.25 * _average_log(difference, total)


def _kagome_ferromagnet(K: Jet) -> Jet:
    q = jets.exp(-4.0 * K)
    inner = 2.0 * K + 0.5 * jets.log1p(q) - 0.5 * math.log(2)
    star = 4.0 * K + jets.log1p(3.0 * q) - math.log(4)
    return (math.log(2) + 3.0 * inner + 2.0 * _composed(_honeycomb, inner) - 2.0 * K - star) * (1 / 3)


def _kagome_antiferromagnet(K: Jet) -> Jet:
    """K is |K|: the honeycomb's coupling is negative and at most ln 2 / 2 in size."""
    r = jets.exp(-4.0 * K)
    inner = 0.5 * math.log(2) - 0.5 * jets.log1p(r)
    star = jets.log1p(r * (1 / 3)) + math.log(0.75)
    return (math.log(2) - 3.0 * inner + 2.0 * _composed(_honeycomb, inner) + 2.0 * K - star) * (1 / 3)


def _composed(function: Callable[[Jet], Jet], inner: Jet) -> Jet:
    """function(inner(K)), by the chain rule."""
    outer = function(Jet(inner.value, np.ones_like(inner.value), np.zeros_like(inner.value)))
    first = outer.first * inner.first
    return Jet(outer.value, first, outer.second * inner.first**2 + outer.first * inner.second)


def _over_nodes(f: Jet) -> Jet:
    """(n,) -> (1, n), to be combined with nodes (n_nodes, 1)."""
    return f.reshape((1, len(f.value)))


def _average_log(difference: Jet, total: Jet) -> Jet:
    """< ln[(A + sqrt(A^2 - B^2)) / 2] > over a, from A - B and A + B, (n_nodes, n) -> (n,)."""
    smallest = np.finfo(float).eps ** 2  # at T_c, where rounding decides
    difference = Jet(np.maximum(difference.value, smallest), difference.first, difference.second)
    mean = (difference + total) * 0.5
    weights = _rule()[1][:, None]
    return (jets.log((mean + jets.sqrt(difference * total)) * 0.5) * weights).sum()


def _cosines() -> tuple[FloatArray, FloatArray]:
    """cos(a/2) and 1 - cos(a/2) at the nodes, (n_nodes, 1)."""
    nodes = _rule()[0][:, None]
    return np.cos(nodes / 2), 2 * np.sin(nodes / 4) ** 2


@lru_cache(maxsize=1)
def _rule() -> tuple[FloatArray, FloatArray]:
    """Nodes in (0, pi) and weights of the mean, crowding at 0 and 2 pi/3, where integrands have kinks."""
    step = 1 / 32
    t = step * np.arange(-128, 129)
    unit = special.expit(np.pi * np.sinh(t))
    weights = step * np.pi * np.cosh(t) * unit * special.expit(-np.pi * np.sinh(t))
    middle = 2 * np.pi / 3
    nodes = np.concatenate([middle * unit, middle + (np.pi - middle) * unit])
    return nodes, np.concatenate([2 / 3 * weights, 1 / 3 * weights])


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
