"""The blocks of chains that run an algorithm for a Hamiltonian."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import SeedSequence

from thermorbm.hamiltonians import Hamiltonian
from thermorbm.sampling.blocks import Block, ClusterBlock, MetropolisBlock, wolff_flips_per_sweep
from thermorbm.sampling.choice import CLUSTERS
from thermorbm.sampling.general_blocks import block_kind
from thermorbm.sampling.starts import hot_starts
from thermorbm.sampling.tempering import TemperedBlock, temperature_ladder

# Samples per chain that make the pilot's share of the work small.
_ROUNDS = 24
_MAX_CHAINS = {"metropolis": 64 * MetropolisBlock.n_chains, "tempering": 8 * MetropolisBlock.n_chains}
_MAX_CLUSTER_CHAINS = 2048
_MIN_CHAINS = 32


def build_blocks(
    hamiltonian: Hamiltonian,
    temperatures: Sequence[float],
    n_samples: int,
    method: str,
    calibration: SeedSequence,
    chains: SeedSequence,
) -> list[Block]:
    """Blocks of chains that give n_samples in about two dozen rounds.

    temperatures: one, or those that share a ladder.
    """
    temperature = temperatures[0]
    if method in CLUSTERS:
        seeds = chains.spawn(_n_blocks(n_samples, _MAX_CLUSTER_CHAINS, ClusterBlock.n_chains))
        hot = hot_starts(hamiltonian, temperature, ClusterBlock.n_chains)
        flips = wolff_flips_per_sweep(hamiltonian, temperature, calibration) if method == "wolff" else None
        return [ClusterBlock(hamiltonian, temperature, seed, hot, flips) for seed in seeds]
    if method == "metropolis" and hamiltonian.plain is not None and hamiltonian.plain[1] > 0:
        lattice, coupling = hamiltonian.plain
        seeds = chains.spawn(_n_blocks(n_samples, _MAX_CHAINS[method], MetropolisBlock.n_chains))
        hot = hot_starts(hamiltonian, temperature, MetropolisBlock.n_chains)
        return [MetropolisBlock(lattice, temperature, seed, hot, coupling) for seed in seeds]
    kind, terms = block_kind(hamiltonian)
    seeds = chains.spawn(_n_blocks(n_samples, _MAX_CHAINS[method], kind.n_chains))
    if method == "metropolis":
        hot = hot_starts(hamiltonian, temperature, kind.n_chains)
        return [kind(hamiltonian, temperature, seed, hot, terms) for seed in seeds]
    both = np.asarray(np.arange(kind.n_chains) % 2 == 1)
    ladder = temperature_ladder(hamiltonian, temperatures, calibration)
    return [TemperedBlock(hamiltonian, ladder, temperatures, seed, both) for seed in seeds]


def _n_blocks(n_samples: int, most_chains: int, size: int) -> int:
    n_chains = min(max(n_samples / _ROUNDS, _MIN_CHAINS), most_chains)
    return max(1, round(n_chains / size))
