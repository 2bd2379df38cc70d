"""From a Hamiltonian and a temperature to packed, certified configurations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from threading import Lock

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from thermorbm.checks import positive_temperature, whole_number
from thermorbm.errors import InputError
from thermorbm.exact import (
    MOST_SPINS,
    EnergyDistribution,
    EnergyMoments,
    bulk_energies,
    energy_distribution,
    enumerated_energy_distribution,
    ring_energy_distribution,
    transfer_energies,
    transfer_width,
)
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.sampling.blocks import Block, Energies, Magnetizations
from thermorbm.sampling.certificate import Certificate, certify
from thermorbm.sampling.choice import METHODS, choose_method, sharing_ladder
from thermorbm.sampling.methods import build_blocks
from thermorbm.sampling.pilot import Pilot, competing_sums
from thermorbm.sampling.schedule import MAX_PILOT_SWEEPS, Progress, run_pilots
from thermorbm.sampling.sectors import Sector, check_sector, draw_signs
from thermorbm.sampling.workers import Workers

__all__ = [
    "METHODS", "Draw", "Progress", "Sector", "draw", "draw_together", "exact_energies", "sharing_ladder",
]  # fmt: skip

COLDEST = 1e-6  # temperature, of the largest coupling or field
_MOST_ENUMERATED = 16  # at once; up to 20, in a second, where nothing faster is known
_MOST_KEPT = 16  # spins of a transfer matrix that takes a second at most
_MOST_EXACT_SITES = 256**2  # the exact P(E) takes a second there


@dataclass(frozen=True)
class Draw:
    """packed: (n_samples, ceil(n_sites / 8)) uint8, little bit order, 1 = spin up. method: the one used."""

    packed: NDArray[np.uint8]
    certificate: Certificate
    method: str


def draw(
    model: Hamiltonian | Lattice,
    temperature: float,
    n_samples: int,
    seed: int,
    method: str = "auto",
    sector: Sector = "symmetric",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Draw:
    """Independent Boltzmann samples with their certificate; equal bits whatever the number of threads."""
    return draw_together(model, [temperature], n_samples, [seed], method, sector, threads, progress)[0]


def draw_together(
    model: Hamiltonian | Lattice,
    temperatures: Sequence[float],
    n_samples: int,
    seeds: Sequence[int],
    method: str = "auto",
    sector: Sector = "symmetric",
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Draw]:
    """The same at one temperature, or at several that are rungs of one ladder: those of `sharing_ladder`.

    n_samples: at each temperature. seeds: one for each, the first also of all chains.
    """
    H = as_hamiltonian(model)
    for temperature, seed in zip(temperatures, seeds, strict=True):
        _check(temperature, n_samples, seed, sector, threads)
        _check_cold(H, temperature)
    check_sector(H, sector)
    values = [float(temperature) for temperature in temperatures]
    chosen = choose_method(H, values[0], method)
    report = progress or (lambda stage, done, total: None)
    _, calibration, chains = SeedSequence(int(seeds[0])).spawn(3)
    # Chains move in the gauge in which all spins up satisfies every term, where there is one.
    gauge = np.ones(H.n_sites, np.int8) if H.ground_state is None else H.ground_state
    blocks = build_blocks(H.gauged(gauge), values, n_samples, chosen, calibration, chains)
    with Workers(threads) as workers:
        watch = competing_sums(H)
        pilots = run_pilots(blocks, workers, report, MAX_PILOT_SWEEPS, len(values), watch)
        n_rounds = math.ceil(n_samples / (len(blocks) * len(blocks[0].hot)))
        spacing = _spacing(pilots, n_rounds)
        kept = _collect(blocks, workers, n_samples, n_rounds, spacing, report)
    draws = []
    for T, seed, pilot, (packed, energy, magnetization) in zip(values, seeds, pilots, kept, strict=False):
        signs = SeedSequence(int(seed)).spawn(3)[0]
        draw_signs(packed, magnetization.ravel()[:n_samples], H, gauge, sector, signs)
        truth, remedy = exact_energies(H, T), _remedy(H, chosen)
        certificate = certify(pilot, spacing, energy, magnetization, n_samples, H.n_sites, truth, remedy)
        draws.append(Draw(packed, certificate, chosen))
    return draws


def _spacing(pilots: Sequence[Pilot], n_rounds: int) -> int:
    """Sweeps between kept samples; pilots that failed are not made worse by a run much longer than they."""
    spacing = max(pilot.spacing for pilot in pilots)
    resolved = all(pilot.resolved for pilot in pilots)
    return spacing if resolved else max(1, min(spacing, pilots[0].sweeps // n_rounds))


def _remedy(hamiltonian: Hamiltonian, method: str) -> str:
    """What to do where chains do not settle."""
    if method != "metropolis":
        return "try a smaller lattice"
    clusters = hamiltonian.largest_order == 2 and not hamiltonian.has_field and not hamiltonian.frustrated
    return f"try {'swendsen-wang' if clusters else 'tempering'}, or a smaller lattice"


def exact_energies(hamiltonian: Hamiltonian, temperature: float) -> EnergyDistribution | EnergyMoments | None:
    """P(E) of few spins and of plain rings and tori; else its moments on narrow or infinite lattices."""
    if hamiltonian.n_sites <= _MOST_ENUMERATED:
        return enumerated_energy_distribution(hamiltonian, temperature)
    if hamiltonian.plain is not None and not hamiltonian.frustrated:
        return _plain_energies(*hamiltonian.plain, temperature)
    if transfer_width(hamiltonian) <= _MOST_KEPT:
        return transfer_energies(hamiltonian, temperature)
    if hamiltonian.n_sites <= MOST_SPINS:
        return enumerated_energy_distribution(hamiltonian, temperature)
    return bulk_energies(hamiltonian, temperature)


def _plain_energies(lattice: Lattice, coupling: float, temperature: float) -> EnergyDistribution | None:
    """Of nearest neighbours on a ring or torus; without frustration only |J| counts."""
    size = abs(coupling)
    if lattice.dimension == 1:
        distribution = ring_energy_distribution(lattice.n_sites, temperature / size)
    elif lattice.dimension == 2 and lattice.n_sites <= _MOST_EXACT_SITES:
        rows, columns = lattice.shape
        distribution = energy_distribution((rows, columns), temperature / size)
    else:
        return None
    unit = int(size) if size == int(size) else size
    return EnergyDistribution(unit * distribution.energies, distribution.probabilities)


def _check_cold(H: Hamiltonian, temperature: float) -> None:
    """Colder, numbers end before the energies do, and ladders of temperatures have no end."""
    sizes = [np.abs(H.field), *(np.abs(terms.couplings) for terms in H.terms)]
    coldest = COLDEST * max(float(size.max(initial=0)) for size in sizes)
    if temperature < coldest:
        raise InputError("temperature", temperature, f"at least {coldest:g}, a millionth of the couplings")


def _check(temperature: float, n_samples: int, seed: int, sector: Sector, threads: int | None) -> None:
    positive_temperature(temperature)
    whole_number("n_samples", n_samples, 1)
    whole_number("seed", seed, 0, most=1 << 63)
    if threads is not None:
        whole_number("threads", threads, 1)
    if isinstance(sector, str):
        if sector not in ("symmetric", "positive"):
            raise InputError("sector", sector, "'symmetric', 'positive' or a fraction of m > 0 in [0, 1]")
    elif not isinstance(sector, Real) or not 0 <= sector <= 1:
        raise InputError("sector", sector, "a fraction of m > 0 in [0, 1]")


def _collect(
    blocks: Sequence[Block], workers: Workers, n_samples: int, n_rounds: int, spacing: int, report: Progress
) -> Iterator[tuple[NDArray[np.uint8], Energies, Magnetizations]]:
    """For each temperature that the blocks keep, packed samples, energies and magnetisations of all chains.

    Packed: (n_samples, n_bytes), the others (n_rounds, n_chains).
    """
    size, first = len(blocks[0].hot), blocks[0].measure()[0]
    n_levels = len(first) // size
    count = _counter(report, n_rounds * len(blocks))
    packed = np.empty((n_levels, n_samples, blocks[0].packed().shape[1]), np.uint8)
    energy = np.empty((n_levels, n_rounds, len(blocks) * size), first.dtype)
    magnetization = np.empty(energy.shape, np.int64)

    def gather(index: int) -> None:
        chains = slice(index * size, (index + 1) * size)
        for round_ in range(n_rounds):
            workers.advance(blocks[index], spacing)
            energies, magnetizations = blocks[index].measure()
            energy[:, round_, chains] = energies.reshape(n_levels, size)
            magnetization[:, round_, chains] = magnetizations.reshape(n_levels, size)
            rows = packed[:, (round_ * len(blocks) + index) * size :][:, :size]
            rows[:] = blocks[index].packed().reshape(n_levels, size, -1)[:, : rows.shape[1]]
            count()

    workers.map(gather, range(len(blocks)))
    return zip(packed, energy, magnetization, strict=True)


def _counter(report: Progress, total: int) -> Callable[[], None]:
    """A function that threads call once per finished piece."""
    lock, done = Lock(), [0]
    report("sample", 0, total)

    def count() -> None:
        with lock:
            done[0] += 1
            report("sample", done[0], total)

    return count
