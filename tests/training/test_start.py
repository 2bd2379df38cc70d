"""Where machines start: units that see the spins around a site."""

import numpy as np
import pytest

from thermorbm import Dataset, train
from thermorbm.errors import InputError
from thermorbm.training.start import _HEIGHT, _NOISE, _WIDTH, local_bumps, spread_points


def test_each_unit_sees_the_spins_around_a_site():
    """Slow: one unit and one site after the other."""
    shape, n_hidden = (6, 8), 12
    W = local_bumps(n_hidden, shape, np.random.SeedSequence(1))["W"].reshape(n_hidden, *shape)
    width = _WIDTH * (48 / n_hidden) ** 0.5
    noise = _NOISE * np.sqrt(2 / 60)
    for j, centre in enumerate(spread_points(n_hidden, 2) * shape):
        sign = np.sign(W[j].flat[np.abs(W[j]).argmax()])
        for site in np.ndindex(shape):
            apart = [abs(x - c) for x, c in zip(site, centre, strict=True)]
            square = sum(min(a, side - a) ** 2 for a, side in zip(apart, shape, strict=True))
            expected = sign * _HEIGHT * np.exp(-square / (2 * width**2))
            assert abs(W[j][site] - expected) < 5 * noise


@pytest.mark.parametrize(("n", "dimension"), [(50, 1), (400, 2), (300, 3)])
def test_points_are_spread_evenly(n, dimension):
    """None has a neighbour nearer than 0.4 of the spacing of a grid; random points come far closer."""
    points = spread_points(n, dimension)
    away = np.abs(points[:, None] - points)
    squares = (np.minimum(away, 1 - away) ** 2).sum(axis=2) + np.eye(n)
    assert np.sqrt(squares.min()) > 0.4 * n ** (-1 / dimension)


def test_signs_and_noise_come_from_the_seed():
    first, same, other = (local_bumps(50, (8, 8), np.random.SeedSequence(s))["W"] for s in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
    up = (first.sum(axis=1) > 0).mean()
    assert 0.2 < up < 0.8  # 0.5 +- 0.07


def test_data_without_a_lattice_start_at_random_weights(coins):
    plain = Dataset.from_spins(coins.spins())
    options = {"n_hidden": 5, "epochs": 1, "batch_size": 50, "seed": 1, "threads": 1, "precision": "fp32"}
    local, glorot = (train(plain, start=start, **options).rbm for start in ("local", "glorot"))
    np.testing.assert_array_equal(local.W, glorot.W)
    assert not np.array_equal(train(coins, start="local", **options).rbm.W, local.W)


def test_bad_starts(coins):
    with pytest.raises(
        InputError, match="start must be one of glorot, local, got 'locl'; did you mean 'local'"
    ):
        train(coins, n_hidden=5, start="locl")
    with pytest.raises(InputError, match="start must be glorot for a symmetric machine"):
        train(coins, model="symmetric", kernel=2, start="local")
