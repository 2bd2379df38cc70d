"""Histograms and moments of numbers whose distribution is known."""

import numpy as np
import pytest

from thermorbm.errors import InputError
from thermorbm.observables import common_edges, distribution

N = 40_000


def test_moments_of_a_gaussian():
    x = np.random.default_rng(0).normal(2.0, 3.0, N)
    found = distribution(x)
    assert found.mean == pytest.approx(2, abs=4 * 3 / np.sqrt(N))
    assert found.variance == pytest.approx(9, rel=4 * np.sqrt(2 / N))
    assert found.skewness == pytest.approx(0, abs=4 * np.sqrt(6 / N))
    assert found.excess_kurtosis == pytest.approx(0, abs=4 * np.sqrt(24 / N))
    assert found.bimodality == pytest.approx(1 / 3, abs=0.03)


def test_density_integrates_to_one_and_follows_the_law():
    found = distribution(np.random.default_rng(1).normal(size=N), n_bins=40)
    assert np.sum(found.density * np.diff(found.edges)) == pytest.approx(1)
    middle = (found.edges[1:] + found.edges[:-1]) / 2
    law = np.exp(-(middle**2) / 2) / np.sqrt(2 * np.pi)
    width = found.edges[1] - found.edges[0]
    tolerance = 5 * np.sqrt(law / (N * width)) + width**2 / 6 + 5 / (N * width)  # counting, then bin width
    assert (np.abs(found.density - law) < tolerance).all()


def test_two_peaks_have_bimodality_one():
    found = distribution(np.repeat([-1.0, 1.0], 500))
    assert found.bimodality == pytest.approx(1)
    assert found.excess_kurtosis == pytest.approx(-2)
    flat = distribution(np.linspace(-1, 1, 10_001))
    assert flat.bimodality == pytest.approx(5 / 9, abs=1e-3)


def test_common_edges_hold_everything():
    edges = common_edges([[0.5, 2.0], [-1.0, 0.0]], n_bins=4)
    np.testing.assert_allclose(edges, [-2, -1, 0, 1, 2])
    np.testing.assert_allclose(common_edges([[1.0, 3.0]], n_bins=2), [1, 2, 3])


def test_values_outside_the_edges_are_missing_from_the_density():
    found = distribution([0.1, 0.2, 0.3, 5.0], edges=[0.0, 1.0])
    assert found.density[0] == pytest.approx(0.75)
    assert found.n_values == 4


def test_constant_values():
    found = distribution(np.full((3, 4), 0.25))
    assert (found.mean, found.variance, found.skewness, found.excess_kurtosis) == (0.25, 0, 0, 0)


@pytest.mark.parametrize("values", [[], [1.0, np.nan], [np.inf]])
def test_nothing_to_count(values):
    with pytest.raises(InputError, match="one or more finite numbers"):
        distribution(values)
