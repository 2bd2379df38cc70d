"""Machines with weights of 16 bits: exact in themselves, and near the machine they were made of."""

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.model.rounded import LEVELS, RoundedRBM


def machine(n_hidden=9, n_visible=60, scale=0.3, seed=1):
    rng = np.random.default_rng(seed)
    W = scale * rng.normal(size=(n_hidden, n_visible))
    return tr.RBM(W.astype(np.float32), 0.1 * rng.normal(size=n_visible), 0.1 * rng.normal(size=n_hidden))


def spins(n, width, seed=2):
    return np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), (n, width))


def test_products_of_integers_are_those_of_the_rounded_weights():
    rounded = RoundedRBM(machine())
    exact = tr.RBM(rounded.W.astype(np.float64), rounded.b, rounded.c)
    v, h = spins(40, 60), spins(40, 9)
    for units in (v, v.astype(np.float32), v[:1]):
        np.testing.assert_allclose(rounded.hidden_inputs(units), exact.hidden_inputs(units), atol=3e-6)
    np.testing.assert_allclose(rounded.visible_inputs(h), exact.visible_inputs(h), atol=3e-6)
    np.testing.assert_allclose(rounded.visible_energy(v), exact.visible_energy(v), atol=2e-5)
    means = np.tanh(v / 3)  # no whole numbers
    np.testing.assert_allclose(rounded.hidden_inputs(means), exact.hidden_inputs(means), atol=3e-6)


@pytest.mark.parametrize("scale", [0.0, 1e-3, 2.0])
def test_weights_move_by_less_than_a_level(scale):
    original = machine(scale=scale)
    moved = np.abs(RoundedRBM(original).W - original.W)
    assert moved.max() <= 1.001 * max(np.abs(original.W).max(), 1e-30) / LEVELS


def test_equal_weights_are_rounded_up_as_often_as_they_should():
    """One large weight sets the levels; 4000 equal ones between two levels keep their sum."""
    W = np.full((1, 4001), 0.3 / LEVELS, np.float32)
    W[0, 0] = 1.0
    change = (RoundedRBM(tr.RBM(W, np.zeros(4001), np.zeros(1))).W - W)[0, 1:].sum() * LEVELS
    assert abs(change) < 4 * np.sqrt(4000 * 0.3 * 0.7)  # levels; with plain rounding it would be -1200


def test_log_partition_is_near_that_of_the_original():
    original = machine()
    near = RoundedRBM(original)
    # Each weight is off by at most one level, at random, and E is a sum of n_hidden n_visible of them.
    allowed = 5 * np.abs(original.W).max() / LEVELS * np.sqrt(original.W.size)
    assert near.log_partition().value == pytest.approx(original.log_partition().value, abs=allowed)
    annealed = near.log_partition("ais", seed=3)
    assert abs(annealed.value - near.log_partition().value) < 4 * annealed.error
