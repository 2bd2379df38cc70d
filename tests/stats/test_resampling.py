"""Jackknife of arrays and normal draws, on numbers whose errors are known."""

import numpy as np
import pytest

from thermorbm.errors import InputError
from thermorbm.stats import (
    Estimate,
    Estimates,
    jackknife,
    jackknife_many,
    normal_draws,
    variance_estimate,
)


def test_an_array_is_jackknifed_element_by_element():
    x = np.random.default_rng(0).normal(size=(1000, 3))
    many = jackknife_many(x, lambda m: np.array([m[0] ** 2, m[1] * m[2]]), 50)
    for k, function in enumerate((lambda m: m[0] ** 2, lambda m: m[1] * m[2])):
        alone = jackknife(x, function, 50)
        assert (many.values[k], many.errors[k]) == pytest.approx((alone.value, alone.error))


@pytest.mark.parametrize(
    ("n", "used"), [(2, 2), (3, 3), (99, 99), (100, 100), (101, 100), (199, 198), (250, 249)]
)
def test_less_than_a_block_of_samples_is_left_over(n, used):
    x = np.arange(n, dtype=float)
    assert jackknife(x, lambda m: m[0], 100).value == pytest.approx(x[:used].mean())


def test_variance_estimate_is_plain_and_its_error_right():
    rng = np.random.default_rng(1)
    found = [variance_estimate(1e6 + rng.normal(size=800)) for _ in range(200)]
    spread = np.std([estimate.value for estimate in found], ddof=1)
    assert np.mean([estimate.error for estimate in found]) == pytest.approx(spread, rel=4 / np.sqrt(398))
    x = rng.normal(size=50)
    assert variance_estimate(x).value == pytest.approx(np.var(x), rel=1e-12)


def test_normal_draws_have_the_given_errors():
    values, errors = np.array([1.0, -2.0, 0.0]), np.array([0.1, 2.0, 0.0])
    draws = normal_draws(values, errors, 4000, seed=3)
    assert (np.abs(draws.mean(axis=0) - values) <= 4 * errors / np.sqrt(4000)).all()
    np.testing.assert_allclose(draws.std(axis=0), errors, rtol=4 / np.sqrt(8000))


def test_stacked_estimates():
    stacked = Estimates.stack([Estimate(1.0, 0.1), Estimate(2.0, 0.2)])
    np.testing.assert_array_equal(stacked.values, [1, 2])
    np.testing.assert_array_equal(stacked.errors, [0.1, 0.2])
    assert Estimates.stack([]).values.shape == (0,)


@pytest.mark.parametrize(
    "call",
    [
        lambda: normal_draws([1.0], [1.0], 1, 0),
        lambda: normal_draws([1.0], [1.0, 2.0], 5, 0),
        lambda: normal_draws([1.0], [-1.0], 5, 0),
        lambda: normal_draws([np.nan], [1.0], 5, 0),
        lambda: jackknife_many([1.0], lambda m: m),
        lambda: variance_estimate([1.0]),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises(InputError):
        call()
