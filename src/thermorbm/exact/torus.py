"""The finite L x L torus (Kaufman, Phys. Rev. 76, 1232 (1949)), in a form stable at every temperature.

Kaufman's four products are polynomials in w = e^{-2K}, given in `energies`:

    Z e^{-2NK} = 1/2 (O_+ + O_- + E_+ + E_-)(w).

The dual variable v = tanh K = (1-w)/(1+w) gives the same polynomials, but for one sign:

    Z / (2 cosh^2 K)^N = 1/2 (O_+ + O_- + E_+ - E_-)(v).

Taking w below T_c and v above keeps the variable x <= sqrt(2) - 1 and every logarithm small. At T_c E_- is 0.

Deep in the ordered phase excess energy and entropy are exponentially small, and these formulas would subtract
numbers of order 1 to reach numbers of order e^{-8K}. There the exact distribution of the energy at one
reference temperature is reweighted to T: all its terms are positive, and it keeps its accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

import numpy as np

from thermorbm.exact.energies import energy_distribution
from thermorbm.exact.jets import FloatArray, Jet, exp, expm1, log, log1p, piecewise, sqrt
from thermorbm.exact.thermodynamics import (
    TC_2D,
    ManyTemperatures,
    Thermodynamics,
    as_side,
    as_temperatures,
    canonical,
    coupling_of,
    from_log_partition,
)

LOW_TEMPERATURE = 0.75  # from here up the closed formulas lose no more than three digits
# Some way above, so that reweighting also suppresses the rounding errors of the rare high levels.
REFERENCE_TEMPERATURE = 1.0
# Tori differ only by the domain walls that wind round them, of weight w^{2L} with w = e^{-2K}. Below
# LOW_TEMPERATURE and from this side on that is under 1e-70, and ln(Z e^{-2NK} / 2) is proportional to N.
ENOUGH_SIDE = 32
_SCAN = 200  # temperatures among which the peak of the heat capacity is sought first


def log_excess(side: int, coupling: FloatArray) -> Jet:
    """ln(Z e^{-2NK} / 2) / N of the L x L torus at K (n,) > 1 / LOW_TEMPERATURE."""
    side = min(side, ENOUGH_SIDE)
    levels, weights = _excitations(side)
    return canonical(levels, weights, coupling - 1 / REFERENCE_TEMPERATURE) * (1 / side**2)


@lru_cache(maxsize=ENOUGH_SIDE)
def _excitations(side: int) -> tuple[FloatArray, FloatArray]:
    """Energies above the ground state, and their probabilities at the reference temperature over its own."""
    distribution = energy_distribution(side, REFERENCE_TEMPERATURE)
    possible = distribution.probabilities > 0
    levels = (distribution.energies - distribution.energies[0])[possible].astype(np.float64)
    return levels, distribution.probabilities[possible] / distribution.probabilities[0]


@dataclass(frozen=True, eq=False)
class _Sector:
    """Logarithms of the products over one set of modes: base + plus and base + minus, of O_+- or E_+-."""

    base: Jet
    plus: Jet
    minus: Jet

    def with_mode(self, base: Jet, ratio: Jet) -> _Sector:
        """One more mode, of value e^base (1 +- ratio)."""
        return _Sector(self.base + base, self.plus + log1p(ratio), self.minus + log1p(-ratio))


@overload
def kaufman(L: int, T: float) -> Thermodynamics[float]: ...
@overload
def kaufman(L: int, T: ManyTemperatures) -> Thermodynamics[FloatArray]: ...
def kaufman(L: int, T: float | ManyTemperatures) -> Thermodynamics[Any]:
    """Exact energy, heat capacity, entropy and free energy per spin of the L x L torus, L >= 2, at T > 0.

    As T -> 0 the entropy tends to ln 2 / L^2, that of the two ordered states. For L <= 128 and T <= 1e4 every
    quantity is good to 1e-11 of itself, at T_c as well; beyond, the energy has an absolute error of 1e-16.
    """
    side, temperatures = as_side(L), as_temperatures(T)
    flat = temperatures.ravel()
    cold, ordered = flat < LOW_TEMPERATURE, flat < TC_2D
    log_z = piecewise(
        coupling_of(flat),
        [
            (cold, lambda coupling: log_excess(side, coupling) + math.log(2) / side**2),
            (ordered & ~cold, lambda coupling: _log_partition_below(side, coupling)),
            (~ordered, lambda coupling: log_partition_above(side, coupling)),
        ],
    ).reshape(temperatures.shape)
    ground = np.where(temperatures < TC_2D, -2.0, 0.0)
    return from_log_partition(temperatures, log_z, ground)


def heat_capacity_peak(L: int) -> float:
    """Temperature at which the heat capacity of the L x L torus is largest."""
    from scipy.optimize import minimize_scalar

    scan = np.linspace(0.8 * TC_2D, 2 * TC_2D, _SCAN)
    top = int(np.argmax([kaufman(L, float(temperature)).heat_capacity for temperature in scan]))
    ends = (float(scan[top - 1]), float(scan[top + 1]))
    least = minimize_scalar(
        lambda t: -kaufman(L, t).heat_capacity, bounds=ends, method="bounded", options={"xatol": 1e-8}
    )
    return float(least.x)


def _log_partition_below(side: int, coupling: FloatArray) -> Jet:
    """ln(Z e^{-2NK}) / N at couplings (n,) above K_c."""
    w = np.exp(-2 * coupling)
    return _log_polynomial(side, Jet(w, -2 * w, 4 * w), sign=1.0) * (1 / side**2)


def log_partition_above(side: int, coupling: FloatArray) -> Jet:
    """ln Z / N at couplings (n,) up to K_c."""
    v = np.tanh(coupling)
    x = Jet(v, 1 - v * v, -2 * v * (1 - v * v))
    log_cosh_squared = -log1p(-(x * x))
    return math.log(2) + log_cosh_squared + _log_polynomial(side, x, sign=-1.0) * (1 / side**2)


def _log_polynomial(side: int, x: Jet, sign: float) -> Jet:
    """ln of 1/2 (O_+ + O_- + E_+ + sign E_-) at x (n,) -> (n,)."""
    odd, even = _paired_modes(side, x, np.arange(1, side, 2)), _paired_modes(side, x, np.arange(2, side, 2))
    last = side * log1p(x), exp(side * (log(x) + log1p(-x) - log1p(x)))
    if side % 2:
        odd = odd.with_mode(*last)
    else:
        even = even.with_mode(*last)
    # The mode l = 0, e^base (1 +- e^log_ratio): log_ratio is 0 at T_c, so 1 - e^log_ratio has no logarithm.
    base, log_ratio = side * log1p(-x), side * (log(x) + log1p(x) - log1p(-x))
    # Relative to O_+ all terms are of order 1, and so their derivatives hardly cancel.
    largest = odd.base + odd.plus
    total = (
        1.0
        + exp(odd.minus - odd.plus)
        + exp(even.base + base + even.plus - largest) * (1.0 + exp(log_ratio))
        - sign * exp(even.base + base + even.minus - largest) * expm1(log_ratio)
    )
    return largest + log(total) - math.log(2)


def _paired_modes(side: int, x: Jet, modes: np.ndarray[Any, np.dtype[np.int64]]) -> _Sector:
    """The modes l and 2L - l for every l of `modes`: e^base = p^L, p the larger root of p + b^2/p = 2a."""
    half_sine_squared = np.sin(np.pi * modes / (2 * side))[:, None] ** 2
    b = x * (1 - x * x)
    critical = 1 - 2 * x - x * x  # vanishes at T_c
    gap = critical * critical * 0.5 + b * (2 * half_sine_squared)  # a - b without cancellation
    log_p = log(gap + b + sqrt(gap * (gap + 2 * b)))
    ratio = exp(side * (log(b) - log_p))
    return _Sector(side * log_p.sum(), 2 * log1p(ratio).sum(), 2 * log1p(-ratio).sum())
