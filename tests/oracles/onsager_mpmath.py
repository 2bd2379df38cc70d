"""Onsager's and Yang's formulas as printed, in arithmetic of many digits."""

from __future__ import annotations

from dataclasses import dataclass

from mpmath import mp

DIGITS = 60


@dataclass(frozen=True)
class OnsagerReference:
    """Per spin, L = inf; `excess_energy` counts from the ground state, -2."""

    energy: float
    heat_capacity: float
    entropy: float
    free_energy: float
    magnetization: float
    excess_energy: float


def onsager_reference(temperature):
    with mp.workdps(DIGITS):
        t = mp.mpf(temperature)
        k = 1 / t
        tanh_squared = mp.tanh(2 * k) ** 2
        q_squared = (2 * mp.sinh(2 * k) / mp.cosh(2 * k) ** 2) ** 2
        k1, e1 = mp.ellipk(q_squared), mp.ellipe(q_squared)
        energy = -mp.coth(2 * k) * (1 + 2 / mp.pi * (2 * tanh_squared - 1) * k1)
        braces = k1 - e1 - (1 - tanh_squared) * (mp.pi / 2 + (2 * tanh_squared - 1) * k1)
        heat_capacity = 4 / mp.pi * (k * mp.coth(2 * k)) ** 2 * braces
        log_z = mp.log(mp.sqrt(2) * mp.cosh(2 * k)) + _integral(q_squared) / mp.pi
        inside = 1 - mp.sinh(2 * k) ** -4
        magnetization = inside ** (mp.mpf(1) / 8) if inside > 0 else mp.mpf(0)
        parts = (energy, heat_capacity, log_z + k * energy, -t * log_z, magnetization, energy + 2)
        return OnsagerReference(*(float(part) for part in parts))


def _integral(q_squared):
    # Near T_c the integrand bends within sqrt(1 - q^2) of pi/2: an end of a piece goes there.
    bend = mp.pi / 2 - min(mp.sqrt(1 - q_squared), mp.mpf(1) / 2)
    return mp.quad(
        lambda x: mp.log(1 + mp.sqrt(mp.cos(x) ** 2 + (1 - q_squared) * mp.sin(x) ** 2)),
        [0, bend, mp.pi / 2],
    )
