"""Means over seeds: their errors, and what these make of the error of T_c."""

import numpy as np
import pytest

from oracles.synthetic_curves import KINDS, curve_of_seeds
from thermorbm import estimators
from thermorbm.estimators import mean_over_seeds

N_CURVES = 120


def test_one_seed_has_the_error_it_states():
    values, errors = mean_over_seeds([[1.0], [2.0]], [[0.1], [0.2]])
    assert values.tolist() == [1.0, 2.0]
    assert errors.tolist() == [0.1, 0.2]


def test_the_largest_of_three_errors():
    values = [[0.0, 2.0], [1.0, 1.0], [3.0, 3.0]]  # variances 2, 0, 0
    stated = [[0.1, 0.1], [0.1, 0.1], [3.0, 4.0]]
    means, errors = mean_over_seeds(values, stated)
    assert means.tolist() == [1.0, 1.0, 3.0]
    around = np.sqrt((2 / 3) / 2)  # the mean variance of all three, of a mean of two
    assert errors == pytest.approx([1.0, around, 2.5])


def test_errors_of_shared_data_do_not_average_out():
    """Three trainings, each 0.3 off by itself, scored on the same configurations, whose error is 0.4."""
    rng = np.random.default_rng(5)
    n = 4000
    data, training = 0.4 * rng.standard_normal((n, 1)), 0.3 * rng.standard_normal((n, 3))
    means, errors = mean_over_seeds(data + training, np.full((n, 3), 0.4), shared=True)
    assert np.std(means) == pytest.approx(np.hypot(0.4, 0.3 / np.sqrt(3)), rel=0.05)
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(np.std(means), rel=0.1)
    alone = mean_over_seeds([[1.0]], [[0.4]], shared=True)[1]
    assert alone.tolist() == [0.4]


def test_seeds_that_are_missing_somewhere():
    _, errors = mean_over_seeds([[0.0, 2.0], [1.0]], [[0.1, 0.1], [0.3]])
    assert errors == pytest.approx([1.0, 0.3])


def test_errors_of_a_mean_of_three_are_right_on_average():
    values = np.random.default_rng(4).standard_normal((2000, 3))
    _, errors = mean_over_seeds(values, np.zeros((2000, 3)))
    square = np.mean(errors**2)
    assert 1 / 3 < square < 2 / 3  # not too small, and not twice too large


def test_the_error_of_tc_over_three_seeds_covers_the_truth():
    """The errors of the points are not told: they come from the scatter of three seeds."""
    covered = []
    for k in range(N_CURVES):
        curve = curve_of_seeds(KINDS[k % 3], seed=[77, k])
        values, errors = mean_over_seeds(curve.values.T, np.zeros_like(curve.values.T))
        found = getattr(estimators, curve.kind)(curve.temperatures, values, errors, seed=k)
        covered.append(found.lower <= curve.truth <= found.upper)
    assert abs(np.mean(covered) - 0.68) < 3 * np.sqrt(0.68 * 0.32 / N_CURVES)
