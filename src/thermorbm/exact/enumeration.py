"""Brute force: every configuration of a tiny lattice of any dimension."""

from __future__ import annotations

from dataclasses import dataclass

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
from thermorbm.lattice import Lattice

MOST_SPINS = 20


@dataclass(frozen=True, eq=False)
class Boltzmann:
    """The Boltzmann distribution over all 2^n configurations of n spins.

    states: int8 (2^n, n) of +-1. energies: int64 (2^n,), total. probabilities: float64 (2^n,), sum 1.
    thermodynamics: per spin; its magnetization is the mean of |m|, as that of m is 0.
    """

    states: NDArray[np.int8]
    energies: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    thermodynamics: MagneticThermodynamics[float]


def enumerate_states(lattice: Lattice) -> NDArray[np.int8]:
    """All configurations of a lattice of n <= 20 spins, int8 (2^n, n) of +-1.

    Bit i of the number of a row is spin i, 0 for -1: the first row has all spins down.
    """
    n_spins = lattice.n_sites
    if n_spins > MOST_SPINS:
        raise InputError("number of spins", n_spins, f"at most {MOST_SPINS} to enumerate all configurations")
    numbers = np.arange(2**n_spins, dtype="<u4")
    bits = np.unpackbits(numbers.view(np.uint8).reshape(-1, 4), axis=1, count=n_spins, bitorder="little")
    return 2 * bits.view(np.int8) - 1


def boltzmann(lattice: Lattice, T: float) -> Boltzmann:
    """The Boltzmann distribution of a lattice of at most 20 spins at temperature T, by enumeration."""
    temperature = as_temperature(T)
    states = enumerate_states(lattice)
    energies = lattice.energy(states)
    coupling = coupling_of(np.asarray(temperature))
    weights = np.exp(-coupling * (energies - energies.min()))
    probabilities = weights / weights.sum()
    magnetization = probabilities @ np.abs(lattice.magnetization(states))
    thermodynamics = with_magnetization(_thermodynamics(lattice, energies, temperature), magnetization)
    return Boltzmann(states, energies, probabilities, thermodynamics)


def enumerated_energy_distribution(lattice: Lattice, T: float) -> EnergyDistribution:
    """P(E) of a lattice of at most 20 spins, in any dimension, by enumeration.

    energies runs over -n_bonds, -n_bonds + 4, ... <= n_bonds.
    """
    coupling = float(coupling_of(np.asarray(as_temperature(T))))
    counts = _degeneracies(lattice, lattice.energy(enumerate_states(lattice)))
    weights = counts * np.exp(-coupling * 4.0 * np.arange(len(counts)))
    return EnergyDistribution(ladder(lattice.n_bonds), weights / weights.sum())


def _degeneracies(lattice: Lattice, energies: NDArray[np.int64]) -> NDArray[np.float64]:
    energy_ladder = ladder(lattice.n_bonds)
    return np.bincount((energies - energy_ladder[0]) // 4, minlength=len(energy_ladder)).astype(np.float64)


def _thermodynamics(
    lattice: Lattice, energies: NDArray[np.int64], temperature: float
) -> Thermodynamics[float]:
    counts = _degeneracies(lattice, energies)
    levels = np.arange(0, 4 * len(counts), 4, dtype=np.float64)
    log_z = canonical(levels, counts, coupling_of(np.array([temperature]))) * (1 / lattice.n_sites)
    ground = -lattice.n_bonds / lattice.n_sites
    return from_log_partition(np.asarray(temperature), log_z.reshape(()), ground)
