"""Curves with one peak against plain linear algebra, the population against known posteriors, bad points."""

import numpy as np
import pytest

from oracles.peak_curves import posterior
from thermorbm.errors import InputError
from thermorbm.estimators import heat_peak, peak, peak_family
from thermorbm.estimators.population import log_sum, sample_posterior
from thermorbm.exact import kaufman

V = np.array([-0.5, -0.37, -0.2, -0.08, 0.0, 0.11, 0.19, 0.34, 0.5])
SHAPES = np.array([[0.1, 0.4, 0.5, -0.3], [-0.2, -0.8, -1.1, 0.9], [0.0, 1.0, 0.0, 0.0]])


def points():
    rng = np.random.default_rng(1)
    errors = rng.uniform(0.02, 0.06, len(V))
    return V, 1 / (1 + (V / 0.15) ** 2) + errors * rng.standard_normal(len(V)), errors


def option(family, column):
    """Length, size and noise of one column of the likelihoods."""
    length, rest = divmod(column, len(peak_family._SIZES))
    return (
        peak_family._LENGTHS[length] / (len(V) - 1),
        peak_family._SIZES[rest] * family._height,
        peak_family._NOISES[rest],
    )


@pytest.mark.parametrize("of_slope", [False, True])
def test_likelihoods_are_those_of_plain_linear_algebra(of_slope):
    """Up to what is the same for all shapes and options."""
    v, y, errors = points()
    family = peak_family.PeakFamily(v, y, errors, of_slope)
    found, columns = family.log_likelihoods(SHAPES), [0, 8, 29, 30, 47, 59]
    off = []
    for row, z in enumerate(SHAPES):
        for column in columns:
            length, size, noise = option(family, column)
            exact = posterior(z, v, y, errors, of_slope, length, size, noise, v)[0]
            off.append(found[row, column] + np.log(noise**2 * size) - exact)
    np.testing.assert_allclose(off, off[0], atol=2e-3)


@pytest.mark.parametrize("of_slope", [False, True])
def test_drawn_curves_have_the_exact_posterior(of_slope):
    v, y, errors = points()
    family, n = peak_family.PeakFamily(v, y, errors, of_slope), 20_000
    for z, column in zip(SHAPES, (8, 44, 15), strict=True):
        chosen = np.full(n, column)
        at, values, _ = family.draw(np.tile(z, (n, 1)), chosen, np.random.default_rng(2))
        _, mean, spread = posterior(z, v, y, errors, of_slope, *option(family, column), at)
        assert (np.abs(values.mean(axis=0) - mean) < 5 * spread / np.sqrt(n) + 1e-3).all()
        np.testing.assert_allclose(values.std(axis=0), spread, rtol=0.04, atol=1e-3)


def test_the_curve_that_peaks_is_the_slope():
    v, y, errors = points()
    family = peak_family.PeakFamily(v, np.cumsum(y), errors, True)
    at, values, slopes = family.draw(SHAPES[2:], np.array([15]), np.random.default_rng(3))
    middle = (slopes[0, 1:] + slopes[0, :-1]) / 2
    np.testing.assert_allclose(np.diff(values[0]) / np.diff(at), middle, atol=0.02 * np.ptp(slopes))


def test_a_population_finds_a_ridge_and_two_maxima():
    """Moments within four errors of a population of 200, whose effective number is no less than 50."""

    def ridge(z):
        return -0.5 * ((z[:, 0] - z[:, 1] - 1) / 0.02) ** 2

    def two(z):
        parts = [-0.5 * np.sum((z - centre) ** 2, axis=1) / 0.05**2 for centre in (-1.0, 1.0)]
        return log_sum(np.array(parts).T)

    found = sample_posterior(ridge, 4, np.random.default_rng(4))
    error = 4 / np.sqrt(50)
    difference, total = found[:, 0] - found[:, 1], found[:, 0] + found[:, 1]
    assert abs(difference.mean() - 1) < 0.02 * error
    assert abs(total.mean()) < np.sqrt(2) * error
    assert total.std() == pytest.approx(np.sqrt(2), rel=error / np.sqrt(2))
    places = sample_posterior(two, 1, np.random.default_rng(5))[:, 0]
    assert 0.5 - error / 2 < np.mean(places > 0) < 0.5 + error / 2
    assert np.abs(np.abs(places) - 1).mean() == pytest.approx(0.05 * np.sqrt(2 / np.pi), rel=error)


def test_the_slope_of_kaufmans_entropy_is_kaufmans_heat_capacity():
    t = np.unique(np.r_[np.arange(1.0, 4.01, 0.25), np.arange(2.0, 2.6, 0.05)].round(4))
    error = 1e-4
    noise = error * np.random.default_rng(3).standard_normal(len(t))
    curve = heat_peak(t, kaufman(16, t).entropy + noise, np.full(len(t), error)).indicator
    at = np.array([1.6, 2.1, 2.2, 2.3, 2.4, 2.9, 3.5])
    values, errors = (np.interp(at, curve.temperatures, each) for each in (curve.values, curve.errors))
    assert np.abs((values - kaufman(16, at).heat_capacity) / errors).max() < 4
    assert errors.max() < 0.1


def test_a_constant_curve_is_a_curve():
    found = peak(np.arange(1.0, 8.0), np.ones(7), np.full(7, 0.1))
    np.testing.assert_allclose(found.fit.values, 1, atol=0.3)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([1, 2, 3, 4, 5], [1] * 5, [1] * 5), "at least 6, for a curve through points, got 5"),
        (([1, 2, 3, 4, 5, 6], [1] * 5, [1] * 6), "arrays must be equal"),
        (([1, 2, 3, 4, 5, 5], [1] * 6, [1] * 6), "ascending, none twice"),
        (([1, 2, 3, 4, 5, 6], [1] * 6, [-1] * 6), "errors must be numbers >= 0"),
        (([1, 2, 3, 4, 5, 6], [np.nan] * 6, [1] * 6), "values must be finite numbers"),
    ],
)
def test_bad_points(arrays, message):
    with pytest.raises(InputError, match=message):
        peak(*arrays)
