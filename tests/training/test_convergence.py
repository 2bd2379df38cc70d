"""The verdict on synthetic histories: behaviour, not constants."""

import numpy as np
import pytest

from thermorbm import RBM
from thermorbm.training.monitor import is_mere_order, judge, judge_natural, score

N_VISIBLE = 1000
NOISE = 1e-4 * N_VISIBLE


def history(likelihood, rate=1e-4, stride=400):
    """One record every `stride` updates; rate: one number or one per record; likelihood: per visible unit."""
    likelihood = np.asarray(likelihood, dtype=float) * N_VISIBLE
    rates = np.broadcast_to(rate, likelihood.shape)
    return {
        "update": stride * np.arange(1.0, len(likelihood) + 1),
        "pseudo_likelihood": likelihood,
        "pseudo_likelihood_error": np.full(len(likelihood), NOISE),
        "distance": np.cumsum(rates * stride),
        "rate": rates,
    }


def noise(n, size=1e-4, seed=1):
    return np.random.default_rng(seed).normal(size=n) * size


def test_a_flat_curve_has_converged():
    verdict = judge(history(0.34 + noise(60)), N_VISIBLE)
    assert verdict.status == "converged"
    assert abs(verdict.drift) < 5 * verdict.drift_error


@pytest.mark.parametrize("n", [60, 500, 3000])
def test_a_slow_fall_that_looks_flat_per_epoch_has_not(n):
    """L~ falls by 0.02 whenever the distance doubles: in the last epoch of 3000 by only 1e-5."""
    distance = np.arange(1, n + 1)
    likelihood = 0.6 - 0.02 * np.log2(distance) + noise(n)
    assert abs(likelihood[-1] - likelihood[-2]) < 2e-3
    verdict = judge(history(likelihood), N_VISIBLE)
    assert verdict.status == "not converged"
    assert verdict.drift == pytest.approx(-0.02, abs=max(5 * verdict.drift_error, 1e-3))


def test_the_verdict_does_not_depend_on_the_rate_at_which_the_distance_was_walked():
    likelihood = 0.5 - 0.01 * np.log2(np.arange(1, 201)) + noise(200)
    slow, quick = (judge(history(likelihood, rate), N_VISIBLE) for rate in (1e-6, 1e-2))
    assert slow.status == quick.status == "not converged"
    assert slow.drift == pytest.approx(quick.drift, rel=1e-6)


def test_a_scatter_too_wide_to_tell_is_not_converged():
    assert judge(history(0.34 + noise(14, size=0.02)), N_VISIBLE).status == "not converged"


def test_noise_that_falls_with_the_rate_is_not_progress():
    """Under a cosine schedule the last part of the fall is the walk calming down."""
    progress = np.arange(1, 121) / 120
    rate = 1e-2 * (1 + np.cos(np.pi * progress)) / 2 + 1e-5
    arrived = 0.34 + 2.0 * rate + noise(120)
    assert judge(history(arrived, rate), N_VISIBLE).status == "converged"
    falling = arrived - 0.03 * np.log2(np.cumsum(rate))
    assert judge(history(falling, rate), N_VISIBLE).status == "not converged"


def test_too_few_records_are_not_enough():
    verdict = judge(history([0.5, 0.4, 0.4]), N_VISIBLE)
    assert verdict.status == "not converged"
    assert np.isnan(verdict.drift)


@pytest.mark.parametrize("last", [np.nan, np.inf, 1e6])
def test_no_way_back(last):
    assert judge(history([*(0.34 + noise(30)), last]), N_VISIBLE).status == "diverged"


def test_scores_are_means_over_the_configurations():
    rng = np.random.default_rng(1)
    machine = RBM(rng.normal(size=(4, 9)), rng.normal(size=9), rng.normal(size=4))
    v = rng.choice([-1, 1], (50, 9))
    scores = score(machine, v, seed=3)
    likelihood = machine.pseudo_likelihood(v)
    assert scores.pseudo_likelihood == pytest.approx(likelihood.mean())
    assert scores.pseudo_likelihood_error == pytest.approx(likelihood.std() / np.sqrt(50))
    assert scores.cross_entropy == pytest.approx(machine.cross_entropy(v, seed=3).mean())
    assert scores.visible_energy == pytest.approx(machine.visible_energy(v).mean())


def ordered_machine(m=0.9, n_sites=100, n_hidden=4):
    """Every unit carries a part of the order, and nothing else is known: inputs are 22 in the pattern."""
    W = np.full((n_hidden, n_sites), np.arctanh(m) / n_hidden)
    return RBM(W, np.zeros(n_sites), np.zeros(n_hidden))


def test_a_machine_that_knows_the_order_alone_is_told():
    rng = np.random.default_rng(1)
    v = np.where(rng.random((48, 100)) < 0.95, 1, -1) * rng.choice([-1, 1], (48, 1))
    strengths = np.full(100, 0.9)
    assert is_mere_order(ordered_machine(), v.astype(np.int8), strengths)
    unsaturated = RBM(np.full((4, 100), 0.001), np.zeros(100), np.zeros(4))
    assert not is_mere_order(unsaturated, v.astype(np.int8), strengths)


def test_correlations_are_more_than_mere_order():
    """Spins in equal pairs: a unit for each pair knows it, and is saturated too."""
    rng = np.random.default_rng(2)
    pairs = np.where(rng.random((48, 50)) < 0.95, 1, -1) * rng.choice([-1, 1], (48, 1))
    v = np.repeat(pairs, 2, axis=1).astype(np.int8)
    W = np.kron(np.eye(50), [2.0, 2.0])
    assert not is_mere_order(RBM(W, np.zeros(100), np.zeros(50)), v, np.full(100, 0.9))
    assert is_mere_order(ordered_machine(), v, np.full(100, 0.9))


@pytest.mark.parametrize("judged", [judge, judge_natural])
def test_a_flat_line_above_that_of_no_machine_at_all_is_not_converged(judged):
    n = 40
    history = {
        "update": np.arange(1.0, n + 1),
        "distance": np.arange(1.0, n + 1),
        "rate": np.ones(n),
        "pseudo_likelihood": np.full(n, 3.0),
    }
    assert judged(history, 1).status == "diverged"
    assert judged({**history, "pseudo_likelihood": np.full(n, 0.5)}, 1).status == "converged"
