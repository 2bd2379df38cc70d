"""Blocks of single-flip chains of any Hamiltonian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.hamiltonians import Hamiltonian, order_overlaps
from thermorbm.hamiltonians.orders import ground_states
from thermorbm.sampling.blocks import Energies, Magnetizations, count_broken, start_words
from thermorbm.sampling.broken_terms import MOST_COMBINATIONS, BrokenTerms, broken_terms, cost_table
from thermorbm.sampling.multispin import sweep_terms
from thermorbm.sampling.registers import REPLICAS, WORDS
from thermorbm.sampling.replicas import packed_rows
from thermorbm.sampling.single_flip import sum_energies, sweep_fields
from thermorbm.xoroshiro import generator_state


class MultispinBlock:
    """512 multispin-coded chains of a Hamiltonian with few different couplings; see `broken_terms`."""

    n_chains = REPLICAS

    def __init__(
        self,
        hamiltonian: Hamiltonian,
        temperature: float,
        seed: SeedSequence,
        hot: NDArray[np.bool_],
        terms: BrokenTerms | None = None,
    ) -> None:
        """terms: those of the Hamiltonian, where they are at hand already."""
        bits, start = seed.spawn(2)
        self.hamiltonian, self.hot = hamiltonian, hot
        self._terms = broken_terms(hamiltonian) if terms is None else terms
        self._table = cost_table(self._terms, temperature)
        words = start_words(hamiltonian.n_sites, default_rng(start), hot)
        self._state = np.concatenate(
            [words, np.zeros((1, WORDS), np.uint64), ~np.zeros((1, WORDS), np.uint64)]
        )
        self._generator = generator_state(bits, WORDS)
        self._scratch = np.zeros((self._table.n_rows, WORDS), np.uint64)
        self._order = update_order(hamiltonian)
        n_sites = hamiltonian.n_sites
        self._sites = np.pad(np.arange(n_sites), (0, -n_sites % 8), constant_values=n_sites)[:, None]
        self._has_several_orders = len(ground_states(hamiltonian)) > 1

    def advance(self, n_sweeps: int) -> None:
        terms, table = self._terms, self._table
        sweep_terms(
            self._state, self._order, terms.kind, terms.first, terms.others, table.classes,
            table.combinations, table.first_row, table.n_combinations, table.bits, table.bit_first,
            self._generator, self._scratch, (0,) * terms.others.shape[1], n_sweeps,
        )  # fmt: skip

    def measure(self) -> tuple[Energies, Magnetizations]:
        energy = np.zeros(REPLICAS)
        for size, rows, n_terms in zip(
            self._terms.sizes, self._terms.counted, self._terms.n_terms, strict=True
        ):
            energy += size * (2 * count_broken(self._state, rows) - n_terms)
        return _whole(energy, self.hamiltonian), self._magnetization()

    def _magnetization(self) -> Magnetizations:
        """Chains in different ground states, which single flips hardly ever leave, are ordered alike."""
        n_sites = self.hamiltonian.n_sites
        if self._has_several_orders:
            overlaps = order_overlaps(self.hamiltonian, self.packed())
            return np.rint(n_sites * overlaps).astype(np.int64)
        return 2 * count_broken(self._state, self._sites) - n_sites

    def packed(self) -> NDArray[np.uint8]:
        return packed_rows(self._state, self.hamiltonian.n_sites)

    def exchange(self, other: Any, chosen: NDArray[np.bool_]) -> None:
        """Chains that are chosen, (n_chains,), change places with those of another block of this kind."""
        mask = np.packbits(chosen, bitorder="little").view("<u8").astype(np.uint64)
        n_sites = self.hamiltonian.n_sites
        difference = (self._state[:n_sites] ^ other._state[:n_sites]) & mask
        self._state[:n_sites] ^= difference
        other._state[:n_sites] ^= difference


class FieldBlock:
    """64 chains of a Hamiltonian whose couplings are all different: spin glasses, random fields."""

    n_chains = 64

    def __init__(
        self,
        hamiltonian: Hamiltonian,
        temperature: float,
        seed: SeedSequence,
        hot: NDArray[np.bool_],
        terms: BrokenTerms | None = None,
    ) -> None:
        chains, start = seed.spawn(2)
        self.hamiltonian, self.hot, self._temperature = hamiltonian, hot, temperature
        n_sites = hamiltonian.n_sites
        self._spins = np.ones((n_sites + 1, len(hot)))
        random = default_rng(start).integers(0, 2, (n_sites, len(hot)))
        self._spins[:n_sites, hot] = 2.0 * random[:, hot] - 1
        self._generator = generator_state(chains)
        self._first, self._others, self._couplings, self._shares = _terms_by_site(hamiltonian)

    def advance(self, n_sweeps: int) -> None:
        sweep_fields(
            self._spins,
            self._first,
            self._others,
            self._couplings,
            self._temperature,
            self._generator,
            n_sweeps,
        )

    def measure(self) -> tuple[Energies, Magnetizations]:
        energy = np.empty(len(self.hot))
        sum_energies(self._spins, self._first, self._others, self._shares, energy)
        return _whole(energy, self.hamiltonian), self._spins[:-1].sum(axis=0).astype(np.int64)

    def packed(self) -> NDArray[np.uint8]:
        return np.packbits(self._spins[:-1].T > 0, axis=1, bitorder="little")

    def exchange(self, other: Any, chosen: NDArray[np.bool_]) -> None:
        """Chains that are chosen, (n_chains,), change places with those of another block of this kind."""
        mine = self._spins[:, chosen].copy()
        self._spins[:, chosen] = other._spins[:, chosen]
        other._spins[:, chosen] = mine


def block_kind(
    hamiltonian: Hamiltonian,
) -> tuple[type[MultispinBlock] | type[FieldBlock], BrokenTerms | None]:
    """The block for a Hamiltonian, and its terms if that block wants them."""
    sizes = {float(size) for terms in hamiltonian.terms for size in np.unique(np.abs(terms.couplings))[:9]}
    if len(sizes | set(np.unique(np.abs(hamiltonian.field))[:9].tolist())) > 8:
        return FieldBlock, None
    terms = broken_terms(hamiltonian)
    return (MultispinBlock, terms) if terms.most_combinations <= MOST_COMBINATIONS else (FieldBlock, None)


def update_order(hamiltonian: Hamiltonian) -> NDArray[np.int64]:
    """Every site once; on a lattice those with even coordinates first, as neighbours wait for each other."""
    grid = hamiltonian.grid
    if grid is None:
        return np.arange(hamiltonian.n_sites)
    parities = np.repeat(np.indices(grid.shape).reshape(len(grid.shape), -1) % 2, grid.n_cell, axis=1)
    in_cell = np.arange(hamiltonian.n_sites) % grid.n_cell
    return np.lexsort((np.arange(hamiltonian.n_sites), *parities, in_cell))


def _whole(energy: NDArray[np.float64], hamiltonian: Hamiltonian) -> Energies:
    return np.rint(energy).astype(np.int64) if hamiltonian.integral else energy


def _terms_by_site(
    hamiltonian: Hamiltonian,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """For the kernels: where the terms of each site begin, other sites, couplings and shares of them."""
    n_sites, width = hamiltonian.n_sites, max(1, hamiltonian.largest_order - 1)
    owners = [np.arange(n_sites)]
    others = [np.full((n_sites, width), n_sites)]
    couplings, shares = [hamiltonian.field], [hamiltonian.field]
    for terms in hamiltonian.terms:
        for place in range(terms.order):
            padded = np.full((len(terms), width), n_sites)
            padded[:, : terms.order - 1] = np.delete(terms.sites, place, axis=1)
            owners.append(terms.sites[:, place])
            others.append(padded)
            couplings.append(terms.couplings)
            shares.append(terms.couplings / terms.order)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_sites))])
    joined = (np.concatenate(couplings)[order], np.concatenate(shares)[order])
    return first, np.concatenate(others)[order].astype(np.int64), *joined
