"""The order of the data: patterns with their strengths, against what the data were made with."""

import numpy as np
import pytest
from numpy.random import SeedSequence

from thermorbm import Dataset
from thermorbm.training import order as room
from thermorbm.training.order import find_order

N = 60


def patterned(strengths, n=3000, seed=1):
    """Configurations of independent spins with means +strengths or -strengths."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], (n, 1))
    return np.where(rng.random((n, len(strengths))) < (1 + signs * strengths) / 2, 1, -1)


def order_of(spins, seed=2):
    return find_order(Dataset.from_spins(spins), SeedSequence(seed))


def up_to_sign(a, b):
    return a * np.sign(a @ b)


def test_uneven_strengths_are_found():
    truth = np.linspace(0.95, 0.5, N) * np.resize([1, 1, -1], N)
    spins = patterned(truth)
    order = order_of(spins)
    assert order.strengths.shape == (1, N)
    error = np.sqrt((1 - truth**2) / (len(spins) - room.DIRECTION_ROWS))
    assert np.abs((up_to_sign(order.strengths[0], truth) - truth) / error).max() < 4.5
    assert order.spread == pytest.approx(1 - np.mean(truth**2), abs=4 * error.mean() / np.sqrt(N))
    np.testing.assert_array_equal(up_to_sign(order.signs, truth), np.sign(truth))


def test_sites_that_are_alike_share_one_strength():
    """Their scatter is less than a third of what counting each alone would leave."""
    spins = patterned(np.full(N, 0.9))
    strengths = np.abs(order_of(spins).strengths[0])
    assert strengths.std() < np.sqrt((1 - 0.9**2) / (len(spins) - room.DIRECTION_ROWS)) / 3
    assert strengths.mean() == pytest.approx(0.9, abs=0.005)


def test_free_spins_have_next_to_no_order():
    """Along any direction u, v_j sign(u.v) has the mean u_j sqrt(2 / pi), which is all that is left."""
    order = order_of(np.random.default_rng(3).choice([-1, 1], (5000, N)))
    assert len(order.strengths) == 1
    assert order.spread == pytest.approx(1 - 2 / np.pi / N, abs=2e-3)


def test_two_patterns_are_two():
    """Stripes one way or the other, each with a random sign."""
    a, b = np.resize([1, -1], N), np.resize([1, 1, -1, -1], N)
    rng = np.random.default_rng(4)
    pattern = np.where(rng.random((2000, 1)) < 0.5, a, b) * rng.choice([-1, 1], (2000, 1))
    spins = np.where(rng.random(pattern.shape) < 0.97, pattern, -pattern)
    directions = order_of(spins).directions
    assert len(directions) == 2
    np.testing.assert_allclose(directions @ directions.T, np.eye(2), atol=1e-5)
    for truth in (a, b):
        assert np.linalg.norm(directions @ truth) / np.sqrt(N) > 0.98


@pytest.mark.parametrize("n", [1, 2, 40])
def test_all_rows_alike(n):
    order = order_of(np.ones((n, N)))
    assert np.isfinite(np.arctanh(order.strengths)).all()
    assert order.spread == pytest.approx(0, abs=2 / n)
    assert order.sway == pytest.approx([0], abs=1e-6)


def test_the_variance_of_the_order_itself():
    """All spins follow one field that has two strengths: sqrt(N) m fluctuates between two values."""
    rng = np.random.default_rng(5)
    spins = np.concatenate([patterned(np.full(N, m), 4000, seed) for m, seed in ((0.9, 6), (0.5, 7))])
    m = np.abs(spins.mean(axis=1)) * np.sqrt(N)
    error = m.var() * np.sqrt(2 / len(m))
    assert order_of(rng.permutation(spins)).sway[0] == pytest.approx(m.var(), abs=5 * error)
