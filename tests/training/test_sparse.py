"""The pull towards weights of zero: a loop over weights, and what it leaves alone."""

import numpy as np
import torch

from thermorbm import Dataset
from thermorbm.training.order import find_order
from thermorbm.training.sparse import _EVERY, SparsePrior

CPU = torch.device("cpu")
N_VISIBLE, N_HIDDEN, N_SAMPLES = 400, 5, 2500


def ordered(share=0.95, n=2000):
    rng = np.random.default_rng(1)
    up = np.where(rng.random((n, N_VISIBLE)) < share, 1, -1) * rng.choice([-1, 1], (n, 1))
    return find_order(Dataset.from_spins(up), np.random.SeedSequence(2))


def filters(seed=3):
    """A few large weights each on a background of noise, balanced by a level."""
    rng = np.random.default_rng(seed)
    W = rng.normal(0, 1e-3, (N_HIDDEN, N_VISIBLE)) - 0.01
    W[:, :6] += rng.choice([-0.8, 0.8], (N_HIDDEN, 1))
    return torch.tensor(W, dtype=torch.float32)


def test_weights_move_by_the_pull_towards_the_level_of_their_filter():
    order, W = ordered(), filters()
    before, n_order, rate = W.clone().double().numpy(), 1, 0.5
    SparsePrior(order, 2.0, N_SAMPLES, n_order, CPU).pull(W, rate, _EVERY - 1)
    threshold = _EVERY * rate * 2.0 * np.sqrt(order.spread / N_SAMPLES)
    sign, u = order.signs, order.directions[0].astype(float)
    for i, row in enumerate(before):
        expected = row.copy()
        if i >= n_order:
            level = np.median(row * sign)
            away = row * sign - level
            kept = np.where(np.abs(away) > threshold, away - threshold * np.sign(away), 0)
            change = (level + kept) * sign - row
            expected = row + change - (change @ u) * u
        # The level is a mean over all near weights, and not quite the median.
        np.testing.assert_allclose(W[i], expected, atol=2e-3)


def test_what_a_filter_has_of_the_order_stays():
    order, W = ordered(), filters()
    before = W.clone()
    SparsePrior(order, 3.0, N_SAMPLES, 0, CPU).pull(W, 0.5, _EVERY - 1)
    u = torch.from_numpy(order.directions[0])
    assert not torch.equal(W, before)
    np.testing.assert_allclose(W @ u, before @ u, atol=1e-5)


def test_noise_goes_and_large_weights_stay():
    order, W = ordered(), filters()
    prior = SparsePrior(order, 1.0, N_SAMPLES, 0, CPU)
    before = W.clone()
    prior.pull(W, 0.5, _EVERY - 1)
    rest = W[:, 6:]
    assert rest.std(1).max() < 1e-6
    assert (W[:, :6].abs() > 0.9 * before[:, :6].abs()).all()


def test_between_pulls_nothing_moves():
    order, W = ordered(), filters()
    before = W.clone()
    for update in range(_EVERY - 1):
        SparsePrior(order, 3.0, N_SAMPLES, 0, CPU).pull(W, 0.5, update)
    assert torch.equal(W, before)
