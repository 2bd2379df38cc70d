"""Single-flip Metropolis of any Hamiltonian with few different couplings, multispin-coded.

As in `metropolis`: one site of 512 replicas per step, each with its own random bits, and acceptance
15/16 min(1, exp(-cost/T)) exact to 64 bits. What a flip costs is looked up by the numbers of broken terms of
the site, one number for each size of coupling; see `broken_terms`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from thermorbm.sampling.metropolis import FIRST_BITS, REFUSAL_BITS, compare
from thermorbm.sampling.registers import any_bit, fill, load, store
from thermorbm.xoroshiro import advanced


@njit(inline="always")
def _count_class(
    state: Any, spin: Any, others: Any, term: int, size: int, stop: int, scratch: Any, base: int, columns: Any
) -> None:
    """Row base + n of scratch: replicas with exactly n broken terms of this class; the last: stop or more."""
    for n in range(1, stop + 1):
        store(scratch, base + n, fill(np.uint64(0)))
    for k in range(size):  # first, row n: at least n broken
        broken = spin ^ load(state, others[term + k, 0])
        for column in range(1, len(columns)):
            broken = broken ^ load(state, others[term + k, column])
        for n in range(min(stop, k + 1), 1, -1):
            row = base + n
            store(scratch, row, load(scratch, row) | (load(scratch, row - 1) & broken))
        store(scratch, base + 1, load(scratch, base + 1) | broken)
    store(scratch, base, ~load(scratch, base + 1))
    for row in range(base + 1, base + stop):
        store(scratch, row, load(scratch, row) & ~load(scratch, row + 1))


@njit(inline="always")
def _sort_replicas(
    state: Any, site: int, kind: int, first: Any, others: Any, classes: Any, combinations: Any,
    first_row: Any, n_combinations: Any, scratch: Any, columns: Any,
) -> Any:  # fmt: skip
    """Fills the rows of combinations and returns the replicas whose flip costs nothing."""
    spin, term, base, n_used = load(state, site), first[site], 0, 0
    for c in range(classes.shape[1]):
        size, stop = classes[kind, c, 0], classes[kind, c, 1]
        if size == 0:
            break
        _count_class(state, spin, others, term, size, stop, scratch, base, columns)
        term += size
        base += stop + 1
        n_used += 1
    costly = fill(np.uint64(0))
    for index in range(n_combinations[kind]):
        row = first_row[kind] + index
        if n_used > 1:
            both = load(scratch, combinations[kind, index, 0])
            for c in range(1, n_used):
                both = both & load(scratch, combinations[kind, index, c])
            store(scratch, row, both)
        costly = costly | load(scratch, row)
    return ~costly


@njit(inline="always")
def _threshold_bit(scratch: Any, bits: Any, start: int, stop: int) -> Any:
    """That bit of the threshold of the replicas whose flip has a cost: the rows that have it set."""
    chosen = fill(np.uint64(0))
    for index in range(start, stop):
        chosen = chosen | load(scratch, bits[index])
    return chosen


@njit(inline="always")
def _accepted(scratch: Any, free: Any, bits: Any, starts: Any, first: Any, second: Any) -> Any:
    """The replicas that flip, and the generators moved on. starts: (65,) of the site's kind."""
    flip = fill(np.uint64(0))
    undecided = ~flip
    for bit in range(REFUSAL_BITS):
        uniform, first, second = advanced(first, second)
        threshold = _threshold_bit(scratch, bits, starts[bit], starts[bit + 1]) | free
        flip, undecided = compare(flip, undecided, uniform, threshold)
    undecided = undecided & ~free
    for bit in range(REFUSAL_BITS, FIRST_BITS):
        uniform, first, second = advanced(first, second)
        threshold = _threshold_bit(scratch, bits, starts[bit], starts[bit + 1])
        flip, undecided = compare(flip, undecided, uniform, threshold)
    bit = FIRST_BITS
    while bit < 64 and any_bit(undecided):
        uniform, first, second = advanced(first, second)
        threshold = _threshold_bit(scratch, bits, starts[bit], starts[bit + 1])
        flip, undecided = compare(flip, undecided, uniform, threshold)
        bit += 1
    return flip, first, second


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_terms(
    state: Any, order: Any, kind: Any, first_term: Any, others: Any, classes: Any, combinations: Any,
    first_row: Any, n_combinations: Any, bits: Any, bit_first: Any, generator: Any, scratch: Any,
    columns: Any, n_sweeps: int,
) -> None:  # fmt: skip
    """Moves all replicas by n_sweeps.

    state: (n_sites + 2, WORDS), bit r of a row is the spin of replica r, then a row of zeros and one of ones;
    order: (n_sites,); generator: (2, WORDS); scratch: (n_rows, WORDS); the rest as in BrokenTerms and
    CostTable. columns: a tuple as long as `others` is wide, of which only the length counts.
    """
    first, second = load(generator, 0), load(generator, 1)
    for _ in range(n_sweeps):
        for site in order:
            free = _sort_replicas(
                state, site, kind[site], first_term, others, classes, combinations, first_row,
                n_combinations, scratch, columns,
            )  # fmt: skip
            flip, first, second = _accepted(scratch, free, bits, bit_first[kind[site]], first, second)
            store(state, site, load(state, site) ^ flip)
    store(generator, 0, first)
    store(generator, 1, second)
