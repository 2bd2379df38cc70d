"""Single-flip Metropolis, multispin-coded: one site of 512 replicas per step, each with its own random bits.

Sites are updated one after the other, so the chain is exact in any order and on any lattice, odd sides
included; the order is the checkerboard's (even sites, then odd ones) because neighbouring updates then do not
wait for each other.

A flip that breaks n of its 2 d bonds costs 4 (d - n) and is accepted when a uniform number u lies below
exp(-4 (d - n) / T). u is drawn bit by bit from the top, for all replicas at once, and compared with the
64-bit threshold of each replica. FIRST_BITS bits decide nearly always; more are drawn, up to 64, while any
replica is undecided.

Flips that cost nothing are always accepted, so a full checkerboard sweep can only rotate some configurations
into each other (width-one stripes on an even torus never leave their class). Each sweep therefore leaves out
each site with probability 1/16: every single flip is then possible on its own and the chain is irreducible.
The lottery that leaves sites out knows nothing of the spins and is the same for the replicas of a block;
given its outcome they are independent and each keeps the Boltzmann distribution, so they are independent
Boltzmann samples.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from thermorbm.lattice import Lattice
from thermorbm.sampling.generators import next_word
from thermorbm.sampling.registers import any_bit, fill, load, rotate_left, shift_left, store

FIRST_BITS = 12
SKIP_PROBABILITY = 1 / 16

Words = NDArray[np.uint64]


def update_order(lattice: Lattice) -> NDArray[np.int64]:
    """Every site once, even coordinates' sums first."""
    parity = np.indices(lattice.shape).sum(axis=0).ravel() % 2
    return np.argsort(parity, kind="stable")


def acceptance_bits(lattice: Lattice, temperature: float) -> Words:
    """(d, 64): bit k, from the top, of floor(2^64 exp(-cost/T)) for n < d broken bonds, as 0 or all ones."""
    with localcontext() as context:
        context.prec = 60
        ratios = [
            -Decimal(int(cost)) / Decimal(temperature) for cost in lattice.flip_costs[: lattice.dimension]
        ]
        thresholds = [int(ratio.exp() * 2**64) for ratio in ratios]
    bits = [[-(threshold >> (63 - k) & 1) for k in range(64)] for threshold in thresholds]
    return np.array(bits, dtype=np.int64).view(np.uint64)


@njit
def next_register(first: Any, second: Any) -> Any:
    """512 random bits of xoroshiro128++, one generator per word, and the generators moved on."""
    bits = rotate_left(first + second, 17) + first
    second = second ^ first
    first = rotate_left(first, 49) ^ second ^ shift_left(second, 21)
    return bits, first, rotate_left(second, 28)


@njit
def compare(flip: Any, undecided: Any, uniform: Any, threshold: Any) -> Any:
    """One bit of u < threshold, from the top: decided where the bits differ."""
    return flip | (undecided & ~uniform & threshold), undecided & ~(uniform ^ threshold)


@cache
def sweep_kernel(dimension: int) -> Callable[..., None]:
    """The compiled sweep for lattices of that dimension.

    sweep(state, neighbours, order, thresholds, generator, lottery, scratch, n_sweeps)
    state: (n_sites + 1, WORDS), bit r of a row is the spin of replica r; neighbours: (n_sites, 2 d) int64;
    thresholds: (d, 64); generator: (2, WORDS); lottery: (2,); scratch: (d + 1, WORDS).
    """

    @njit
    def sort_replicas(state: Any, site: int, neighbours: Any, scratch: Any) -> None:
        """Row n of scratch: replicas with exactly n of the site's bonds broken, n < d; row d: d or more."""
        spin = load(state, site)
        for n in range(1, dimension + 1):
            store(scratch, n, fill(np.uint64(0)))
        for bond in range(2 * dimension):  # first, row n: at least n broken
            broken = spin ^ load(state, neighbours[site, bond])
            for n in range(dimension, 1, -1):
                store(scratch, n, load(scratch, n) | (load(scratch, n - 1) & broken))
            store(scratch, 1, load(scratch, 1) | broken)
        store(scratch, 0, ~load(scratch, 1))
        for n in range(1, dimension):
            store(scratch, n, load(scratch, n) & ~load(scratch, n + 1))

    @njit
    def threshold_bit(thresholds: Any, bit: int, scratch: Any) -> Any:
        """That bit of each replica's acceptance threshold."""
        chosen = load(scratch, 0) & fill(thresholds[0, bit])
        for n in range(1, dimension):
            chosen = chosen | (load(scratch, n) & fill(thresholds[n, bit]))
        return chosen

    @njit(cache=True, nogil=True, error_model="numpy")
    def sweep(
        state: Any, neighbours: Any, order: Any, thresholds: Any, generator: Any, lottery: Any, scratch: Any,
        n_sweeps: int,
    ) -> None:  # fmt: skip
        first, second = load(generator, 0), load(generator, 1)
        skip = np.uint64(0)
        for _ in range(n_sweeps):
            for place in range(order.shape[0]):
                if place & 63 == 0:
                    skip = next_word(lottery) & next_word(lottery) & next_word(lottery) & next_word(lottery)
                left_out = skip & np.uint64(1)
                skip >>= np.uint64(1)
                if left_out:
                    continue
                site = order[place]
                sort_replicas(state, site, neighbours, scratch)
                flip = load(scratch, dimension)
                undecided = ~flip
                for bit in range(FIRST_BITS):
                    uniform, first, second = next_register(first, second)
                    threshold = threshold_bit(thresholds, bit, scratch)
                    flip, undecided = compare(flip, undecided, uniform, threshold)
                bit = FIRST_BITS
                while bit < 64 and any_bit(undecided):
                    uniform, first, second = next_register(first, second)
                    threshold = threshold_bit(thresholds, bit, scratch)
                    flip, undecided = compare(flip, undecided, uniform, threshold)
                    bit += 1
                store(state, site, load(state, site) ^ flip)
        store(generator, 0, first)
        store(generator, 1, second)

    return sweep  # type: ignore[no-any-return]
