"""Periodic hypercubic lattice; the only home of the Ising Hamiltonian H = -sum_<ij> s_i s_j."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.checks import whole_number
from thermorbm.errors import InputError
from thermorbm.shown import html_table

BLOCK_SPINS = 1 << 20  # observables work on about this many spins at once, so that they fit in cache
MOST_SITES = (1 << 31) - 1  # their numbers have 32 bits
_WORD = 64  # bits of packed spins that are compared at once


@dataclass(frozen=True, repr=False)
class Lattice:
    """Periodic hypercubic lattice with sides `shape`, any dimension >= 1, every side >= 2.

    Sites are numbered in C order. Each site has 2 d bonds; at side 2 both bonds between a pair count, so that
    there are always d N of them.
    """

    shape: tuple[int, ...]

    def __init__(self, shape: Sequence[int] | int) -> None:
        sides = tuple(shape) if isinstance(shape, Sequence | np.ndarray) else (shape,)
        if not sides:
            raise InputError("lattice shape", sides, "one or more sides", "for example (64, 64)")
        object.__setattr__(self, "shape", tuple(whole_number("lattice side", side, 2) for side in sides))
        if self.n_sites > MOST_SITES:
            raise InputError("lattice shape", str(self), f"one of at most {MOST_SITES} sites")

    @classmethod
    def parse(cls, text: str) -> Lattice:
        """The lattice whose sides are written as `64x64`; `str(lattice)` writes them back."""
        if not re.fullmatch(r"-?[0-9]{1,9}(x-?[0-9]{1,9})*", text):
            raise InputError("lattice shape", text, "whole numbers joined by x", "for example 64x64")
        return cls([int(side) for side in text.split("x")])

    @classmethod
    def of(cls, lattice: Lattice | Sequence[int] | int) -> Lattice:
        """A lattice as it is; sides such as (8, 8) or 100 as the lattice that has them."""
        return lattice if isinstance(lattice, Lattice) else cls(lattice)

    def __repr__(self) -> str:
        return f"Lattice({self}, periodic, {self.n_sites} sites)"

    def _repr_html_(self) -> str:
        facts = {"sides": str(self), "sites": self.n_sites, "bonds": self.n_bonds, "boundaries": "periodic"}
        return html_table("Lattice", facts)

    def __str__(self) -> str:
        return "x".join(str(side) for side in self.shape)

    @property
    def dimension(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def n_sites(self) -> int:
        """Number of sites, the product of the sides."""
        return math.prod(self.shape)

    @property
    def n_bonds(self) -> int:
        """Number of pairs of neighbours; at side 2 both bonds between two sites count."""
        return self.dimension * self.n_sites

    @cached_property
    def neighbours(self) -> NDArray[np.int32]:
        """(n_sites, 2 d): the site one step up, then one step down, along each axis in turn."""
        sites = np.arange(self.n_sites, dtype=np.int32).reshape(self.shape)
        steps = [np.roll(sites, -step, axis) for axis in range(self.dimension) for step in (1, -1)]
        return np.stack([moved.ravel() for moved in steps], axis=1)

    def energy(self, v: ArrayLike) -> NDArray[np.int64]:
        """Total energy H of each configuration, in units of J.

        v: (n, n_sites) or (n, *shape) of +-1 -> (n,).
        """
        counts = [self._count_broken_bonds(block) for block in self._blocks(v)]
        return self.energy_of_broken_bonds(np.concatenate(counts))

    def energy_of_packed(self, packed: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The same from configurations packed to bits, as `Dataset.packed` has them; many times faster.

        packed: (n, ceil(n_sites / 8)), the first site in the lowest bit of the first byte -> (n,).
        """
        n_bytes = -(-self.n_sites // 8)
        if packed.ndim != 2 or packed.shape[1] != n_bytes or packed.dtype != np.uint8:
            got = f"{packed.dtype} {packed.shape}"
            raise InputError("packed configurations", got, f"uint8 of shape (n, {n_bytes})")
        n_rows = max(1, BLOCK_SPINS // self.n_sites)
        starts = range(0, max(1, len(packed)), n_rows)
        counts = [self._count_in_words(_words(packed[start : start + n_rows])) for start in starts]
        return self.energy_of_broken_bonds(np.concatenate(counts))

    def magnetization(self, v: ArrayLike) -> NDArray[np.float64]:
        """Magnetisation per spin of each configuration. v: (n, n_sites) of +-1 -> (n,)."""
        n_up = np.concatenate([self._count_per_row(block == 1) for block in self._blocks(v)])
        return (2 * n_up - self.n_sites) / self.n_sites

    def energy_of_broken_bonds(self, n_broken: ArrayLike) -> NDArray[np.int64]:
        """Total energy of a configuration with that many antiparallel bonds: each costs 2 J."""
        return 2 * np.asarray(n_broken, dtype=np.int64) - self.n_bonds

    @property
    def flip_costs(self) -> NDArray[np.int64]:
        """(2 d + 1,): energy to flip one spin, indexed by how many of its own bonds are broken."""
        n_broken = np.arange(2 * self.dimension + 1)
        return 4 * (self.dimension - n_broken)

    def _count_broken_bonds(self, spins: NDArray[Any]) -> NDArray[np.int64]:
        grid = spins.reshape(-1, *self.shape)
        n_broken = np.zeros(len(spins), dtype=np.int64)
        for axis in range(1, grid.ndim):
            n_broken += self._count_per_row(grid != np.roll(grid, -1, axis))
        return n_broken

    def _count_in_words(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Broken bonds of packed configurations: bits that differ from those `shift` places on.

        words: (n, n_words) -> (n,).
        """
        n_broken = np.zeros(len(words), dtype=np.int64)
        for shift, mask in self._bonds_of_bits:
            differ = (words ^ _moved(words, shift)) & mask
            n_broken += np.bitwise_count(differ).sum(axis=1, dtype=np.int64)
        return n_broken

    @cached_property
    def _bonds_of_bits(self) -> list[tuple[int, NDArray[np.uint64]]]:
        """For each axis two sets of bonds, (shift, mask): site i has a bond to site i + shift where its bit
        of the mask, (n_words,), is set. Bonds within the lattice, then those around its end.
        """
        sites = np.arange(self.n_sites)
        bonds = []
        for side, stride in zip(self.shape, self._strides, strict=True):
            place = sites // stride % side
            bonds += [(stride, place < side - 1), ((side - 1) * stride, place == 0)]
        return [(shift, _words(np.packbits(mask, bitorder="little")[None])[0]) for shift, mask in bonds]

    @property
    def _strides(self) -> list[int]:
        return [math.prod(self.shape[axis + 1 :]) for axis in range(self.dimension)]

    def _count_per_row(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        # Counting bits of packed rows is several times faster than summing bytes into int64.
        packed = np.packbits(mask.reshape(-1, self.n_sites), axis=1)
        return np.asarray(np.bitwise_count(packed).sum(axis=1, dtype=np.int64))

    def _blocks(self, v: ArrayLike) -> Iterator[NDArray[Any]]:
        """Checked configurations, (at most n, n_sites) at a time; at least one block, which may be empty."""
        spins = np.asarray(v)
        if spins.shape[1:] == self.shape:
            spins = spins.reshape(-1, self.n_sites)
        if spins.ndim not in (1, 2) or spins.shape[-1] != self.n_sites:
            raise InputError("configurations", spins.shape, f"an array of shape (n, {self.n_sites})")
        if spins.dtype.kind not in "biuf":
            raise InputError("spins", spins.dtype.name, "an array of numbers +1 and -1")
        spins = spins.reshape(-1, self.n_sites)
        n_rows = max(1, BLOCK_SPINS // self.n_sites)
        for start in range(0, max(1, len(spins)), n_rows):
            block = spins[start : start + n_rows]
            wrong = (block != 1) & (block != -1)
            if wrong.any():
                raise InputError("spins", block[wrong][0].item(), "+1 or -1")
            yield block


def _words(packed: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Rows of bytes as rows of words, with zeros behind the last site, so that bits stay in their order."""
    missing = -packed.shape[1] % (_WORD // 8)
    whole = np.pad(packed, ((0, 0), (0, missing))) if missing else np.ascontiguousarray(packed)
    return whole.view("<u8").astype(np.uint64)


def _moved(words: NDArray[np.uint64], shift: int) -> NDArray[np.uint64]:
    """Rows whose bit i is bit i + shift of the given ones; zeros come in at the end."""
    whole, bits = divmod(shift, _WORD)
    moved = np.zeros_like(words)
    rest = words[:, whole:]
    moved[:, : rest.shape[1]] = rest >> np.uint64(bits) if bits else rest
    if bits:
        moved[:, : rest.shape[1] - 1] |= rest[:, 1:] << np.uint64(_WORD - bits)
    return moved


def n_point_symmetries(dimension: int) -> int:
    """Turns and reflections of a hypercube: 8 in a square, 48 in a cube."""
    return math.factorial(dimension) << dimension
