"""Blocks of independent chains: what the schedule drives, whatever the algorithm."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.sampling.clusters import swendsen_wang, wolff
from thermorbm.sampling.metropolis import acceptance_bits, sweep, update_order
from thermorbm.sampling.registers import REPLICAS, WORDS
from thermorbm.sampling.replicas import PLANES, count_odd, counts_of, packed_rows
from thermorbm.xoroshiro import generator_state

Energies = NDArray[Any]  # int64 where all couplings are whole numbers, else float64
Magnetizations = NDArray[np.int64]


class Block(Protocol):
    """Chains that move together; `hot` (n_chains,) tells which started from random spins, the rest all up.

    Ladders keep chains at one or more temperatures: what follows is (n_temperatures * n_chains,) of them.
    """

    hot: NDArray[np.bool_]

    def advance(self, n_sweeps: int) -> None: ...

    def measure(self) -> tuple[Energies, Magnetizations]:
        """Total energy and total magnetisation of each chain, (n_chains,) both."""

    def packed(self) -> NDArray[np.uint8]:
        """(n_chains, ceil(n_sites / 8)) packed spins, little bit order."""


class MetropolisBlock:
    """512 multispin-coded Metropolis chains."""

    n_chains = REPLICAS

    def __init__(
        self,
        lattice: Lattice,
        temperature: float,
        seed: SeedSequence,
        hot: NDArray[np.bool_],
        coupling: float = 1.0,
    ) -> None:
        bits, start = seed.spawn(2)
        self.lattice, self.hot = lattice, hot
        self._unit = int(coupling) if coupling == int(coupling) else coupling
        self._state = _with_zeros(start_words(lattice.n_sites, default_rng(start), hot))
        self._generator = generator_state(bits, WORDS)
        self._neighbours = lattice.neighbours.astype(np.int64)
        self._order = update_order(lattice)
        self._thresholds = acceptance_bits(lattice, temperature / coupling)
        self._scratch = np.zeros((lattice.dimension + 1, WORDS), np.uint64)
        first = np.repeat(np.arange(lattice.n_sites), lattice.dimension)
        self._bonds = _padded(np.stack([first, self._neighbours[:, ::2].ravel()], axis=1))
        self._sites = _padded(np.arange(lattice.n_sites)[:, None])

    def advance(self, n_sweeps: int) -> None:
        sweep(
            self._state,
            self._neighbours,
            self._order,
            self._thresholds,
            self._generator,
            self._scratch,
            self.lattice.shape,
            n_sweeps,
        )

    def measure(self) -> tuple[Energies, Magnetizations]:
        n_up = count_broken(self._state, self._sites)
        energy = self.lattice.energy_of_broken_bonds(count_broken(self._state, self._bonds))
        return self._unit * energy, 2 * n_up - self.lattice.n_sites

    def packed(self) -> NDArray[np.uint8]:
        return packed_rows(self._state, self.lattice.n_sites)


def count_broken(state: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """(REPLICAS,): how many of the rows (8 m, width) have an odd number of set bits in each replica."""
    planes = np.empty((PLANES, WORDS), np.uint64)
    count_odd(state, rows, (0,) * rows.shape[1], planes)
    return counts_of(planes)


def start_words(n_sites: int, rng: np.random.Generator, hot: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """(n_sites, WORDS): random spins where a replica starts hot, up elsewhere."""
    hot_words = np.packbits(hot, bitorder="little").view("<u8").astype(np.uint64)
    return np.asarray(~(rng.integers(0, 2**64, (n_sites, WORDS), dtype=np.uint64) & hot_words))


def _with_zeros(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One more row, of zeros."""
    return np.concatenate([words, np.zeros((1, WORDS), np.uint64)])


