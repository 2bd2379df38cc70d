"""Random words for the kernels: xoroshiro128++ (Blackman & Vigna 2019), seeded by NumPy's SeedSequence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.random import SeedSequence
from numpy.typing import NDArray


def generator_state(seed: SeedSequence, *shape: int) -> NDArray[np.uint64]:
    """(2, *shape): independent generator states; never all zero, which would be a fixed point."""
    words = seed.generate_state(2 * math.prod(shape), np.uint64).astype(np.uint64)
    state = words.reshape(2, *shape)
    state[1] |= (state[0] | state[1]) == 0
    return state


@njit(inline="always")
def next_word(state: Any) -> np.uint64:
    """The next 64 random bits of a (2,) state, which moves on."""
    first, second = state[0], state[1]
    total = first + second
    word = ((total << np.uint64(17)) | (total >> np.uint64(47))) + first
    second ^= first
    state[0] = ((first << np.uint64(49)) | (first >> np.uint64(15))) ^ second ^ (second << np.uint64(21))
    state[1] = (second << np.uint64(28)) | (second >> np.uint64(36))
    return word  # type: ignore[no-any-return]


@njit(inline="always")
def next_uniform(state: Any) -> float:
    """The next uniform number in [0, 1), a multiple of 2^-53."""
    return (next_word(state) >> np.uint64(11)) * 2.0**-53  # type: ignore[no-any-return]
