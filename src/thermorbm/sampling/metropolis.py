"""Single-flip Metropolis, multispin-coded: one site of 512 replicas per step, each with its own random bits.

Sites are updated one after the other, so the chain is exact in any order and on any lattice, odd sides
included; the order is the checkerboard's (even sites, then odd ones) because neighbouring updates then do not
wait for each other.

The flip of a spin with n of its 2 d bonds broken costs 4 (d - n) and is accepted when a uniform number u lies
below 15/16 min(1, exp(-4 (d - n) / T)). u is drawn bit by bit from the top, for all replicas at once, and
compared with the 64-bit threshold of each replica. FIRST_BITS bits decide nearly always; more are drawn, up
to 64, while any replica is undecided.

Why 15/16: were flips that cost nothing always accepted, a full checkerboard sweep could only rotate some
configurations into each other (width-one stripes on an even torus never leave their class). With every flip
refused now and then each single flip is possible on its own and the chain is irreducible; the common factor
leaves detailed balance as it is. A refusal of a free flip is decided by the first REFUSAL_BITS bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from thermorbm.lattice import Lattice
from thermorbm.sampling.registers import any_bit, fill, load, store
from thermorbm.xoroshiro import advanced

FIRST_BITS = 12
REFUSAL_BITS = 4
REFUSAL_PROBABILITY = 2**-REFUSAL_BITS

Words = NDArray[np.uint64]


def update_order(lattice: Lattice) -> NDArray[np.int64]:
    """Every site once, even coordinates' sums first."""
    parity = np.indices(lattice.shape).sum(axis=0).ravel() % 2
    return np.argsort(parity, kind="stable")


def acceptance_bits(lattice: Lattice, temperature: float) -> Words:
    """(d, 64): the bits of the thresholds of a flip with n < d broken bonds.

    Each bit is written as a whole word, 0 or all ones.
    """
    bits = threshold_bits(lattice.flip_costs[: lattice.dimension].tolist(), temperature)
    return (-bits.astype(np.int64)).view(np.uint64)


def threshold_bits(costs: Sequence[float], temperature: float) -> NDArray[np.uint8]:
    """(n, 64): the bits, from the top, of floor(15/16 exp(-cost/T) 2^64) of each cost > 0."""
    with localcontext() as context:
        context.prec = 60
        scale = 2**64 - 2 ** (64 - REFUSAL_BITS)
        ratios = [-Decimal(cost) / Decimal(temperature) for cost in costs]
        thresholds = [int(ratio.exp() * scale) for ratio in ratios]
    bits = [[threshold >> (63 - k) & 1 for k in range(64)] for threshold in thresholds]
    return np.array(bits, dtype=np.uint8).reshape(-1, 64)


@njit
def compare(flip: Any, undecided: Any, uniform: Any, threshold: Any) -> Any:
    """One bit of u < threshold, from the top: decided where the bits differ."""
    return flip | (undecided & ~uniform & threshold), undecided & ~(uniform ^ threshold)


@njit
def sort_replicas(state: Any, site: int, neighbours: Any, scratch: Any, axes: Any) -> None:
    """Row n of scratch: replicas with exactly n of the site's bonds broken, n < d; row d: d or more."""
    spin = load(state, site)
    for n in range(1, len(axes) + 1):
        store(scratch, n, fill(np.uint64(0)))
    for bond in range(2 * len(axes)):  # first, row n: at least n broken
        broken = spin ^ load(state, neighbours[site, bond])
        for n in range(len(axes), 1, -1):
            store(scratch, n, load(scratch, n) | (load(scratch, n - 1) & broken))
        store(scratch, 1, load(scratch, 1) | broken)
    store(scratch, 0, ~load(scratch, 1))
    for n in range(1, len(axes)):
        store(scratch, n, load(scratch, n) & ~load(scratch, n + 1))


@njit
def threshold_bit(thresholds: Any, bit: int, scratch: Any, axes: Any) -> Any:
    """That bit of the acceptance threshold of the replicas whose flip has a cost."""
    chosen = load(scratch, 0) & fill(thresholds[0, bit])
    for n in range(1, len(axes)):
        chosen = chosen | (load(scratch, n) & fill(thresholds[n, bit]))
    return chosen


@njit(inline="always")
def accepted(thresholds: Any, scratch: Any, first: Any, second: Any, axes: Any) -> Any:
    """The replicas that flip, and the generators moved on."""
    free = load(scratch, len(axes))
    flip = fill(np.uint64(0))
    undecided = ~flip
    for bit in range(REFUSAL_BITS):
        uniform, first, second = advanced(first, second)
        threshold = threshold_bit(thresholds, bit, scratch, axes) | free
        flip, undecided = compare(flip, undecided, uniform, threshold)
    undecided = undecided & ~free
    for bit in range(REFUSAL_BITS, FIRST_BITS):
        uniform, first, second = advanced(first, second)
        flip, undecided = compare(flip, undecided, uniform, threshold_bit(thresholds, bit, scratch, axes))
    bit = FIRST_BITS
    while bit < 64 and any_bit(undecided):
        uniform, first, second = advanced(first, second)
        flip, undecided = compare(flip, undecided, uniform, threshold_bit(thresholds, bit, scratch, axes))
        bit += 1
    return flip, first, second


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    state: Any, neighbours: Any, order: Any, thresholds: Any, generator: Any, scratch: Any, axes: Any,
    n_sweeps: int,
) -> None:  # fmt: skip
    """Moves all replicas by n_sweeps.

    state: (n_sites + 1, WORDS), bit r of a row is the spin of replica r; neighbours: (n_sites, 2 d) int64;
    order: (n_sites,); thresholds: (d, 64); generator: (2, WORDS); scratch: (d + 1, WORDS). axes: a tuple of d
    integers, of which only the length counts: it belongs to the type, so that loops over d can be unrolled.
    """
    first, second = load(generator, 0), load(generator, 1)
    for _ in range(n_sweeps):
        for site in order:
            sort_replicas(state, site, neighbours, scratch, axes)
            flip, first, second = accepted(thresholds, scratch, first, second, axes)
            store(state, site, load(state, site) ^ flip)
    store(generator, 0, first)
    store(generator, 1, second)
