"""How fast this machine runs our kernels; `benchmarks/` sets the same numbers beside other programs'."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence

from thermorbm.lattice import Lattice
from thermorbm.sampling.blocks import MetropolisBlock
from thermorbm.sampling.metropolis import SKIP_PROBABILITY

CASES = (((64, 64), 2.269), ((16, 16, 16), 4.511))


@dataclass(frozen=True)
class SamplingSpeed:
    """Attempted Metropolis updates per nanosecond on one core, the best of several timed stretches."""

    shape: tuple[int, ...]
    temperature: float
    updates_per_ns: float


def sampling_speed(
    shape: tuple[int, ...], temperature: float, n_sweeps: int = 400, repeats: int = 5
) -> SamplingSpeed:
    """Times the multispin kernel at equilibrium; sites that the lottery leaves out do not count."""
    lattice = Lattice(shape)
    block = MetropolisBlock(
        lattice, temperature, SeedSequence(1), np.zeros(MetropolisBlock.n_chains, np.bool_)
    )
    block.advance(n_sweeps)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        block.advance(n_sweeps)
        seconds.append(time.perf_counter() - start)
    updates = (1 - SKIP_PROBABILITY) * lattice.n_sites * block.n_chains * n_sweeps
    return SamplingSpeed(shape, temperature, updates / min(seconds) * 1e-9)
