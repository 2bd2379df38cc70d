"""Brute force: every configuration of a few spins with any Hamiltonian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.exact.energies import EnergyDistribution, ladder
from thermorbm.exact.thermodynamics import (
    MagneticThermodynamics,
    Thermodynamics,
    as_temperature,
    canonical,
    coupling_of,
    from_log_partition,
    with_magnetization,
)
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.lattice import Lattice

MOST_SPINS = 20
LEVEL_DIGITS = 9  # energies that agree to so many decimals are one level


@dataclass(frozen=True, eq=False)
class Boltzmann:
    """The Boltzmann distribution over all 2^n configurations of n spins.

    states: int8 (2^n, n) of +-1. energies: (2^n,), total. probabilities: float64 (2^n,), sum 1.
    thermodynamics: per spin; its magnetization is the mean of |m|.
    """

    states: NDArray[np.int8]
    energies: NDArray[Any]
    probabilities: NDArray[np.float64]
    thermodynamics: MagneticThermodynamics[float]


def enumerate_states(model: Hamiltonian | Lattice) -> NDArray[np.int8]:
    """All configurations of n <= 20 spins, int8 (2^n, n) of +-1.

    Bit i of the number of a row is spin i, 0 for -1: the first row has all spins down.
    """
    n_spins = model.n_sites
    if n_spins > MOST_SPINS:
        raise InputError("number of spins", n_spins, f"at most {MOST_SPINS} to enumerate all configurations")
    numbers = np.arange(2**n_spins, dtype="<u4")
    bits = np.unpackbits(numbers.view(np.uint8).reshape(-1, 4), axis=1, count=n_spins, bitorder="little")
    return 2 * bits.view(np.int8) - 1


def boltzmann(model: Hamiltonian | Lattice, T: float) -> Boltzmann:
    """The Boltzmann distribution of at most 20 spins at temperature T, by enumeration."""
    temperature = as_temperature(T)
    states = enumerate_states(model)
    energies = model.energy(states)
    coupling = coupling_of(np.asarray(temperature))
    weights = np.exp(-coupling * (energies - energies.min()))
    probabilities = weights / weights.sum()
    magnetization = probabilities @ np.abs(model.magnetization(states))
    thermodynamics = with_magnetization(_thermodynamics(model, energies, temperature), magnetization)
    return Boltzmann(states, energies, probabilities, thermodynamics)


def enumerated_energy_distribution(model: Hamiltonian | Lattice, T: float) -> EnergyDistribution:
    """P(E) of at most 20 spins, by enumeration.

    For a lattice energies runs over -n_bonds, -n_bonds + 4, ... <= n_bonds, for a Hamiltonian over its
    levels.
    """
    coupling = float(coupling_of(np.asarray(as_temperature(T))))
    levels, counts = _levels(model, model.energy(enumerate_states(model)))
    weights = counts * np.exp(-coupling * (levels - levels[0]))
    return EnergyDistribution(levels, weights / weights.sum())


def _levels(model: Hamiltonian | Lattice, energies: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Energies in ascending order, and how many configurations have each."""
    if isinstance(model, Lattice):
        steps = ladder(model.n_bonds)
        return steps, np.bincount((energies - steps[0]) // 4, minlength=len(steps)).astype(np.float64)
    levels, counts = np.unique(np.round(energies, LEVEL_DIGITS), return_counts=True)
    return levels, counts.astype(np.float64)


def _thermodynamics(
    model: Hamiltonian | Lattice, energies: NDArray[Any], temperature: float
) -> Thermodynamics[float]:
    levels, counts = _levels(model, energies)
    excess = (levels - levels[0]).astype(np.float64)
    log_z = canonical(excess, counts, coupling_of(np.array([temperature]))) * (1 / model.n_sites)
    return from_log_partition(np.asarray(temperature), log_z.reshape(()), float(levels[0]) / model.n_sites)
