"""Machines as the page stores them: what rounding changes, and that the page says no less."""

import base64
import zlib

import numpy as np
import pytest

from thermorbm.explorer.datasets import histogram
from thermorbm.explorer.fit import _levels, store, with_weights
from thermorbm.model import RBM, SymmetricRBM


def dense(n_hidden=6, n_visible=40, seed=1):
    """Weights of very different sizes: a row of nearly equal ones, a sparse one, one of zeros."""
    rng = np.random.default_rng(seed)
    W = rng.normal(0, 0.01, (n_hidden, n_visible))
    W[0] += 0.9
    W[1, 3] = 1.3
    W[2] = 0
    return RBM(W, rng.normal(0, 0.1, n_visible), rng.normal(0, 0.1, n_hidden))


def symmetric(seed=2):
    rng = np.random.default_rng(seed)
    return SymmetricRBM(rng.normal(0, 0.3, (2, 3, 3)), (6, 5), 0.1, rng.normal(0, 0.1, 2))


def content(stored):
    return zlib.decompress(base64.b64decode(stored.text))


def weights(stored, n_visible_biases):
    """W out of the bytes, number by number."""
    raw, n = content(stored), stored.rows * stored.columns
    raw = raw[4 * (n_visible_biases + stored.rows) :]
    if stored.format == "int8":
        scales = np.frombuffer(raw[: 4 * stored.rows], "<f4").astype(np.float64)
        integers = np.frombuffer(raw[4 * stored.rows :], np.int8).reshape(stored.rows, -1)
        return scales[:, None] * integers
    pairs = [bytes((raw[k], raw[n + k])) for k in range(n)]
    return np.array([np.frombuffer(pair, "<f2")[0] for pair in pairs], float).reshape(stored.rows, -1)


@pytest.mark.parametrize("format", ["float16", "int8"])
def test_the_stated_error_is_that_of_the_bytes(format):
    machine = dense()
    v = np.random.default_rng(3).choice([-1, 1], (50, 40)).astype(np.int8)
    stored = store(machine, format, v)
    W = weights(stored, 40)
    assert stored.weight_error == pytest.approx(np.abs(W - machine.W).max(), rel=1e-5)
    other = RBM(W, machine.b, machine.c)
    change = np.std(other.visible_energy(v) - machine.visible_energy(v))
    assert stored.energy_error == pytest.approx(change, rel=1e-3)
    biases = np.frombuffer(content(stored)[: 4 * 46], "<f4")
    np.testing.assert_array_equal(biases, np.concatenate([machine.b, machine.c]).astype(np.float32))


def test_float16_keeps_eleven_bits():
    machine = dense()
    W = weights(store(machine, "float16"), 40)
    normal = np.abs(machine.W) > 2.0**-14
    assert (np.abs(W - machine.W)[normal] <= 2.0**-11 * np.abs(machine.W)[normal]).all()
    assert (np.abs(W - machine.W)[~normal] <= 2.0**-25).all()


def test_int8_moves_no_weight_and_no_sum_by_more_than_a_step():
    machine = dense(n_visible=400)
    W = weights(store(machine, "int8"), 400)
    step = np.abs(machine.W).max(axis=1, keepdims=True) / 127
    rounding = 1e-6  # of scales in float32
    assert (np.abs(W - machine.W) <= step * (1 + rounding) + rounding).all()
    assert (np.abs(np.cumsum(W - machine.W, axis=1)) <= 0.5 * step + 400 * rounding).all()
    assert not W[2].any()


def test_small_weights_survive_beside_a_large_one():
    """Rounded one by one they would all be zero, and ordered configurations lose most of their energy."""
    W = np.full((1, 1000), 0.002)
    W[0, 0] = 1.2
    stored = store(RBM(W, np.zeros(1000), np.zeros(1)), "int8")
    assert weights(stored, 1000).sum() == pytest.approx(W.sum(), abs=0.01)


def test_symmetric_machines_are_rows_of_filters():
    machine = symmetric()
    stored = store(machine, "float16")
    assert (stored.rows, stored.columns, stored.window) == (2, 9, (3, 3))
    W = weights(stored, 1)
    again = with_weights(machine, W.astype(np.float32))
    assert np.abs(again.filters - machine.filters).max() == pytest.approx(stored.weight_error, rel=1e-5)


def test_weights_that_no_training_makes():
    machine = RBM(np.array([[1e6, -1e-9]]), np.zeros(2), np.zeros(1))
    assert np.isfinite(weights(store(machine, "float16"), 2)).all()
    assert np.isfinite(weights(store(machine, "int8"), 2)).all()


@pytest.mark.parametrize(
    "values",
    [
        np.array([-1.0, -0.5, -0.5, 0.0, 1.0]),
        np.array([0.25]),
        np.arange(1000) * 4 / 4096 - 2,
        np.random.default_rng(1).normal(size=500),
    ],
)
def test_histograms_count_every_value_once(values):
    made = histogram(values)
    assert sum(made.counts) == len(values)
    assert len(made.counts) <= 42
    edges = made.origin + made.width * np.arange(len(made.counts) + 1)
    np.testing.assert_array_equal(made.counts, np.histogram(values, edges)[0])


def test_bins_hold_equally_many_of_discrete_values():
    values = np.repeat(np.arange(-50, 51) * 2 / 64, 3)
    counts = histogram(values).counts
    assert set(counts[:-1]) == {9}


def test_coarse_grids_come_first():
    assert _levels(9) == [0, 4, 3, 4, 2, 4, 3, 4, 1]
    assert _levels(1) == [0]
