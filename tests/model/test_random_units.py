"""The sampling kernel: its generator, its probabilities, its independence, its state."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from thermorbm.errors import InputError
from thermorbm.model.random_units import LANES, PER_STEP, generator_state, sample_units

MASK = (1 << 64) - 1


def xoroshiro_words(state, n_steps):
    """(n_steps, LANES) outputs of xoroshiro128++ in Python integers, from the published recurrence."""

    def rotl(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    lanes = [(int(a), int(b)) for a, b in zip(*state, strict=True)]
    words = []
    for _ in range(n_steps):
        words.append([(rotl((a + b) & MASK, 17) + a) & MASK for a, b in lanes])
        mixed = [(a, a ^ b) for a, b in lanes]
        lanes = [(rotl(a, 49) ^ b ^ ((b << 21) & MASK), rotl(b, 28)) for a, b in mixed]
    return np.array(words, dtype=np.uint64), np.array(lanes, dtype=np.uint64).T


def test_every_unit_against_the_slow_way():
    n_steps = 40
    x = (np.random.default_rng(1).normal(size=n_steps * PER_STEP - 100) * 3).astype(np.float32)
    state = generator_state(1)
    words, last = xoroshiro_words(state, n_steps)
    units = sample_units(x, state)
    np.testing.assert_array_equal(state, last)
    uniform = ((words.view(np.uint32).ravel()[: len(x)] >> 1) + 0.5) / 2**31
    q = expit(-2 * np.abs(x.astype(np.float64)))
    expected = np.where(uniform < q, -1, 1) * np.where(x >= 0, 1, -1)
    certain = np.abs(uniform - q) > 4e-6 * q  # closer than this float32 may decide otherwise
    assert certain.mean() > 0.999
    np.testing.assert_array_equal(units[certain], expected[certain])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_units_may_take_the_place_of_their_inputs(dtype):
    x = np.random.default_rng(2).normal(size=(7, PER_STEP - 3)).astype(dtype)
    apart = sample_units(x, generator_state(4), np.empty_like(x))
    assert sample_units(x, generator_state(4), x) is x
    np.testing.assert_array_equal(x, apart)


def test_frequencies_over_a_grid_of_inputs():
    grid = np.array([-8, -6, -4, -2, -1, -0.3, -1e-3, 0, 1e-6, 0.01, 0.1, 0.5, 1.5, 3, 5, 7, 9], np.float32)
    n = 1 << 23
    state, scores = generator_state(2), []
    for x in grid:
        rarer = np.count_nonzero(sample_units(np.full(n, x, np.float32), state) != (1 if x >= 0 else -1))
        q = expit(-2 * abs(float(x)))
        # two-sided exact binomial p-value: right even where a handful of flips is expected
        scores.append(stats.binomtest(rarer, n, q).pvalue)
    assert min(scores) > 1e-4 / len(grid)


def test_extreme_inputs_never_flip():
    x = np.tile(np.array([12.0, 50, 1e4, 3e38, np.inf], np.float32), 1 << 18)
    state = generator_state(3)
    assert (sample_units(x, state) == 1).all()
    assert (sample_units(-x, state) == -1).all()


@pytest.mark.parametrize("x", [0.0, 0.7])
def test_elements_are_independent(x):
    """Correlation at short distances, between the halves of a word, and along one lane, is that of noise."""
    n = 1 << 22
    units = sample_units(np.full(n, x, np.float32), generator_state(4)).astype(np.float64)
    units = (units - units.mean()) / units.std()
    lags = [1, 2, 3, 4, 7, 8, 16, 64, LANES - 1, LANES, LANES + 1, PER_STEP - 1, PER_STEP, PER_STEP + 1, 4096]
    for lag in lags:
        assert abs(np.mean(units[:-lag] * units[lag:])) < 5 / np.sqrt(n - lag)


def test_neighbouring_eights_are_equally_frequent():
    bits = sample_units(np.zeros((1 << 20, 8), np.float32), generator_state(5)) > 0
    counts = np.bincount(np.packbits(bits), minlength=256)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_seeds_give_unrelated_units():
    n = 1 << 20
    a, b = (sample_units(np.zeros(n, np.float32), generator_state(seed)) for seed in (0, 1))
    assert abs(np.mean(a * b)) < 5 / np.sqrt(n)


def test_state_restores_bit_by_bit():
    x = np.random.default_rng(6).normal(size=(33, 77)).astype(np.float32)
    state = generator_state(6)
    sample_units(x, state)
    saved = state.copy()
    first = [sample_units(x, state) for _ in range(3)]
    again = [sample_units(x, saved) for _ in range(3)]
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(state, saved)


def test_every_type_of_buffer_holds_the_same_units():
    x = np.random.default_rng(7).normal(size=(20, 301)).astype(np.float32)
    plain = sample_units(x, generator_state(7))
    assert plain.dtype == np.int8
    for dtype in (np.int8, np.float32, np.float64):
        out = np.empty(x.shape, dtype)
        assert sample_units(x, generator_state(7), out) is out
        np.testing.assert_array_equal(out, plain)
    bits = sample_units(x, generator_state(7), np.empty(x.shape, np.uint16))
    np.testing.assert_array_equal((bits.astype(np.uint32) << 16).view(np.float32), plain)


def test_inputs_in_bfloat16_and_float64():
    x = np.random.default_rng(8).normal(size=5000).astype(np.float32)
    upper = (x.view(np.uint32) >> 16).astype(np.uint16)
    truncated = (upper.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(
        sample_units(upper, generator_state(8)), sample_units(truncated, generator_state(8))
    )
    np.testing.assert_array_equal(
        sample_units(x.astype(np.float64), generator_state(8)), sample_units(x, generator_state(8))
    )


def test_empty_inputs():
    assert sample_units(np.empty((0, 5), np.float32), generator_state(9)).shape == (0, 5)


def test_wrong_buffers_are_refused():
    x, state = np.zeros((4, 6), np.float32), generator_state(0)
    with pytest.raises(InputError, match="inputs must be C-contiguous"):
        sample_units(x.T, state)
    with pytest.raises(InputError, match="inputs must be C-contiguous float32"):
        sample_units(x.astype(int), state)
    with pytest.raises(InputError, match="out must be"):
        sample_units(x, state, np.empty((4, 6), np.int32))
    with pytest.raises(InputError, match="shape of out must be"):
        sample_units(x, state, np.empty((6, 4), np.float32))
    with pytest.raises(InputError, match="generator state must be"):
        sample_units(x, state[:1])


@pytest.mark.parametrize("seed", [-1, 1.5, None, "one", True])
def test_bad_seeds(seed):
    with pytest.raises(InputError, match="seed must be a whole number >= 0"):
        generator_state(seed)
