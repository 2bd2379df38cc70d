"""Critical temperatures: coverage on synthetic curves, exact curves of the torus, ends of the grid."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from oracles.synthetic_curves import KINDS, PAPER, synthetic_curve
from thermorbm import estimators
from thermorbm.estimators.critical import WIDENING, Spread
from thermorbm.exact import heat_capacity_peak, kaufman

N_CURVES = 300
FINE = np.unique(np.r_[PAPER, np.arange(2.1, 2.46, 0.05)].round(4))


def test_the_68_percent_interval_covers_the_truth_as_often_as_it_should():
    """Over curves of all kinds together, and within three standard errors for each kind alone."""
    curves = [synthetic_curve(KINDS[k % 3], seed=[2024, k]) for k in range(N_CURVES)]
    found = [
        getattr(estimators, curve.kind)(curve.temperatures, curve.values, curve.errors, seed=k)
        for k, curve in enumerate(curves)
    ]
    kind, truth = np.array([curve.kind for curve in curves]), np.array([curve.truth for curve in curves])
    value, error, lower, upper, at_edge = np.array(
        [(p.temperature.value, p.temperature.error, p.lower, p.upper, p.at_edge) for p in found]
    ).T
    covered, distance = (lower <= truth) & (truth <= upper), np.abs(value - truth)
    assert 0.60 <= covered.mean() <= 0.76
    assert 0.60 <= np.mean(distance <= error) <= 0.76
    chance = 3 * np.sqrt(0.68 * 0.32 / (N_CURVES / 3))
    for each in KINDS:
        assert 0.60 - chance <= covered[kind == each].mean() <= 0.76 + chance
    assert np.mean(distance < 2 * error) > 0.85
    assert np.mean(distance < 0.02 * truth) > 0.85
    assert at_edge.mean() < 0.05


@pytest.mark.parametrize("side", [16, 32, 64])
@pytest.mark.parametrize("noise", [1e-4, 1e-3])
def test_kaufmans_peak_from_noisy_entropy_energy_and_heat_capacity(side, noise):
    exact = kaufman(side, FINE)
    target = heat_capacity_peak(side)
    rng = np.random.default_rng(side)
    for finder, curve in (
        (estimators.heat_peak, exact.entropy),
        (estimators.steepest, exact.energy),
        (estimators.peak, exact.heat_capacity),
    ):
        errors = np.full(len(FINE), noise * np.ptp(curve))
        found = finder(FINE, curve + errors * rng.standard_normal(len(FINE)), errors)
        assert abs(found.temperature.value / target - 1) < 0.006
        assert abs(found.temperature.value - target) < 4 * found.temperature.error + 0.005
        assert not found.at_edge


def test_a_maximum_at_the_end_is_flagged():
    t = np.arange(1.0, 4.01, 0.25)
    for values in (t**2, 10 - t**2):
        found = estimators.peak(t, values, np.full(len(t), 0.05))
        assert found.at_edge
        assert found.temperature.value in (t[0], t[-1])
    assert estimators.heat_peak(t, t**3, np.full(len(t), 0.05)).at_edge
    assert estimators.steepest(t, -np.exp(t), np.full(len(t), 0.05)).at_edge


def test_the_paper_grid_does_not_resolve_a_sharp_peak():
    values = 1 / (1 + ((PAPER - 2.3) / 0.05) ** 2)
    found = estimators.peak(PAPER, values, np.full(len(PAPER), 0.01))
    assert not found.resolved
    assert found.temperature.error > 0.01
    wide = 1 / (1 + ((PAPER - 2.3) / 0.6) ** 2)
    assert estimators.peak(PAPER, wide, np.full(len(PAPER), 0.01)).resolved


@pytest.mark.parametrize("height", [420, 1000])
def test_a_lone_point_far_above_the_rest_holds_the_peak_between_its_neighbours(height):
    """It is no noise: its peak lies nearer to it than to them, and is too narrow for these points."""
    grid = np.r_[PAPER[PAPER <= 2.25], PAPER[PAPER > 2.25] + 0.25]
    plateau = 70 / (1 + np.exp((grid - 1.6) / 0.1)) + 0.5
    values = np.where(grid == 2.25, height, plateau)
    found = estimators.peak(grid, values, np.maximum(0.05 * values, 0.3))
    assert found.determined
    assert not found.resolved
    assert 2.0 < found.lower_95 < found.lower < 2.25 < found.upper < found.upper_95 < 2.75
    assert found.error > 0.02


def test_scatter_far_beyond_its_errors_is_no_lone_peak():
    rng = np.random.default_rng(8)
    t = np.arange(1.0, 4.01, 0.25)
    for _ in range(20):
        values = 10 - t**2 + 0.5 * rng.standard_normal(len(t))
        assert estimators.peak(t, values, np.full(len(t), 0.01)).temperature.value < 2


def test_scale_and_offset_of_the_curve_do_not_matter():
    rng = np.random.default_rng(5)
    values = np.exp(-(((FINE - 2.3) / 0.3) ** 2)) + 0.01 * rng.standard_normal(len(FINE))
    errors = np.full(len(FINE), 0.01)
    plain = estimators.peak(FINE, values, errors)
    scaled = estimators.peak(FINE, 1e6 * values - 3e5, 1e6 * errors)
    assert scaled.temperature.value == pytest.approx(plain.temperature.value, rel=1e-6)
    assert scaled.temperature.error == pytest.approx(plain.temperature.error, rel=1e-3)


def test_steepest_follows_the_direction_of_the_curve():
    t = np.arange(1.0, 4.01, 0.1)
    step = np.tanh((t - 2.5) / 0.2)
    up = estimators.steepest(t, step, np.full(len(t), 0.01))
    down = estimators.steepest(t, -step, np.full(len(t), 0.01))
    for found in (up, down):
        assert abs(found.temperature.z_score(2.5)) < 3
        assert found.indicator.values.max() == pytest.approx(5, rel=0.1)
        np.testing.assert_allclose(np.interp(2.5, found.fit.temperatures, found.fit.values), 0, atol=0.05)


def test_scatter_beyond_the_quoted_errors_widens_the_interval():
    rng = np.random.default_rng(6)
    values = np.exp(-(((FINE - 2.3) / 0.4) ** 2)) + 0.05 * rng.standard_normal(len(FINE))
    honest = estimators.peak(FINE, values, np.full(len(FINE), 0.05))
    boastful = estimators.peak(FINE, values, np.full(len(FINE), 0.002))
    assert boastful.temperature.error > 0.3 * honest.temperature.error


def test_same_seed_same_answer():
    curve = synthetic_curve("peak", 1)
    arrays = (curve.temperatures, curve.values, curve.errors)
    assert estimators.peak(*arrays, seed=3).temperature == estimators.peak(*arrays, seed=3).temperature


def test_two_peaks_are_told():
    """T dL~/dT of a machine of `desk` had two, with a dip to 0.8 of their height between them."""
    t = np.arange(1.5, 3.01, 0.05)
    for width, height, dip in ((0.12, 1.1, 0.13), (0.2, 1.1, 0.76), (0.21, 1.0, 0.8)):
        two = np.exp(-(((t - 2.1) / width) ** 2)) + height * np.exp(-(((t - 2.5) / width) ** 2))
        assert two[t.searchsorted(2.299)] == pytest.approx(dip, abs=0.02)
        point = estimators.peak(t, two, np.full(len(t), 0.01))
        assert "another at 2." in point.note
    noisy = estimators.peak(t, two, np.full(len(t), 0.2))
    assert noisy.note == ""  # the dip is no larger than the errors
    one = np.exp(-(((t - 2.3) / 0.2) ** 2))
    assert estimators.peak(t, one, np.full(len(t), 0.01)).note == ""


def test_what_determines_nothing_says_so():
    rng = np.random.default_rng(9)
    t = np.arange(1.0, 4.01, 0.25)
    noise = 0.05 * rng.standard_normal(len(t))
    flat = estimators.peak(t, 1 + 0.01 * np.sin(t) + noise, np.full(len(t), 0.05))
    assert not flat.determined
    assert str(flat) == "not determined"
    assert flat.note
    edge = estimators.peak(t, t**2, np.full(len(t), 0.05))
    assert str(edge) == "not determined"


def test_an_unresolved_peak_is_printed_as_an_interval():
    values = 1 / (1 + ((PAPER - 2.3) / 0.05) ** 2)
    point = estimators.peak(PAPER, values, np.full(len(PAPER), 0.01))
    assert point.lower_95 <= point.lower <= point.value <= point.upper <= point.upper_95
    assert str(point) == f"{point.lower_95:.4g}-{point.upper_95:.4g}"


@pytest.mark.parametrize("side", [16, 64])
def test_intervals_hold_on_kaufmans_curves(side):
    """A small part of `benchmarks.coverage`: c_V on the fine grid, moved at random; errors of 0.6 to 5 %."""
    dense = np.linspace(1.9, 2.7, 801)
    curve = CubicSpline(dense, kaufman(side, dense).heat_capacity)
    target = dense[np.argmax(curve(dense))]
    rng = np.random.default_rng(side)
    n, inside, inside_95 = 40, 0, 0
    for k in range(n):
        t = np.linspace(2.04, 2.5, 11) + 0.046 * (rng.random() - 0.5)
        errors = 10 ** rng.uniform(-2.2, -1.3) * curve(t)
        point = estimators.peak(t, curve(t) + errors * rng.standard_normal(11), errors, seed=k)
        inside += point.lower <= target <= point.upper
        inside_95 += point.lower_95 <= target <= point.upper_95
    assert 0.60 - 3 * np.sqrt(0.68 * 0.32 / n) <= inside / n
    assert 0.90 - 3 * np.sqrt(0.95 * 0.05 / n) <= inside_95 / n


def test_the_calibration_is_what_the_documentation_says():
    page = Path(__file__).parents[2] / "docs" / "curves.md"
    number = r" ([\d.]+) \|"
    row = r"^\| (X|dX/dT) \| (\d)[^|]*\|[^|]+\|[^|]+\|" + 3 * number + "$"
    rows = re.findall(row, page.read_text(encoding="utf-8"), re.MULTILINE)
    stated = {(of == "dX/dT", max(int(n), 1)): tuple(map(float, rest)) for of, n, *rest in rows}
    assert stated == WIDENING


def test_an_interval_is_the_spread_and_a_share_of_the_spacing_times_a_factor():
    found = Spread(2.3, np.array([[2.27, 2.34], [2.2, 2.4]]), 0.1, (False, 2), 0.0)
    assert found.interval(0, 0.4, 1.0) == pytest.approx((2.3 - 0.05, 2.3 + np.hypot(0.04, 0.04)))
    assert found.interval(1, 0.0, 0.7) == pytest.approx((2.3 - 0.07, 2.3 + 0.07))
    assert found.interval(1, 0.4, 1.0)[1] == pytest.approx(2.3 + np.hypot(0.1, 1.96 * 0.04))


@pytest.mark.parametrize("seed", range(4))
def test_no_peak_is_made_up_in_a_wide_gap_between_points(seed):
    """S of 32x32 with errors of a machine, on a grid that is fine around the peak and coarse elsewhere."""
    T = np.array([2.0, 2.2, 2.25, 2.3, 2.35, 2.4, 2.5, 3.0, 4.0])
    errors = np.array([0.6, 0.8, 0.9, 1.0, 0.9, 0.9, 0.7, 0.5, 0.3]) * 1e-3
    S = kaufman(32, T).entropy + errors * np.random.default_rng(seed).standard_normal(len(T))
    found = estimators.heat_peak(T, S, errors, seed=seed)
    assert found.determined
    assert 2.2 < found.lower_95 < found.upper_95 < 2.4
    assert abs(found.temperature.value - heat_capacity_peak(32)) < 4 * found.error


@pytest.mark.parametrize(("finder", "curve"), [("peak", "heat_capacity"), ("heat_peak", "entropy")])
def test_intervals_hold_on_an_uneven_grid(finder, curve):
    """A small part of `benchmarks.coverage`: 32x32 on a grid of `desk`, moved at random."""
    dense = np.linspace(1.9, 4.2, 1151)
    spline = CubicSpline(dense, getattr(kaufman(32, dense), curve))
    own = np.array([2.0, 2.2, 2.25, 2.3, 2.35, 2.4, 2.5, 3.0, 4.0])
    target, rng = heat_capacity_peak(32), np.random.default_rng(32)
    n, inside, inside_95 = 40, 0, 0
    for k in range(n):
        t = own + 0.05 * (rng.random() - 0.5)
        exact = spline(t)
        errors = 0.01 * exact if finder == "peak" else np.full(len(t), 0.001 * np.ptp(exact))
        values = exact + errors * rng.standard_normal(len(t))
        point = getattr(estimators, finder)(t, values, errors, seed=k)
        inside += point.lower <= target <= point.upper
        inside_95 += point.lower_95 <= target <= point.upper_95
    assert 0.60 - 3 * np.sqrt(0.68 * 0.32 / n) <= inside / n
    assert 0.90 - 3 * np.sqrt(0.95 * 0.05 / n) <= inside_95 / n


def test_wings_far_from_the_peak_do_not_move_it():
    """A step in the far wing of a long grid, which the formula cannot follow, leaves T_c and its error."""
    t = np.linspace(1.3, 3.3, 41)
    rng = np.random.default_rng(12)
    values = 1 / (1 + ((t - 2.3) / 0.15) ** 2) + 0.003 * rng.standard_normal(len(t))
    errors = np.full(len(t), 0.003)
    plain = estimators.peak(t, values, errors)
    stepped = estimators.peak(t, values + 0.3 * (t < 1.8), errors)
    assert abs(plain.value - 2.3) < 3 * plain.error
    assert stepped.temperature == plain.temperature
    assert stepped.fit.temperatures[[0, -1]] == pytest.approx(t[[0, -1]])  # curves are drawn over all points
