"""The register type against NumPy, word by word."""

import numpy as np
import pytest
from numba import njit

from thermorbm.sampling.registers import WORDS, any_bit, fill, load, store
from thermorbm.xoroshiro import rotate_left, shift_left


@njit
def _operate(rows, out):
    a, b = load(rows, 0), load(rows, 1)
    store(out, 0, a & b)
    store(out, 1, a | b)
    store(out, 2, a ^ b)
    store(out, 3, ~a)
    store(out, 4, a + b)
    store(out, 5, shift_left(a, 21))
    store(out, 6, rotate_left(a, 49))
    store(out, 7, fill(rows[1, 3]))


@njit
def _any(rows, row):
    return any_bit(load(rows, row))


def test_operators_act_on_each_word():
    rows = np.random.default_rng(0).integers(0, 2**64, (2, WORDS), dtype=np.uint64)
    out = np.zeros((8, WORDS), np.uint64)
    _operate(rows, out)
    a, b = rows
    rotated = (a << np.uint64(49)) | (a >> np.uint64(15))
    wanted = [a & b, a | b, a ^ b, ~a, a + b, a << np.uint64(21), rotated, np.full(WORDS, b[3])]
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("bit", [0, 63, 64, 300, 511])
def test_any_bit_sees_every_place(bit):
    rows = np.zeros((2, WORDS), np.uint64)
    rows[1, bit // 64] = np.uint64(1) << np.uint64(bit % 64)
    assert not _any(rows, 0)
    assert _any(rows, 1)
