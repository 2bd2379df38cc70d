"""The infinite square lattice: Onsager's energy and free energy, Yang's magnetisation.

With k' = 2 tanh^2 2K - 1, q^2 = 1 - k'^2 and the complete elliptic integrals K1, E1 of modulus q (Onsager,
Phys. Rev. 65, 117 (1944)):

    ln Z / N = ln(sqrt 2 cosh 2K) + 1/pi int_0^{pi/2} ln(1 + sqrt(1 - q^2 sin^2 phi)) dphi
    E / N    = -coth 2K [1 + 2/pi k' K1]
    c_V      = 4/pi (K coth 2K)^2 {K1 - E1 - (1 - tanh^2 2K) [pi/2 + k' K1]}

k' vanishes at T_c, where K1 and with it c_V diverge as a logarithm.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, overload

import numpy as np
from scipy import special

from thermorbm.exact.jets import FloatArray, Jet, piecewise
from thermorbm.exact.thermodynamics import (
    TC_2D,
    MagneticThermodynamics,
    ManyTemperatures,
    as_temperatures,
    coupling_of,
    from_log_partition,
    with_magnetization,
)
from thermorbm.exact.torus import ENOUGH_SIDE, LOW_TEMPERATURE, log_excess, log_partition_above

# Above it a torus of ENOUGH_SIDE differs from the infinite lattice only by loops that wind round it, of
# weight under (3 tanh K)^L = 1e-17, and is free of the cancellations of the closed formulas at small K.
HIGH_TEMPERATURE = 10.0


@overload
def onsager(T: float) -> MagneticThermodynamics[float]: ...
@overload
def onsager(T: ManyTemperatures) -> MagneticThermodynamics[FloatArray]: ...
def onsager(T: float | ManyTemperatures) -> MagneticThermodynamics[Any]:
    """Exact thermodynamics per spin of the infinite square lattice at T > 0.

    magnetization is the spontaneous one, 0 from T_c up; heat_capacity is inf at T_c. For T <= 1e4 every
    quantity is good to 1e-11 of itself; beyond, the energy has an absolute error of 1e-16. Within 1e-5 of
    T_c, the rounding of T_c itself is felt in heat_capacity and magnetization.
    """
    temperatures = as_temperatures(T)
    flat = temperatures.ravel()
    cold, hot = flat < LOW_TEMPERATURE, flat > HIGH_TEMPERATURE
    log_z = piecewise(
        flat,
        [
            (cold, lambda t: log_excess(ENOUGH_SIDE, coupling_of(t))),
            (hot, lambda t: log_partition_above(ENOUGH_SIDE, coupling_of(t))),
            (~cold & ~hot, _log_partition),
        ],
    ).reshape(temperatures.shape)
    ground = np.where(temperatures < LOW_TEMPERATURE, -2.0, 0.0)
    thermodynamics = from_log_partition(temperatures, log_z, ground)
    return with_magnetization(thermodynamics, _magnetization(temperatures))


def _magnetization(temperatures: FloatArray) -> FloatArray:
    """(1 - 1/sinh^4 2K)^(1/8) below T_c, 0 from T_c up (Yang, Phys. Rev. 85, 808 (1952))."""
    ordered = np.minimum(temperatures, TC_2D)
    return np.asarray((-np.expm1(-4 * np.log1p(_sinh_minus_one(ordered)))) ** 0.125)


def _sinh_minus_one(temperatures: FloatArray) -> FloatArray:
    """sinh 2K - 1 without the cancellation near T_c, where it is exactly 0."""
    clipped = np.maximum(temperatures, 0.01)  # sinh would overflow; its inverse powers are long 0
    difference = (TC_2D - clipped) / (clipped * TC_2D)
    return np.asarray(2 * np.cosh(1 / clipped + 1 / TC_2D) * np.sinh(difference))


def _log_partition(temperatures: FloatArray) -> Jet:
    """ln Z / N at moderate temperatures (n,); the second derivative is inf at T_c."""
    excess = _sinh_minus_one(temperatures)
    sinh = 1 + excess
    cosh_squared = 1 + sinh**2
    k_prime = excess * (2 + excess) / cosh_squared
    first_kind = special.ellipkm1(k_prime**2)
    product = np.where(k_prime == 0, 0.0, k_prime * np.where(k_prime == 0, 1.0, first_kind))
    coth_squared = cosh_squared / sinh**2
    energy = -np.sqrt(coth_squared) * (1 + 2 / math.pi * product)
    braces = first_kind - special.ellipe(1 - k_prime**2) - (math.pi / 2 + product) / cosh_squared
    value = np.log(2 * cosh_squared) / 2 + _log_integral(k_prime) / math.pi
    return Jet(value, -energy, 4 / math.pi * coth_squared * braces)


def _log_integral(k_prime: FloatArray) -> FloatArray:
    """int_0^{pi/2} ln(1 + sqrt(sin^2 x + k'^2 cos^2 x)) dx for k' (n,), 0 included."""
    nodes, weights = _double_exponential_rule()
    root = np.sqrt(np.sin(nodes) ** 2 + (k_prime[:, None] * np.cos(nodes)) ** 2)
    return np.asarray(np.log1p(root) @ weights)


@lru_cache(maxsize=1)
def _double_exponential_rule() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on (0, pi/2), crowding at 0, where the integrand of small k' has a kink."""
    step = 1 / 32
    t = step * np.arange(-128, 129)
    nodes = np.pi / 2 * special.expit(np.pi * np.sinh(t))
    slope = np.pi * np.cosh(t) * special.expit(-np.pi * np.sinh(t))
    return nodes, step * slope * nodes
