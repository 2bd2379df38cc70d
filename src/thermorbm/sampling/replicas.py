"""Reading multispin-coded states: counts per replica, and rows of packed spins, without unpacking a bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from thermorbm.sampling.registers import REPLICAS, WORDS, any_bit, fill, load, store

# A count of up to 2^40 ones per replica: more sites than memory holds.
PLANES = 40


@njit
def _add(a: Any, b: Any, c: Any) -> Any:
    """Full adder of three one-bit numbers per replica: sum and carry."""
    return a ^ b ^ c, (a & b) | (c & (a ^ b))


@njit
def _add_at(planes: Any, plane: int, carry: Any) -> None:
    """Adds 2^plane where `carry` is set, to the binary numbers whose bits are the rows of `planes`."""
    while any_bit(carry):
        old = load(planes, plane)
        store(planes, plane, old ^ carry)
        carry = old & carry
        plane += 1


@njit(cache=True, nogil=True, error_model="numpy")
def count_odd(state: Any, rows: Any, columns: Any, planes: Any) -> None:
    """Counts, for each replica, the terms k whose rows[k] of `state` have an odd number of set bits.

    rows: (8 m, width) int64. columns: a tuple of `width` integers, of which only the length counts, as it is
    known when compiling. planes: (PLANES, WORDS), overwritten by the count's binary digits.
    Eight terms at a time go through a carry-save tree, so that only one word in eight ripples through memory.
    """
    for plane in range(planes.shape[0]):
        store(planes, plane, fill(np.uint64(0)))
    ones, twos, fours = fill(np.uint64(0)), fill(np.uint64(0)), fill(np.uint64(0))
    for k in range(0, rows.shape[0], 8):
        ones, two_a = _add(ones, _parity(state, rows, columns, k), _parity(state, rows, columns, k + 1))
        ones, two_b = _add(ones, _parity(state, rows, columns, k + 2), _parity(state, rows, columns, k + 3))
        twos, four_a = _add(twos, two_a, two_b)
        ones, two_a = _add(ones, _parity(state, rows, columns, k + 4), _parity(state, rows, columns, k + 5))
        ones, two_b = _add(ones, _parity(state, rows, columns, k + 6), _parity(state, rows, columns, k + 7))
        twos, four_b = _add(twos, two_a, two_b)
        fours, eight = _add(fours, four_a, four_b)
        _add_at(planes, 3, eight)
    _add_at(planes, 2, fours)
    _add_at(planes, 1, twos)
    _add_at(planes, 0, ones)


@njit
def _parity(state: Any, rows: Any, columns: Any, k: int) -> Any:
    parity = load(state, rows[k, 0])
    for column in range(1, len(columns)):
        parity = parity ^ load(state, rows[k, column])
    return parity


def counts_of(planes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """(..., PLANES, WORDS) binary digits -> (..., REPLICAS) counts."""
    octets = planes.astype("<u8", copy=False).view(np.uint8).reshape(*planes.shape[:-1], 8 * WORDS)
    digits = np.unpackbits(octets, axis=-1, bitorder="little")
    used = int(np.flatnonzero(digits.any(axis=(*range(digits.ndim - 2), -1))).max(initial=0)) + 1
    weights = 2 ** np.arange(used, dtype=np.int64)
    return np.asarray(np.einsum("...pr,p->...r", digits[..., :used, :], weights))


@njit(cache=True, nogil=True, error_model="numpy")
def transpose_words(state: Any, n_sites: int, rows: Any) -> None:
    """rows: (REPLICAS, ceil(n_sites / 64)) uint64; site 64 k + j of replica r goes to bit j of rows[r, k]."""
    block = np.empty(64, np.uint64)
    for word in range(WORDS):
        for k in range(rows.shape[1]):
            for j in range(64):
                block[j] = state[64 * k + j, word] if 64 * k + j < n_sites else np.uint64(0)
            _transpose_64(block)
            for j in range(64):
                rows[64 * word + j, k] = block[j]


@njit
def _transpose_64(block: Any) -> None:
    """Transposes a 64 x 64 bit matrix in place by swapping ever smaller off-diagonal squares."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        places = np.uint64(width)
        low = 0
        while low < 64:
            swap = ((block[low] >> places) ^ block[low + width]) & mask
            block[low] ^= swap << places
            block[low + width] ^= swap
            low = (low + width + 1) & ~width
        width >>= 1
        mask ^= mask << np.uint64(width)


def packed_rows(state: NDArray[np.uint64], n_sites: int) -> NDArray[np.uint8]:
    """(REPLICAS, ceil(n_sites / 8)): packed spins of every replica, little bit order, padding bits zero."""
    rows = np.empty((REPLICAS, -(-n_sites // 64)), np.uint64)
    transpose_words(state, n_sites, rows)
    return rows.astype("<u8", copy=False).view(np.uint8)[:, : -(-n_sites // 8)]
