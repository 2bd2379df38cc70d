"""Critical temperatures of the infinite lattices of ready-made Hamiltonians.

Square with couplings J1, J2 (Onsager, Phys. Rev. 65, 117 (1944)): sinh 2 K1 sinh 2 K2 = 1. Triangular
(Houtappel, Physica 16, 425 (1950)): the sum of sinh 2 K_a sinh 2 K_b over the three pairs of directions is 1.
Honeycomb and kagome (Syozi, Prog. Theor. Phys. 6, 306 (1951)): cosh 2K = 2 and e^4K = 3 + 2 sqrt 3. Three
spins around every triangle (Baxter and Wu, Phys. Rev. Lett. 31, 1294 (1973)): sinh 2K = 1.
"""

from __future__ import annotations

import math
from itertools import combinations

from thermorbm.exact.thermodynamics import TC_2D, TC_3D
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.lattice import Lattice

TC_TRIANGULAR = 4 / math.log(3)
TC_HONEYCOMB = 2 / math.log(2 + math.sqrt(3))
TC_KAGOME = 4 / math.log(3 + 2 * math.sqrt(3))
_ISOTROPIC = {"honeycomb": TC_HONEYCOMB, "kagome": TC_KAGOME, "baxter-wu": TC_2D, "cubic": TC_3D}


def critical_temperature(model: Hamiltonian | Lattice) -> float | None:
    """T_c of the infinite lattice without a field, None where it is not known or nothing orders."""
    H = as_hamiltonian(model)
    if not H.uniform or H.has_field or H.products is None:
        return None
    couplings = [product.coupling for product in H.products]
    sizes = [abs(J) for J in couplings]
    same = len(set(sizes)) == 1
    frustrated = H.name in ("triangular", "kagome") and _frustrates(couplings)
    if frustrated or 0.0 in sizes:
        return None
    if H.plain is not None and H.grid is not None and len(H.grid.shape) == 3:
        return TC_3D * sizes[0]
    if len(sizes) == 2 and H.name in ("square", "hypercubic") and H.largest_order == 2:
        return _root(sizes)
    if H.name == "triangular":
        return _root(sizes)
    return _ISOTROPIC[H.name] * sizes[0] if same and H.name in _ISOTROPIC else None


def _frustrates(couplings: list[float]) -> bool:
    """Whether the product of couplings around a triangle is negative."""
    return math.prod(math.copysign(1, J) for J in couplings[:3]) < 0


def _root(sizes: list[float]) -> float:
    """T at which the sum of sinh(2 J_a / T) sinh(2 J_b / T) over pairs is 1, by bisection."""
    from scipy.optimize import brentq

    def excess(log_t: float) -> float:
        sinhs = [math.sinh(min(2 * J / math.exp(log_t), 300.0)) for J in sizes]
        return math.log(sum(a * b for a, b in combinations(sinhs, 2)))

    low, high = math.log(min(sizes)) - 3, math.log(max(sizes)) + 3
    return math.exp(brentq(excess, low, high, xtol=1e-15, rtol=1e-15))
