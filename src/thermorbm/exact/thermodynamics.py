"""Thermodynamic quantities per spin, and how they follow from the logarithm of a partition function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from thermorbm.checks import whole_number
from thermorbm.errors import InputError
from thermorbm.exact.jets import FloatArray, Jet
from thermorbm.shown import Displayed

# Kramers and Wannier, Phys. Rev. 60, 252 (1941): sinh(2 / T_c) = 1.
TC_2D = 2 / math.log1p(math.sqrt(2))

# Ferrenberg, Xu and Landau, Phys. Rev. E 97, 043301 (2018): K_c = 0.221654626(5).
KC_3D = 0.221654626
TC_3D = 1 / KC_3D

Value = TypeVar("Value", float, NDArray[np.float64])
ManyTemperatures = Sequence[float] | NDArray[Any]

# Outside these bounds every quantity equals its limit in float64, while 1/T or its square may overflow.
COLDEST, HOTTEST = 1e-3, 1e140


@dataclass(frozen=True, eq=False, repr=False)
class Thermodynamics(Displayed, Generic[Value]):
    """Per spin, with J = k_B = 1: floats for one temperature, arrays for an array of temperatures.

    energy and free_energy = energy - T entropy are in units of J, heat_capacity and entropy in units of k_B.
    magnetization is None where no exact value is known.
    """

    energy: Value
    heat_capacity: Value
    entropy: Value
    free_energy: Value
    magnetization: Value | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MagneticThermodynamics(Thermodynamics[Value]):
    """Thermodynamics where the magnetization per spin is known."""

    magnetization: Value


def as_temperatures(T: float | ManyTemperatures) -> FloatArray:
    """T as a float array of its own shape; anything but finite numbers > 0 raises InputError."""
    wanted = "a finite number > 0, or an array of such"
    try:
        given = np.asarray(T)
    except ValueError as error:
        raise InputError("temperature", T, wanted) from error
    if given.size and given.dtype.kind not in "iuf":
        raise InputError("temperature", T, wanted)
    temperatures = given.astype(np.float64)
    wrong = ~(np.isfinite(temperatures) & (temperatures > 0))
    if wrong.any():
        raise InputError("temperature", temperatures[wrong][0].item(), wanted)
    return temperatures


def as_temperature(T: float) -> float:
    """T as a float; anything but one finite number > 0 raises InputError."""
    temperature = as_temperatures(T)
    if temperature.ndim:
        raise InputError("temperature", T, "one finite number > 0", "ask for one temperature at a time")
    return float(temperature)


def as_side(L: int) -> int:
    """L as an int; anything but a whole number >= 2 raises InputError."""
    return whole_number("lattice side", L, 2)


def coupling_of(temperatures: FloatArray) -> FloatArray:
    """K = 1/T, same shape."""
    return 1 / np.clip(temperatures, COLDEST, HOTTEST)


def from_log_partition(
    temperatures: FloatArray, log_z: Jet, ground: FloatArray | float
) -> Thermodynamics[Any]:
    """Thermodynamics from ln Z / N with energies counted from `ground` per spin: ln(Z e^{K ground N}) / N.

    Counting from the ground state keeps the small excess energy and entropy of low temperatures exact.
    temperatures and log_z have one shape; the shape () gives floats.
    """
    coupling = coupling_of(temperatures)
    return Thermodynamics(
        energy=_plain(ground - log_z.first),
        heat_capacity=_plain(coupling**2 * log_z.second),
        entropy=_plain(log_z.value - coupling * log_z.first),
        free_energy=_plain(ground - temperatures * log_z.value),
    )


def with_magnetization(
    base: Thermodynamics[Any], magnetization: FloatArray | np.float64
) -> MagneticThermodynamics[Any]:
    """The same with a magnetization of the same shape."""
    return MagneticThermodynamics(
        base.energy, base.heat_capacity, base.entropy, base.free_energy, _plain(magnetization)
    )


def canonical(levels: FloatArray, weights: FloatArray, coupling: FloatArray) -> Jet:
    """ln sum_k weights_k e^{-K levels_k} at K (m,) -> (m,); weights (n,) >= 0, levels (n,) rise from 0.

    Every sum has positive terms only, so a heat capacity of 1e-30 is as accurate as one of 1.
    """
    terms = weights * np.exp(-coupling[:, None] * levels)
    excited = terms[:, 1:].sum(axis=1)
    probabilities = terms / terms.sum(axis=1, keepdims=True)
    mean = probabilities @ levels
    variance = (probabilities * (levels - mean[:, None]) ** 2).sum(axis=1)
    return Jet(np.log(weights[0]) + np.log1p(excited / weights[0]), -mean, variance)


def _plain(values: FloatArray | np.float64) -> Any:
    return float(values) if values.ndim == 0 else values
