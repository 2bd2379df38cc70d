"""Blocks of independent chains: what the schedule drives, whatever the algorithm."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.lattice import Lattice
from thermorbm.sampling.generators import generator_state
from thermorbm.sampling.metropolis import acceptance_bits, sweep, update_order
from thermorbm.sampling.registers import REPLICAS, WORDS
from thermorbm.sampling.replicas import PLANES, count_differences, counts_of, packed_rows
from thermorbm.sampling.swendsen_wang import swendsen_wang
from thermorbm.sampling.wolff import wolff


class Block(Protocol):
    """Chains that move together; `hot` (n_chains,) tells which started from random spins, the rest all up."""

    hot: NDArray[np.bool_]

    def advance(self, n_sweeps: int) -> None: ...

    def measure(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Total energy and total magnetisation of each chain, (n_chains,) both."""

    def packed(self) -> NDArray[np.uint8]:
        """(n_chains, ceil(n_sites / 8)) packed spins, little bit order."""


class MetropolisBlock:
    """512 multispin-coded Metropolis chains."""

    n_chains = REPLICAS

    def __init__(
        self, lattice: Lattice, temperature: float, seed: SeedSequence, hot: NDArray[np.bool_]
    ) -> None:
        bits, start = seed.spawn(2)
        self.lattice, self.hot = lattice, hot
        self._state = _start_words(lattice, default_rng(start), hot)
        self._generator = generator_state(bits, WORDS)
        self._neighbours = lattice.neighbours.astype(np.int64)
        self._order = update_order(lattice)
        self._thresholds = acceptance_bits(lattice, temperature)
        self._scratch = np.zeros((lattice.dimension + 1, WORDS), np.uint64)
        self._bonds = _padded(
            np.repeat(np.arange(lattice.n_sites), lattice.dimension), self._neighbours[:, ::2].ravel()
        )
        # The state's last row stays zero, so that comparing with it counts the spins that are up.
        self._sites = _padded(np.arange(lattice.n_sites), np.full(lattice.n_sites, lattice.n_sites))

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

    def measure(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        n_up = self._count(*self._sites)
        energy = self.lattice.energy_of_broken_bonds(self._count(*self._bonds))
        return energy, 2 * n_up - self.lattice.n_sites

    def packed(self) -> NDArray[np.uint8]:
        return packed_rows(self._state, self.lattice.n_sites)

    def _count(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        planes = np.empty((PLANES, WORDS), np.uint64)
        count_differences(self._state, first, second, planes)
        return counts_of(planes)


def _start_words(lattice: Lattice, rng: np.random.Generator, hot: NDArray[np.bool_]) -> NDArray[np.uint64]:
    hot_words = np.packbits(hot, bitorder="little").view("<u8").astype(np.uint64)
    state = np.zeros((lattice.n_sites + 1, WORDS), np.uint64)
    random_words = rng.integers(0, 2**64, (lattice.n_sites, WORDS), dtype=np.uint64)
    state[:-1] = ~(random_words & hot_words)
    return state


def _padded(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index pairs filled up to a multiple of eight with pairs (0, 0), which never differ."""
    padding = (0, -len(first) % 8)
    return np.pad(first, padding), np.pad(second, padding)


class ClusterBlock:
    """Chains of whole-cluster updates, one row of int8 spins each: Swendsen-Wang, or Wolff."""

    n_chains = 8  # few, so that a small dataset of a large lattice keeps several cores busy

    def __init__(
        self,
        lattice: Lattice,
        temperature: float,
        seed: SeedSequence,
        hot: NDArray[np.bool_],
        flips_per_sweep: int | None = None,
    ) -> None:
        """flips_per_sweep: Wolff clusters that make one sweep; None for Swendsen-Wang."""
        chains, start = seed.spawn(2)
        self.lattice, self.hot = lattice, hot
        self._spins = np.ones((len(hot), lattice.n_sites), np.int8)
        shape = (int(hot.sum()), lattice.n_sites)
        self._spins[hot] = 2 * default_rng(start).integers(0, 2, shape, dtype=np.int8) - 1
        self._generators = generator_state(chains, len(hot)).T.copy()
        self._neighbours = lattice.neighbours
        self._join = -np.expm1(-2.0 / temperature)
        self._flips_per_sweep = flips_per_sweep

    def advance(self, n_sweeps: int) -> None:
        if self._flips_per_sweep is None:
            swendsen_wang(self._spins, self._neighbours, self._join, self._generators, n_sweeps)
        else:
            n_clusters = n_sweeps * self._flips_per_sweep
            wolff(self._spins, self._neighbours, self._join, self._generators, n_clusters)

    def measure(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.lattice.energy(self._spins), self._spins.sum(axis=1, dtype=np.int64)

    def packed(self) -> NDArray[np.uint8]:
        return np.packbits(self._spins > 0, axis=1, bitorder="little")


def wolff_flips_per_sweep(lattice: Lattice, temperature: float, seed: SeedSequence) -> int:
    """Clusters that flip about n_sites spins; fixed beforehand: stopping at n_sites would bias the chain."""
    probe = ClusterBlock(lattice, temperature, seed, np.zeros(ClusterBlock.n_chains, np.bool_), 1)
    probe.advance(100)
    n_clusters = 100
    arguments = (probe._spins, probe._neighbours, probe._join, probe._generators, n_clusters)
    mean_size: float = wolff(*arguments) / (n_clusters * ClusterBlock.n_chains)
    return max(1, round(lattice.n_sites / mean_size))
