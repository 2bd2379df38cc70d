"""Parallel tempering: chains at several temperatures that change places (Hukushima & Nemoto 1996).

Where couplings compete, single flips leave a valley of the energy only at high temperature. Each chain at the
wanted temperature therefore has a ladder of hotter ones; neighbours a < b on the ladder swap configurations
with probability min(1, exp((1/T_a - 1/T_b)(E_a - E_b))), which leaves the joint distribution as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.hamiltonians import Hamiltonian
from thermorbm.sampling.blocks import Energies, Magnetizations
from thermorbm.sampling.choice import hot_temperature
from thermorbm.sampling.general_blocks import FieldBlock, MultispinBlock, block_kind

Rung = MultispinBlock | FieldBlock

# Difference of neighbouring inverse temperatures times the spread of the energy: half of the swaps succeed.
_STEP = 1.0
_LONGEST_STEP = 1.3  # of one inverse temperature over the next, where the energy hardly varies any more
_SWEEPS = 32


class TemperedBlock:
    """A ladder of blocks; what is measured and kept is at those rungs that are wanted."""

    def __init__(
        self,
        hamiltonian: Hamiltonian,
        temperatures: Sequence[float],
        wanted: Sequence[float],
        seed: SeedSequence,
        hot: NDArray[np.bool_],
    ) -> None:
        """temperatures: ascending. wanted: those of them that are kept, in their order."""
        swaps, *seeds = seed.spawn(1 + len(temperatures))
        kind, terms = block_kind(hamiltonian)
        self.hot, self._rng, self._round = hot, default_rng(swaps), 0
        self._coldness = [1 / temperature for temperature in temperatures]
        self.rungs: list[Rung] = [
            kind(hamiltonian, temperature, rung_seed, hot, terms)
            for temperature, rung_seed in zip(temperatures, seeds, strict=True)
        ]
        self._kept = [self.rungs[list(temperatures).index(temperature)] for temperature in wanted]

    def advance(self, n_sweeps: int) -> None:
        for _ in range(n_sweeps):
            for rung in self.rungs:
                rung.advance(1)
            self._swap(self._round % 2)
            self._round += 1

    def _swap(self, first: int) -> None:
        """Pairs (first, first + 1), (first + 2, first + 3) ... of rungs exchange some of their chains."""
        for cold in range(first, len(self.rungs) - 1, 2):
            a, b = self.rungs[cold], self.rungs[cold + 1]
            gain = (self._coldness[cold] - self._coldness[cold + 1]) * (a.measure()[0] - b.measure()[0])
            chosen = self._rng.random(len(self.hot)) < np.exp(np.minimum(gain, 0.0))
            a.exchange(b, chosen)

    def measure(self) -> tuple[Energies, Magnetizations]:
        energies, magnetizations = zip(*(rung.measure() for rung in self._kept), strict=True)
        return np.concatenate(energies), np.concatenate(magnetizations)

    def packed(self) -> NDArray[np.uint8]:
        return np.concatenate([rung.packed() for rung in self._kept])


def temperature_ladder(hamiltonian: Hamiltonian, wanted: Sequence[float], seed: SeedSequence) -> list[float]:
    """Ascending from the coldest wanted temperature to one at which single flips forget within a few sweeps.

    Every wanted temperature is a rung; several are below that hottest one. Chains are cooled from there, and
    steps are as long as the spread of the energy over chains allows.
    """
    hottest, coldest = hot_temperature(hamiltonian), min(wanted)
    if coldest >= hottest:
        return [coldest]
    kind, terms = block_kind(hamiltonian)
    seeds, hot = iter(seed.spawn(10_000)), np.ones(kind.n_chains, np.bool_)
    block = kind(hamiltonian, hottest, next(seeds), hot, terms)
    ladder = [hottest]
    while ladder[-1] > coldest:
        block.advance(_SWEEPS)
        spread = float(np.std(block.measure()[0]))
        coldness = 1 / ladder[-1]
        longest = coldness * _LONGEST_STEP
        coldness = min(longest, coldness + _STEP / spread) if spread > 0 else longest
        next_wanted = max(temperature for temperature in wanted if temperature < ladder[-1])
        ladder.append(max(next_wanted, 1 / coldness))
        colder = kind(hamiltonian, ladder[-1], next(seeds), hot, terms)
        block.exchange(colder, hot)
        block = colder
    return ladder[::-1]
