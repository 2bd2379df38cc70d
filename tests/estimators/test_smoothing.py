"""Random splines against their definition, and drawn curves against plain linear algebra."""

import numpy as np
import pytest

from oracles.random_splines import features, posterior, slope_features
from thermorbm.errors import InputError
from thermorbm.estimators import smoothing, splines
from thermorbm.exact import kaufman


def smooth_curve(t, values, errors):
    """The curve through the points."""
    drawn = smoothing.draw_curves(smoothing.Points(t, values, errors), seed=0)
    return smoothing.fitted_curve(drawn.temperatures, drawn.values)


def heat_curve(t, values, errors):
    """T dX/dT of it: a heat capacity if X is an entropy."""
    drawn = smoothing.draw_curves(smoothing.Points(t, values, errors), seed=0)
    return smoothing.fitted_curve(drawn.temperatures, drawn.temperatures * drawn.slopes)


def at(temperatures, curve, name="values"):
    return np.interp(temperatures, curve.temperatures, getattr(curve, name))


@pytest.mark.parametrize("q", [2, 3, 4])
def test_covariances_are_those_of_the_definition(q):
    u, x = np.linspace(0.05, 1, 7), np.linspace(0, 0.95, 6)
    kicks = features(q, u)[:, q:], slope_features(q, u)[:, q:], features(q, x)[:, q:]
    np.testing.assert_allclose(splines.covariance(q, u[:, None], x), kicks[0] @ kicks[2].T, atol=2e-4)
    np.testing.assert_allclose(splines.slope_covariance(q, u[:, None], x), kicks[1] @ kicks[2].T, atol=2e-4)


@pytest.mark.parametrize("q", [2, 3, 4])
def test_slopes_are_derivatives(q):
    u, x, step = np.array([0.2, 0.45, 0.9]), np.array([0.1, 0.5, 1.0]), 1e-5
    for value, slope in (
        (lambda u: splines.covariance(q, u[:, None], x), splines.slope_covariance(q, u[:, None], x)),
        (lambda u: splines.polynomials(q, u), splines.polynomial_slopes(q, u)),
    ):
        np.testing.assert_allclose((value(u + step) - value(u - step)) / (2 * step), slope, atol=1e-8)


@pytest.mark.parametrize("q", [3, 4])
def test_random_paths_have_the_covariance(q):
    steps, n = np.array([[0.1, 0.3, 0.05, 0.4], [0.2, 0.2, 0.2, 0.2]]), 20_000
    which = np.arange(n) % 2
    paths = splines.random_paths(q, steps, which, np.random.default_rng(0))
    for k in range(2):
        u = np.concatenate([[0], np.cumsum(steps[k])])
        values, slopes = paths[:, which == k]
        exact = splines.covariance(q, u[:, None], u), splines.slope_covariance(q, u[:, None], u)
        for drawn, expected in ((values, exact[0]), (slopes, exact[1])):
            found = drawn.T @ values / len(values)
            power = np.outer(np.mean(drawn**2, axis=0), np.mean(values**2, axis=0)) + expected**2
            assert (np.abs(found - expected) <= 5 * np.sqrt(power / len(values))).all()


@pytest.mark.parametrize("q", [3, 4])
def test_drawn_curves_have_the_exact_posterior(monkeypatch, q):
    """One unstretched model: mean and spread over draws are those of the mixture over roughness."""
    monkeypatch.setattr(smoothing, "_WIDTHS", ())
    monkeypatch.setattr(smoothing, "_NOISE_FACTORS", np.ones(1))
    monkeypatch.setattr(smoothing, "_NOISE_LOG_PRIOR", np.zeros(1))
    monkeypatch.setattr(smoothing, "_ERROR_FLOOR", 0.0)
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(1, 3, 9))
    u, sigma = (t - t[0]) / np.ptp(t), rng.uniform(0.02, 0.06, 9)
    y = np.sin(4 * u) + sigma * rng.standard_normal(9)
    n = 20_000
    draws = smoothing.draw_curves(smoothing.Points(t, y, sigma), q, n_draws=n, seed=2)
    at = (draws.temperatures - t[0]) / np.ptp(t)
    scale = np.ptp(y)
    ladder = 10 ** np.arange(-1, 3 * q + 0.5, 0.5)
    parts = [posterior(q, u, (y - y.mean()) / scale, sigma / scale, a, at) for a in ladder]
    weight = np.exp(np.array([p[0] for p in parts]) - max(p[0] for p in parts))
    weight /= weight.sum()
    for which, drawn in ((1, draws.values - y.mean()), (2, draws.slopes * np.ptp(t))):
        mean = weight @ [p[which][0] for p in parts]
        second = weight @ [p[which][0] ** 2 + p[which][1] ** 2 for p in parts]
        spread = np.sqrt(second - mean**2)
        error = 5 * spread / np.sqrt(n) + 5e-3 * spread + 1e-4
        assert (np.abs(drawn.mean(axis=0) / scale - mean) < error).all()
        np.testing.assert_allclose(drawn.std(axis=0) / scale, spread, rtol=0.06, atol=1e-4)


def test_curves_pass_through_exact_points_and_have_their_derivative():
    t = np.linspace(1.0, 3.0, 17)
    curve = smooth_curve(t, np.sin(2 * t), np.zeros(17))
    np.testing.assert_allclose(at([1.3, 2.2], curve), np.sin([2.6, 4.4]), atol=2e-3)
    heat = at([1.25, 2.25], heat_curve(t, np.sin(2 * t), np.zeros(17)))
    np.testing.assert_allclose(heat, [2 * 1.25 * np.cos(2.5), 2 * 2.25 * np.cos(4.5)], atol=0.05)


def test_heat_curve_of_kaufmans_entropy_is_kaufmans_heat_capacity():
    t = np.unique(np.r_[np.arange(1.0, 4.01, 0.25), np.arange(2.0, 2.6, 0.05)].round(4))
    error = 1e-4
    noise = error * np.random.default_rng(3).standard_normal(len(t))
    some = np.array([1.6, 2.1, 2.2, 2.3, 2.4, 2.9, 3.5])
    curve = heat_curve(t, kaufman(16, t).entropy + noise, np.full(len(t), error))
    errors = at(some, curve, "errors")
    assert np.abs((at(some, curve) - kaufman(16, some).heat_capacity) / errors).max() < 4
    assert errors.max() < 0.1


def test_a_constant_curve_is_a_curve():
    curve = smooth_curve(np.arange(1.0, 8.0), np.ones(7), np.full(7, 0.1))
    np.testing.assert_allclose(curve.values, 1, atol=0.3)


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
        smooth_curve(*arrays)
