"""Signs of whole configurations: exact symmetries of H that single flips would take for ever to find."""

from __future__ import annotations

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.hamiltonians import Hamiltonian

Sector = str | float


def check_sector(hamiltonian: Hamiltonian, sector: Sector) -> None:
    """A sign can be asked for only where H does not choose it."""
    if sector != "symmetric" and not hamiltonian.has_global_flip:
        raise InputError("sector", sector, "'symmetric' here", "H has no global flip: m has its own sign")


def draw_signs(
    packed: NDArray[np.uint8],
    magnetization: NDArray[np.int64],
    hamiltonian: Hamiltonian,
    gauge: NDArray[np.int8],
    sector: Sector,
    seed: SeedSequence,
) -> None:
    """Flips configurations in place by symmetries of H, and takes them out of the gauge of the chains.

    packed: (n, n_bytes); magnetization: (n,) in that gauge, where its sign is that of the sector.
    """
    rng = default_rng(seed)
    if hamiltonian.has_global_flip:
        fraction = {"symmetric": 0.5, "positive": 1.0}[sector] if isinstance(sector, str) else sector
        wanted_up = rng.random(len(packed)) < fraction
        is_up = np.where(magnetization == 0, rng.random(len(packed)) < 0.5, magnetization > 0)
        packed[wanted_up != is_up] ^= _bits(-np.ones(hamiltonian.n_sites, np.int8))
    if sector == "symmetric":
        for flip in hamiltonian.symmetries[int(hamiltonian.has_global_flip) :]:
            packed[rng.random(len(packed)) < 0.5] ^= _bits(flip)
    packed ^= _bits(gauge)


def _bits(spins: NDArray[np.int8]) -> NDArray[np.uint8]:
    """(n_bytes,): a bit is set where a spin is -1."""
    return np.packbits(spins < 0, bitorder="little")
