"""From a lattice and a temperature to packed, certified configurations."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Integral, Real
from threading import Event, Lock

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.errors import InputError, unknown_name
from thermorbm.exact import (
    TC_2D,
    TC_3D,
    EnergyDistribution,
    energy_distribution,
    enumerated_energy_distribution,
)
from thermorbm.lattice import Lattice
from thermorbm.sampling.blocks import Block, ClusterBlock, MetropolisBlock, wolff_flips_per_sweep
from thermorbm.sampling.certificate import Certificate, certify
from thermorbm.sampling.schedule import MAX_PILOT_SWEEPS, Progress, run_pilot

METHODS = ("metropolis", "swendsen-wang", "wolff")

# Samples per chain that make the pilot's share of the work small.
_ROUNDS = 24
_MAX_BLOCKS = 64
_LARGEST_EXACT_SIDE = 256

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
    report = progress or (lambda stage, done, total: None)
    signs, calibration, chains = SeedSequence(seed).spawn(3)
    blocks = _build(lattice, temperature, n_samples, method, calibration, chains)
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        pilot = run_pilot(blocks, pool, report, MAX_PILOT_SWEEPS)
        packed, energy, magnetization = _collect(blocks, pool, n_samples, pilot.spacing, report)
    _choose_signs(packed, magnetization.ravel()[:n_samples], lattice.n_sites, sector, signs)
    certificate = certify(
        pilot,
        np.concatenate([block.hot for block in blocks]),
        energy,
        magnetization,
        n_samples,
        lattice.n_sites,
        exact_energies(lattice, temperature),
    )
    return Draw(packed, certificate)


def exact_energies(lattice: Lattice, temperature: float) -> EnergyDistribution | None:
    """Exact P(E) where it can be had: square tori, and any lattice small enough to enumerate."""
    if lattice.n_sites <= 16:
        return enumerated_energy_distribution(lattice, temperature)
    square = lattice.dimension == 2 and lattice.shape[0] == lattice.shape[1] <= _LARGEST_EXACT_SIDE
    return energy_distribution(lattice.shape[0], temperature) if square else None


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
    elif not 0 <= sector <= 1:
        raise InputError("sector", sector, "a fraction of m > 0 in [0, 1]")


def _check_whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, Integral) or value < least:
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
    n_blocks = min(_MAX_BLOCKS, max(1, round(n_samples / (_ROUNDS * size))))
    hot = (
        np.arange(size) % 2 == 1 if temperature > _transition(lattice.dimension) else np.zeros(size, np.bool_)
    )
    seeds = chains.spawn(n_blocks)
    if method == "metropolis":
        return [MetropolisBlock(lattice, temperature, seed, hot) for seed in seeds]
    flips = wolff_flips_per_sweep(lattice, temperature, calibration) if method == "wolff" else None
    return [ClusterBlock(lattice, temperature, seed, hot, flips) for seed in seeds]


def _transition(dimension: int) -> float:
    """A temperature above which random starts are safe; T_c < 2 d (mean field) where it is not tabulated."""
    known: dict[int, float] = {1: 0.0, 2: TC_2D, 3: TC_3D}
    return known.get(dimension, 2.0 * dimension)


def _collect(
    blocks: Sequence[Block], pool: ThreadPoolExecutor, n_samples: int, spacing: int, report: Progress
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Packed samples (n_samples, n_bytes), their energy and magnetisation (n_rounds, n_chains)."""
    size = len(blocks[0].hot)
    n_rounds = math.ceil(n_samples / (size * len(blocks)))
    count = _counter(report, n_rounds * len(blocks))
    packed = np.empty((n_samples, blocks[0].packed().shape[1]), np.uint8)
    measured = np.empty((2, n_rounds, len(blocks) * size), np.int64)

    stopped = Event()

    def gather(index: int) -> None:
        for round_ in range(n_rounds):
            if stopped.is_set():
                return
            blocks[index].advance(spacing)
            measured[:, round_, index * size : (index + 1) * size] = blocks[index].measure()
            rows = packed[(round_ * len(blocks) + index) * size :][:size]
            rows[:] = blocks[index].packed()[: len(rows)]
            count()

    try:
        list(pool.map(gather, range(len(blocks))))
    finally:
        stopped.set()  # after Ctrl-C the other threads must not go on to the end
    return packed, measured[0], measured[1]


def _counter(report: Progress, total: int) -> Callable[[], None]:
    """A function that threads call once per finished piece."""
    lock, done = Lock(), [0]

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