def _padded(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of sites filled up to a multiple of eight with the row of zeros that follows the sites."""
    n_sites = int(rows.max()) + 1
    return np.pad(rows, ((0, -len(rows) % 8), (0, 0)), constant_values=n_sites)


class ClusterBlock:
    """Chains of whole-cluster updates, one row of int8 spins each: Swendsen-Wang, or Wolff.

    Pairs alone, without a field, in a gauge in which no coupling is negative.
    """

    n_chains = 8  # few, so that a small dataset of a large lattice keeps several cores busy

    def __init__(
        self,
        model: Hamiltonian | Lattice,
        temperature: float,
        seed: SeedSequence,
        hot: NDArray[np.bool_],
        flips_per_sweep: int | None = None,
    ) -> None:
        """flips_per_sweep: Wolff clusters that make one sweep; None for Swendsen-Wang."""
        chains, start = seed.spawn(2)
        self.hamiltonian, self.hot = as_hamiltonian(model), hot
        n_sites = self.hamiltonian.n_sites
        self._spins = np.ones((len(hot), n_sites), np.int8)
        shape = (int(hot.sum()), n_sites)
        self._spins[hot] = 2 * default_rng(start).integers(0, 2, shape, dtype=np.int8) - 1
        self._generators = generator_state(chains, len(hot)).T.copy()
        both_ways = flips_per_sweep is not None
        self._neighbours, couplings = neighbour_table(self.hamiltonian, both_ways)
        self._join = -np.expm1(-2.0 * couplings / temperature)
        self._flips_per_sweep = flips_per_sweep

    def advance(self, n_sweeps: int) -> None:
        if self._flips_per_sweep is None:
            swendsen_wang(self._spins, self._neighbours, self._join, self._generators, n_sweeps)
        else:
            self.flip_clusters(n_sweeps * self._flips_per_sweep)

    def flip_clusters(self, n_clusters: int) -> int:
        """Flips so many Wolff clusters in each chain and returns how many spins flipped in all."""
        return int(wolff(self._spins, self._neighbours, self._join, self._generators, n_clusters))

    def measure(self) -> tuple[Energies, Magnetizations]:
        return self.hamiltonian.energy(self._spins), self._spins.sum(axis=1, dtype=np.int64)

    def packed(self) -> NDArray[np.uint8]:
        return np.packbits(self._spins > 0, axis=1, bitorder="little")


def neighbour_table(
    hamiltonian: Hamiltonian, both_ways: bool
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """(n_sites, most) other ends of the bonds of each site, and their couplings; filled up with itself and 0.

    both_ways: each bond at both of its sites, else at its first one alone.
    """
    pairs, couplings = hamiltonian.terms[0].sites, hamiltonian.terms[0].couplings
    if both_ways:
        # Up, then down along each direction in turn: the order of Lattice.neighbours.
        kind = np.arange(len(pairs)) // hamiltonian.n_sites
        order = np.argsort(np.concatenate([2 * kind, 2 * kind + 1]), kind="stable")
        pairs = np.concatenate([pairs, pairs[:, ::-1]])[order]
        couplings = np.concatenate([couplings, couplings])[order]
    order = np.argsort(pairs[:, 0], kind="stable")
    site, other, values = pairs[order, 0], pairs[order, 1], couplings[order]
    n_bonds = np.bincount(site, minlength=hamiltonian.n_sites)
    place = np.arange(len(site)) - np.repeat(np.cumsum(n_bonds) - n_bonds, n_bonds)
    neighbours = np.repeat(np.arange(hamiltonian.n_sites, dtype=np.int32)[:, None], n_bonds.max(), axis=1)
    strengths = np.zeros(neighbours.shape)
    neighbours[site, place], strengths[site, place] = other, values
    return neighbours, strengths


def wolff_flips_per_sweep(model: Hamiltonian | Lattice, temperature: float, seed: SeedSequence) -> int:
    """Clusters that flip about n_sites spins; fixed beforehand: stopping at n_sites would bias the chain."""
    probe = ClusterBlock(model, temperature, seed, np.zeros(ClusterBlock.n_chains, np.bool_), 1)
    probe.advance(100)
    n_clusters = 100
    mean_size = probe.flip_clusters(n_clusters) / (n_clusters * ClusterBlock.n_chains)
    return max(1, round(model.n_sites / mean_size))
