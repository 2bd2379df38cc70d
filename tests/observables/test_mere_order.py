"""Mere order against direct sums, and the share of correlations learnt of machines whose share is known."""

import math

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import InputError
from thermorbm.observables import mere_order
from thermorbm.reading.values import share_learnt
from thermorbm.stats import Estimate


def probability(v, mu):
    """One configuration after the other, factor by factor."""
    up = math.prod((1 + mu * s) / 2 for s in v)
    down = math.prod((1 - mu * s) / 2 for s in v)
    return (up + down) / 2


def ordered(m, n=400, n_sites=12, seed=1):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, n_sites)) < (1 + m) / 2, 1, -1) * rng.choice([-1, 1], (n, 1))


@pytest.mark.parametrize("m", [0.0, 0.5, 0.9, 1.0])
def test_the_best_mere_order(m):
    """No mu on a fine grid does better, and the one that is used gives the product formula."""
    spins = ordered(m)
    values = mere_order(tr.Dataset.from_spins(spins))
    grid = np.linspace(0, 1 - 1 / (spins.size + 1), 400)
    by_mu = [[-math.log(probability(v, mu)) for v in spins] for mu in grid]
    means = np.mean(by_mu, axis=1)
    assert values.mean() <= means.min() + 1e-6
    best = by_mu[int(means.argmin())]
    np.testing.assert_allclose(values, best, atol=0.05)


def test_the_entropy_of_strong_order_is_that_of_its_spins():
    spins = ordered(0.9, n=4000, n_sites=100)
    p = (1 + np.abs(spins.mean(axis=1)).mean()) / 2
    h = -p * math.log(p) - (1 - p) * math.log(1 - p)
    assert mere_order(tr.Dataset.from_spins(spins)).mean() == pytest.approx(100 * h + math.log(2), abs=1e-3)


def test_the_machine_that_is_the_ising_model_has_learnt_everything():
    data = tr.sample(tr.Lattice((4, 4)), temperature=3.0, n_samples=20_000, seed=1)
    share = tr.correlations_learnt(tr.exact.ising_rbm(data.lattice, 3.0), data, seed=1)
    assert abs(share.value - 1) < 4 * share.error
    assert share.error < 0.1


def test_a_machine_of_mere_order_has_learnt_nothing():
    data = tr.sample(tr.Lattice((8, 8)), temperature=2.0, n_samples=4000, seed=1)
    m = np.abs(data.lattice.magnetization(data.spins())).mean()
    machine = tr.RBM(np.full((1, 64), np.arctanh(m)), np.zeros(64), np.zeros(1))
    share = tr.correlations_learnt(machine, data, seed=1)
    assert abs(share.value) < 0.02  # mu of the least likelihood is not quite <|m|>


def test_errors_of_the_share():
    share = share_learnt(Estimate(0.02, 0.001), Estimate(0.18, 0.0), Estimate(0.14, 0.002))
    assert share == Estimate(pytest.approx(0.5), pytest.approx(math.hypot(0.001, 0.5 * 0.002) / 0.04))
    assert share_learnt(Estimate(0.0, 0.0), Estimate(0.14, 0.001), Estimate(0.139, 0.0)) is None


def test_entropy_that_is_not_known_must_be_given():
    spins = ordered(0.5)
    data, machine = tr.Dataset.from_spins(spins), tr.RBM(np.zeros((2, 12)), np.zeros(12), np.zeros(2))
    with pytest.raises(InputError, match="entropy must be S per spin in nats, got None"):
        tr.correlations_learnt(machine, data)
    assert tr.correlations_learnt(machine, data, entropy=0.5).value < 0
    with pytest.raises(InputError, match="data must be correlated beyond their common sign"):
        tr.correlations_learnt(machine, data, entropy=0.7)
