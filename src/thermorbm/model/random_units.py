"""Random +-1 units: every element becomes +1 with probability sigma(2 x), x its input.

One single-threaded kernel serves the public methods and training. The generator is xoroshiro128++ with LANES
independent streams side by side, so that the compiler can advance several of them per instruction; its
state is a plain (2, LANES) array of uint64 that can be saved and restored.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numba as nb
import numpy as np
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from thermorbm import xoroshiro
from thermorbm.errors import InputError

Seed = int | np.random.SeedSequence

LANES = 256
PER_STEP = 2 * LANES  # each 64-bit word serves two elements

# What stands for +1 and -1 in a buffer of each type; uint16 holds the bits of bfloat16 numbers.
_PLUS_MINUS = {
    np.dtype(np.float32): (np.float32(1), np.float32(-1)),
    np.dtype(np.float64): (np.float64(1), np.float64(-1)),
    np.dtype(np.int8): (np.int8(1), np.int8(-1)),
    np.dtype(np.uint16): (np.uint16(0x3F80), np.uint16(0xBF80)),
}
_INPUT_TYPES = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.uint16))


def seed_sequence(seed: Seed) -> np.random.SeedSequence:
    """The SeedSequence of a checked seed. seed: a whole number >= 0 or a SeedSequence."""
    if isinstance(seed, np.random.SeedSequence):
        return seed
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0 or isinstance(seed, bool):
        raise InputError("seed", seed, "a whole number >= 0 or a numpy SeedSequence")
    return np.random.SeedSequence(number)


def generator_state(seed: Seed) -> NDArray[np.uint64]:
    """(2, LANES) uint64 state of the unit generator."""
    return xoroshiro.generator_state(seed_sequence(seed), LANES)


def sample_units(
    inputs: NDArray[Any], state: NDArray[np.uint64], out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Draws +-1 units with P(+1) = sigma(2 x) and advances `state` in place.

    inputs: x, any shape, C-contiguous float32, float64 (rounded to float32) or uint16 (bits of bfloat16).
    out: buffer of the same shape, C-contiguous int8, float32, float64 or uint16 (bits of bfloat16); None
    makes a new int8 array. Returns `out`. The rarer outcome has its probability p right to 4e-6 p + 2^-32.
    """
    out = np.empty(inputs.shape, dtype=np.int8) if out is None else out
    if inputs.dtype not in _INPUT_TYPES or not inputs.flags.c_contiguous:
        raise InputError(
            "inputs", inputs.dtype.name, "C-contiguous float32, float64 or uint16 (bfloat16 bits)"
        )
    if out.dtype not in _PLUS_MINUS or not out.flags.c_contiguous:
        raise InputError(
            "out", out.dtype.name, "C-contiguous int8, float32, float64 or uint16 (bfloat16 bits)"
        )
    if out.shape != inputs.shape:
        raise InputError("shape of out", out.shape, f"that of the inputs, {inputs.shape}")
    if state.shape != (2, LANES) or state.dtype != np.uint64:
        raise InputError("generator state", (state.shape, state.dtype.name), f"uint64 of shape (2, {LANES})")
    plus, minus = _PLUS_MINUS[out.dtype]
    _sample(inputs.reshape(-1), state, out.reshape(-1), plus, minus)
    return out


def mean_units(inputs: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean of units with P(+1) = sigma(2 x): tanh x to 3e-7. Any shape, C-contiguous; returns `out`."""
    _means(inputs.reshape(-1), out.reshape(-1))
    return out


@intrinsic
def _as_float32(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        single, word = (context.get_value_type(kind) for kind in (types.float32, types.uint32))
        if value == types.uint16:  # bfloat16 is the upper half of float32
            return builder.bitcast(builder.shl(builder.zext(arguments[0], word), word(16)), single)
        return builder.fptrunc(arguments[0], single) if value == types.float64 else arguments[0]

    return types.float32(value), generate


@intrinsic
def _bits_as_float32(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), generate


_F = np.float32
_MINUS_TWO_IN_BITS = _F(-2 / math.log(2))  # exp(-2 |x|) = 2^(this |x|)
# Chebyshev interpolation of 2^f on [-1/2, 1/2]: relative error 2e-8 before rounding.
_C0, _C1, _C2, _C3, _C4, _C5, _C6 = (
    _F(coefficient)
    for coefficient in np.polynomial.Chebyshev.interpolate(np.exp2, 6, domain=[-0.5, 0.5])
    .convert(kind=np.polynomial.Polynomial)
    .coef
)


@nb.njit(cache=True, fastmath={"contract"})
def _exp2(y: Any) -> Any:
    """2^y for -126 <= y <= 0 in float32, relative error < 2e-7; a library call would not vectorise."""
    whole = np.floor(y + _F(0.5))
    f = y - whole
    power = _C0 + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * (_C5 + f * _C6)))))
    return power * _bits_as_float32((np.int32(whole) + np.int32(127)) << np.int32(23))


@nb.njit(cache=True)
def _next_words(state: Any, words: Any) -> None:
    """One step of every lane."""
    first, second = state[0], state[1]
    for lane in range(LANES):
        words[lane], first[lane], second[lane] = xoroshiro.advanced(first[lane], second[lane])


@nb.njit(cache=True)
def skip_units(state: Any, n_steps: Any) -> None:
    """Advances the generator as PER_STEP * n_steps draws would."""
    words = np.empty(LANES, dtype=np.uint64)
    for _ in range(n_steps):
        _next_words(state, words)


@nb.njit(cache=True, fastmath={"contract"})
def _draw(x: Any, bits: Any, plus: Any, minus: Any) -> Any:
    """The likelier sign of x, or the other one with probability sigma(-2 |x|) = e / (1 + e), e = exp(-2 |x|).

    Working from the rarer side keeps its relative accuracy. The 31-bit uniform sits at the middle of its bin,
    so that it is never 0 and an input of 100 never flips; the bound 2^-126 is far below its resolution.
    """
    e = _exp2(max(_MINUS_TWO_IN_BITS * abs(x), _F(-126)))
    uniform = (_F(np.int32(bits >> np.uint32(1))) + _F(0.5)) * _F(2.0**-31)
    flips = uniform * (_F(1) + e) < e
    return plus if flips != (x >= _F(0)) else minus


@nb.njit(cache=True, fastmath={"contract"})
def _sample(inputs: Any, state: Any, out: Any, plus: Any, minus: Any) -> None:
    words, drawn = np.empty(LANES, dtype=np.uint64), np.empty(PER_STEP, dtype=out.dtype)
    halves = words.view(np.uint32)
    for start in range(0, inputs.size, PER_STEP):
        _next_words(state, words)
        x, units = inputs[start : start + PER_STEP], out[start : start + PER_STEP]
        for k in range(x.size):  # where units take the place of their inputs, this would not vectorise
            drawn[k] = _draw(_as_float32(x[k]), halves[k], plus, minus)
        for k in range(x.size):
            units[k] = drawn[k]


@nb.njit(cache=True, fastmath={"contract"}, error_model="numpy")  # a check of divisors would not vectorise
def _means(inputs: Any, out: Any) -> None:
    """tanh |x| = (1 - e) / (1 + e), e = exp(-2 |x|); a library call would not vectorise."""
    for k in range(inputs.size):
        e = _exp2(max(_MINUS_TWO_IN_BITS * abs(inputs[k]), _F(-126)))
        size = (_F(1) - e) / (_F(1) + e)
        out[k] = size if inputs[k] >= _F(0) else -size
