"""Statistics against processes whose answers are known."""

import copy

import numpy as np
import pytest

from thermorbm.errors import InputError
from thermorbm.stats import (
    Estimate,
    autocorrelation_time,
    difference_z_score,
    effective_sample_size,
    jackknife,
    mean_estimate,
    split_r_hat,
    split_r_hat_limit,
)


def _autoregressive(rho, n_steps, n_chains, seed=0):
    """Stationary AR(1) chains, whose tau_int is 1/2 + rho / (1 - rho)."""
    rng = np.random.default_rng(seed)
    x = np.empty((n_steps, n_chains))
    x[0] = rng.normal(size=n_chains)
    for t in range(1, n_steps):
        x[t] = rho * x[t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=n_chains)
    return x


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_autocorrelation_time_of_an_autoregressive_process(rho):
    truth = 0.5 + rho / (1 - rho)
    estimates = [autocorrelation_time(_autoregressive(rho, 400, 100, seed)) for seed in range(10)]
    error = np.std(estimates, ddof=1) / np.sqrt(10)
    assert abs(np.mean(estimates) - truth) < 4 * error + 0.02 * truth  # the window cuts e^-6 of the sum
    assert error < 0.03 * truth


def test_autocorrelation_equals_the_direct_sum():
    x = _autoregressive(0.8, 50, 7)
    centred = x - x.mean()
    variance = (centred**2).mean()
    direct = 0.5
    for lag in range(1, 50):
        direct += (centred[:-lag] * centred[lag:]).mean() / variance
        if lag >= 6 * direct:
            break
    assert autocorrelation_time(x) == pytest.approx(direct, rel=1e-10)


def test_constant_and_oscillating_series_count_as_independent():
    assert autocorrelation_time(np.full((20, 3), 7.0)) == 0.5
    assert autocorrelation_time(np.tile([[1.0], [-1.0]], (50, 4))) == 0.5


def test_effective_sample_size():
    x = _autoregressive(0.5, 2000, 50)
    assert effective_sample_size(x) == pytest.approx(x.size / 3, rel=0.05)
    assert effective_sample_size(x[:1]) == 50


def test_split_r_hat_is_one_for_equal_chains_and_more_for_others():
    x = _autoregressive(0.0, 100, 200)
    assert split_r_hat(x) == pytest.approx(1, abs=0.01)
    assert split_r_hat(x + np.arange(200) / 50) > 1.3
    assert split_r_hat(x + np.arange(100)[:, None] / 20) > 1.3  # a drift, seen by halving
    assert split_r_hat(np.ones((8, 3))) == 1
    assert split_r_hat(np.tile(np.arange(3.0), (8, 1))) == np.inf


@pytest.mark.parametrize(("n_steps", "n_chains"), [(4, 30), (13, 8)])
def test_split_r_hat_limit_is_exceeded_as_often_as_it_says(n_steps, n_chains):
    n_trials, probability = 4000, 0.05
    limit = split_r_hat_limit(n_steps, n_chains, probability)
    trials = np.random.default_rng(2).normal(size=(n_trials, n_steps, n_chains))
    exceeded = np.mean([split_r_hat(x) > limit for x in trials])
    assert abs(exceeded - probability) < 4 * np.sqrt(probability * (1 - probability) / n_trials)


def test_difference_z_score():
    rng = np.random.default_rng(1)
    scores = [difference_z_score(rng.normal(size=50), rng.normal(size=80)) for _ in range(400)]
    assert np.std(scores) == pytest.approx(1, abs=4 / np.sqrt(800))
    assert difference_z_score([1.0, 1.0], [1.0, 1.0]) == 0
    assert difference_z_score([2.0, 2.0], [1.0, 1.0]) == np.inf


def test_jackknife_of_a_mean_is_the_mean_and_its_error():
    x = np.random.default_rng(2).normal(3.0, 2.0, 5000)
    by_blocks, plain = jackknife(x, lambda m: m[0]), mean_estimate(x)
    assert by_blocks.value == pytest.approx(plain.value)
    assert by_blocks.error == pytest.approx(plain.error, rel=0.3)


def test_jackknife_errors_cover_a_variance():
    """z-scores of the jackknifed variance of normal numbers have unit spread."""
    rng = np.random.default_rng(3)
    scores = []
    for _ in range(300):
        x = rng.normal(size=1000)
        estimate = jackknife(np.stack([x, x * x], axis=1), lambda m: m[1] - m[0] ** 2, 50)
        scores.append(estimate.z_score(1.0))
    assert abs(np.mean(scores)) < 4 / np.sqrt(300)
    assert np.std(scores) == pytest.approx(1, abs=4 / np.sqrt(600) + 0.05)


def test_z_score_of_a_certain_value():
    assert Estimate(1.0, 0.0).z_score(1.0) == 0
    assert Estimate(3.0, 0.5).z_score(2.0) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: mean_estimate([1.0]),
        lambda: jackknife([[1.0]], lambda m: m[0]),
        lambda: split_r_hat(np.ones((3, 2))),
        lambda: autocorrelation_time(np.ones(5)),
        lambda: difference_z_score([1.0], [1.0, 2.0]),
    ],
)
def test_too_little_data_is_refused(call):
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.35297, 0.0069, "0.3530(69)"),
        (2.28173, 0.00098, "2.28173(98)"),
        (2.3, 0.0996, "2.30(10)"),
        (2.31, 0.68, "2.31(68)"),
        (12.34, 1.26, "12.3(1.3)"),
        (1234.5, 67.8, "1234(68)"),
        (0.5, 0.0, "0.5"),
        (0.5, np.nan, "0.5(nan)"),
    ],
)
def test_an_estimate_prints_its_error_in_the_last_digits(value, error, text):
    assert str(Estimate(value, error)) == text


def test_arithmetic_follows_errors_and_correlations():
    a, b = Estimate(2.0, 0.3), Estimate(5.0, 0.4)
    assert (a + b).value == 7.0
    assert (a + b).error == pytest.approx(0.5)
    assert (a * b).error == pytest.approx(np.hypot(0.3 * 5, 0.4 * 2))
    assert (1 / a).error == pytest.approx(0.3 / 4)
    assert (10 - 2 * a).error == pytest.approx(0.6)
    assert (a**2).error == pytest.approx(1.2)
    assert abs(-a) == a
    assert (a - a) == Estimate(0.0, 0.0)
    assert ((a + b) - a).error == pytest.approx(0.4)  # not the 0.58 of three independent values
    assert float(a) == 2.0
    assert Estimate(1.0, 0.0) + 1 == Estimate(2.0, 0.0)
    assert np.isnan((a + Estimate(1.0, np.nan)).error)
    with pytest.raises(TypeError):
        a + "b"


def test_estimates_print_short_and_format_like_uncertainties():
    a = Estimate(0.35297, 0.0069)
    assert repr(a) == f"{a}" == "0.3530(69)"
    assert f"{a:.1uP}" == "0.353±0.007"
    assert copy.copy(a + 1) == a + 1
