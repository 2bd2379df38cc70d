"""What is known of the infinite cubic lattice: a high-temperature series and a fit of the magnetisation."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, overload

import numpy as np

from thermorbm.errors import InputError
from thermorbm.exact.jets import FloatArray, Jet, log1p
from thermorbm.exact.thermodynamics import (
    KC_3D,
    TC_3D,
    MagneticThermodynamics,
    ManyTemperatures,
    as_temperatures,
    coupling_of,
    from_log_partition,
    with_magnetization,
)

LOWEST_SERIES_TEMPERATURE = 5.0
NEAREST, FARTHEST = 0.0005, 0.26  # range of 1 - T/T_c in which the fit of the magnetisation holds

# ln Z / N = ln 2 + 3 ln cosh K + v^4 sum_k SERIES_k v^{2k}, v = tanh K. To order v^22: Guttmann and Enting,
# J. Phys. A 26, 807 (1993); v^24: Bhanot, Creutz, Glässner and Schilling, Phys. Rev. B 49, 12909 (1994).
SERIES = (
    3.0,
    22.0,
    375 / 2,
    1980.0,
    24044.0,
    319170.0,
    18059031 / 4,
    201010408 / 3,
    5162283633 / 5,
    16397040750.0,
    266958797382.0,
)


@overload
def cubic_series(T: float) -> MagneticThermodynamics[float]: ...
@overload
def cubic_series(T: ManyTemperatures) -> MagneticThermodynamics[FloatArray]: ...
def cubic_series(T: float | ManyTemperatures) -> MagneticThermodynamics[Any]:
    """Thermodynamics per spin of the infinite cubic lattice at T >= 5, from the high-temperature series.

    The series in tanh^2 K is summed by its [5/5] Padé approximant. Others differ from it at T = 5 by 3e-6 in
    the energy, 3e-5 in the heat capacity and 5e-7 in the entropy, and at T = 5.5 by fifty times less.
    """
    temperatures = as_temperatures(T)
    cold = temperatures < LOWEST_SERIES_TEMPERATURE
    if cold.any():
        wanted = f"at least {LOWEST_SERIES_TEMPERATURE} for the high-temperature series in 3d"
        raise InputError("temperature", temperatures[cold][0].item(), wanted)
    v = np.tanh(coupling_of(temperatures))
    x = Jet(v, 1 - v * v, -2 * v * (1 - v * v))
    z = x * x
    log_z = math.log(2) + log1p(-z) * -1.5 + z * z * _pade(z)
    return with_magnetization(from_log_partition(temperatures, log_z, 0.0), np.zeros_like(temperatures))


@overload
def cubic_magnetization(T: float) -> float: ...
@overload
def cubic_magnetization(T: ManyTemperatures) -> FloatArray: ...
def cubic_magnetization(T: float | ManyTemperatures) -> Any:
    """Spontaneous magnetisation per spin of the infinite cubic lattice, 0.0005 < 1 - T/T_c < 0.26.

    A fit to simulations (Talapov and Blöte, J. Phys. A 29, 5727 (1996)); a temperature outside its range
    raises InputError.
    """
    temperatures = as_temperatures(T)
    t = 1 - temperatures / TC_3D
    outside = ~((t > NEAREST) & (t < FARTHEST))
    if outside.any():
        coldest, hottest = TC_3D * (1 - FARTHEST), TC_3D * (1 - NEAREST)
        wanted = f"between {coldest:.4f} and {hottest:.4f} for the magnetisation in 3d"
        remedy = "it is 0 from T_c up, and no exact formula is known below"
        raise InputError("temperature", temperatures[outside][0].item(), wanted, remedy)
    value = t**0.32694109 * (1.6919045 - 0.34357731 * t**0.50842026 - 0.42572366 * t)
    return float(value) if value.ndim == 0 else value


def _pade(z: Jet) -> Jet:
    """The [5/5] Padé approximant of sum_k SERIES_k z^k."""
    numerator, denominator = _pade_coefficients()
    y = z * (1 / math.tanh(KC_3D) ** 2)
    return _polynomial(numerator, y) / _polynomial(denominator, y)


def _polynomial(coefficients: FloatArray, y: Jet) -> Jet:
    zero = np.zeros_like(y.value)
    total = Jet(zero, zero, zero)
    for coefficient in coefficients[::-1]:
        total = total * y + float(coefficient)
    return total


@lru_cache(maxsize=1)
def _pade_coefficients() -> tuple[FloatArray, FloatArray]:
    """Numerator and denominator, each (6,), constant term first, in z / z_c to keep the system in scale."""
    order = len(SERIES) // 2
    scaled = np.array(SERIES) * math.tanh(KC_3D) ** (2 * np.arange(len(SERIES)))
    # The product of the series and the denominator has no terms of order 6 to 10.
    shifts = np.arange(order + 1, 2 * order + 1)[:, None] - np.arange(1, order + 1)
    denominator = np.concatenate([[1.0], np.linalg.solve(scaled[shifts], -scaled[order + 1 :])])
    return np.convolve(scaled, denominator)[: order + 1], denominator
