"""xoroshiro128++ (Blackman and Vigna 2021), the source of all random bits in compiled kernels.

A generator is two words of 64 bits, first and second. The step is written once: words may be numbers, or the
wide registers of `sampling.registers`, which move many generators at a time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.extending import intrinsic
from numpy.random import SeedSequence
from numpy.typing import NDArray


def generator_state(seed: SeedSequence, *shape: int) -> NDArray[np.uint64]:
    """(2, *shape): independent generator states; never all zero, which would be a fixed point."""
    words = seed.generate_state(2 * math.prod(shape), np.uint64).astype(np.uint64)
    state = words.reshape(2, *shape)
    state[1] |= (state[0] | state[1]) == 0
    return state


@njit
def advanced(first: Any, second: Any) -> Any:
    """The next random bits of a generator, and its two words moved on."""
    bits = rotate_left(first + second, 17) + first
    second = second ^ first
    first = rotate_left(first, 49) ^ second ^ shift_left(second, 21)
    return bits, first, rotate_left(second, 28)


@njit(inline="always")
def next_word(state: Any) -> np.uint64:
    """The next 64 random bits of a (2,) state, which moves on."""
    word, state[0], state[1] = advanced(state[0], state[1])
    return word  # type: ignore[no-any-return]


@njit(inline="always")
def next_uniform(state: Any) -> float:
    """The next uniform number in [0, 1), a multiple of 2^-53."""
    return (next_word(state) >> np.uint64(11)) * 2.0**-53  # type: ignore[no-any-return]


@intrinsic(prefer_literal=True)
def shift_left(typing_context: Any, word: Any, places: Any) -> Any:
    """shift_left(word, places): a word, or each of a register, shifted by a literal number of places."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.shl(arguments[0], _like(arguments[0], places.literal_value))

    return word(word, places), emit


@intrinsic(prefer_literal=True)
def rotate_left(typing_context: Any, word: Any, places: Any) -> Any:
    """rotate_left(word, places): a word, or each of a register, rotated by a literal number of places."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        up = builder.shl(arguments[0], _like(arguments[0], places.literal_value))
        return builder.or_(up, builder.lshr(arguments[0], _like(arguments[0], 64 - places.literal_value)))

    return word(word, places), emit


def _like(value: Any, number: int) -> Any:
    """The number as a constant of that value's type, in every place if it is a vector."""
    kind = value.type
    return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)
