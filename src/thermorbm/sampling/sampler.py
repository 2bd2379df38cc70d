"""From a lattice and a temperature to packed, certified configurations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from threading import Lock

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.errors import InputError, unknown_name
from thermorbm.exact import (
    EnergyDistribution,
    energy_distribution,
    enumerated_energy_distribution,
    ring_energy_distribution,
)
from thermorbm.lattice import Lattice
from thermorbm.sampling.blocks import Block, ClusterBlock, MetropolisBlock, wolff_flips_per_sweep
from thermorbm.sampling.certificate import Certificate, certify
from thermorbm.sampling.pilot import Pilot
from thermorbm.sampling.schedule import MAX_PILOT_SWEEPS, Progress, run_pilot
from thermorbm.sampling.starts import hot_starts
from thermorbm.sampling.workers import Workers

METHODS = ("metropolis", "swendsen-wang", "wolff")

# Samples per chain that make the pilot's share of the work small.
_ROUNDS = 24
_MAX_CHAINS = {"metropolis": 64 * MetropolisBlock.n_chains, "swendsen-wang": 2048, "wolff": 2048}
_MIN_CHAINS = 32
_MOST_ENUMERATED = 16
_MOST_EXACT_SITES = 256**2  # the exact P(E) takes a second there

Sector = str | float


@dataclass(frozen=True)
class Draw:
    """packed: (n_samples, ceil(n_sites / 8)) uint8, little bit order, 1 = spin up."""

    packed: NDArray[np.uint8]
    certificate: Certificate


def draw(
    lattice: Lattice,
    temperature: float,
    n_samples: int,
    seed: int,
    method: str = "metropolis",
    sector: Sector = "symmetric",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Draw:
    """Independent Boltzmann samples with their certificate; equal bits whatever the number of threads."""
    _check(temperature, n_samples, seed, method, sector, threads)
    temperature = float(temperature)
    report = progress or (lambda stage, done, total: None)
    signs, calibration, chains = SeedSequence(int(seed)).spawn(3)
    blocks = _build(lattice, temperature, n_samples, method, calibration, chains)
    with Workers(threads) as workers:
        pilot = run_pilot(blocks, workers, report, MAX_PILOT_SWEEPS)
        n_rounds = math.ceil(n_samples / (len(blocks) * len(blocks[0].hot)))
        spacing = _spacing(pilot, n_rounds)
        packed, energy, magnetization = _collect(blocks, workers, n_samples, n_rounds, spacing, report)
    _choose_signs(packed, magnetization.ravel()[:n_samples], lattice.n_sites, sector, signs)
    truth = exact_energies(lattice, temperature)
    return Draw(
        packed, certify(pilot, spacing, energy, magnetization, n_samples, lattice.n_sites, truth, method)
    )


def _spacing(pilot: Pilot, n_rounds: int) -> int:
    """Sweeps between kept samples; a pilot that failed is not made worse by a run much longer than itself."""
    return pilot.spacing if pilot.resolved else max(1, min(pilot.spacing, pilot.sweeps // n_rounds))


def exact_energies(lattice: Lattice, temperature: float) -> EnergyDistribution | None:
    """Exact P(E) where it can be had: rings, tori in 2d, and any lattice small enough to enumerate."""
    if lattice.n_sites <= _MOST_ENUMERATED:
        return enumerated_energy_distribution(lattice, temperature)
    if lattice.dimension == 1:
        return ring_energy_distribution(lattice.n_sites, temperature)
    if lattice.dimension == 2 and lattice.n_sites <= _MOST_EXACT_SITES:
        rows, columns = lattice.shape
        return energy_distribution((rows, columns), temperature)
    return None


def _check(
    temperature: float, n_samples: int, seed: int, method: str, sector: Sector, threads: int | None
) -> None:
    if not isinstance(temperature, Real) or not (math.isfinite(temperature) and temperature > 0):
        raise InputError("temperature", temperature, "a finite number > 0")
    _check_whole("n_samples", n_samples, 1)
    _check_whole("seed", seed, 0)
    if threads is not None:
        _check_whole("threads", threads, 1)
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if isinstance(sector, str):
        if sector not in ("symmetric", "positive"):
            raise InputError("sector", sector, "'symmetric', 'positive' or a fraction of m > 0 in [0, 1]")
    elif not isinstance(sector, Real) or not 0 <= sector <= 1:
        raise InputError("sector", sector, "a fraction of m > 0 in [0, 1]")


def _check_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(name, value, f"a whole number >= {least}")


def _build(
    lattice: Lattice,
    temperature: float,
    n_samples: int,
    method: str,
    calibration: SeedSequence,
    chains: SeedSequence,
) -> list[Block]:
    size = MetropolisBlock.n_chains if method == "metropolis" else ClusterBlock.n_chains
    n_chains = min(max(n_samples / _ROUNDS, _MIN_CHAINS), _MAX_CHAINS[method])
    n_blocks = max(1, round(n_chains / size))
    hot = hot_starts(lattice, temperature, size)
    seeds = chains.spawn(n_blocks)
    if method == "metropolis":
        return [MetropolisBlock(lattice, temperature, seed, hot) for seed in seeds]
    flips = wolff_flips_per_sweep(lattice, temperature, calibration) if method == "wolff" else None
    return [ClusterBlock(lattice, temperature, seed, hot, flips) for seed in seeds]


def _collect(
    blocks: Sequence[Block], workers: Workers, n_samples: int, n_rounds: int, spacing: int, report: Progress
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Packed samples (n_samples, n_bytes), energy and magnetisation (n_rounds, n_chains) of all chains."""
    size = len(blocks[0].hot)
    count = _counter(report, n_rounds * len(blocks))
    packed = np.empty((n_samples, blocks[0].packed().shape[1]), np.uint8)
    measured = np.empty((2, n_rounds, len(blocks) * size), np.int64)

    def gather(index: int) -> None:
        for round_ in range(n_rounds):
            workers.advance(blocks[index], spacing)
            measured[:, round_, index * size : (index + 1) * size] = blocks[index].measure()
            rows = packed[(round_ * len(blocks) + index) * size :][:size]
            rows[:] = blocks[index].packed()[: len(rows)]
            count()

    workers.map(gather, range(len(blocks)))
    return packed, measured[0], measured[1]


def _counter(report: Progress, total: int) -> Callable[[], None]:
    """A function that threads call once per finished piece."""
    lock, done = Lock(), [0]
    report("sample", 0, total)

    def count() -> None:
        with lock:
            done[0] += 1
            report("sample", done[0], total)

    return count


def _choose_signs(
    packed: NDArray[np.uint8],
    magnetization: NDArray[np.int64],
    n_sites: int,
    sector: Sector,
    seed: SeedSequence,
) -> None:
    """Flips whole configurations in place, which leaves H as it is."""
    fraction = {"symmetric": 0.5, "positive": 1.0}[sector] if isinstance(sector, str) else sector
    rng = default_rng(seed)
    wanted_up = rng.random(len(packed)) < fraction
    is_up = np.where(magnetization == 0, rng.random(len(packed)) < 0.5, magnetization > 0)
    all_up = np.packbits(np.ones(n_sites, np.uint8), bitorder="little")
    packed[wanted_up != is_up] ^= all_up
