"""Reweighting against pymbar, Kaufman, enumeration; gaps, ends, and what it refuses."""

import numpy as np
import pytest

from oracles.exact_energies import torus_series
from oracles.multihistogram import mbar_averages
from thermorbm.errors import InputError
from thermorbm.estimators import (
    GroundStates,
    KnownEntropy,
    Measurements,
    Reweighting,
    histograms,
    integration_grid,
    reweighted_peak,
)
from thermorbm.exact import heat_capacity_peak, kaufman
from thermorbm.lattice import Lattice


def test_it_is_mbar():
    """All averages at all temperatures are pymbar's, to the precision of the solvers."""
    rng = np.random.default_rng(1)
    series = torus_series(8, [1.8, 2.1, 2.5, 3.2], 300, rng)
    series = [Measurements(s.temperature, s.energies, rng.normal(size=300) * s.energies) for s in series]
    at = np.array([1.8, 2.0, 2.3, 3.0, 3.2])
    log_z, energy, m1, m2, m4 = mbar_averages(series, at)
    found = Reweighting(series, 64, known=KnownEntropy(1.8, 0.0), n_draws=2).curves(at)
    np.testing.assert_allclose(found.energy.values, energy / 64, rtol=1e-7)
    np.testing.assert_allclose(found.abs_magnetization.values, m1, rtol=1e-7)
    np.testing.assert_allclose(found.susceptibility.values, 64 * (m2 - m1**2) / at, rtol=1e-7)
    np.testing.assert_allclose(found.binder.values, 1 - m4 / (3 * m2**2), rtol=1e-7)
    free = -found.free_energy.values / at * 64
    np.testing.assert_allclose(free - free[0], log_z - log_z[0], atol=1e-6)


def test_kaufman_from_the_cold_end_and_from_random_spins():
    rng = np.random.default_rng(2)
    temperatures = np.r_[np.arange(1.2, 4, 0.2), 5, 7, 10, 20, 60]
    series = torus_series(16, temperatures, 4000, rng)
    random = Lattice((16, 16)).energy(rng.choice([-1, 1], size=(4000, 256)))
    at = np.arange(1.2, 4.01, 0.1)
    exact = kaufman(16, at)
    cold = Reweighting(series, 256, ground=GroundStates(-512, 2)).curves(at)
    hot = Reweighting([*series, Measurements(np.inf, random, np.ones(4000))], 256).curves(at)
    for curves in (cold, hot):
        assert curves.notes == ()
        for name in ("energy", "heat_capacity", "entropy", "free_energy"):
            found = getattr(curves, name)
            score = (found.values - getattr(exact, name)) / found.errors
            assert np.abs(score).max() < 4
            assert np.sqrt(np.mean(score**2)) < 2  # neighbouring temperatures share their noise
    assert np.abs(cold.entropy.values - exact.entropy).max() < 0.002


def test_entropy_at_the_papers_temperatures_from_a_series_that_bridges_them():
    """64 x 64, from the two ground states at T = 0.25 up to T = 4: within 0.0005 of Kaufman, per spin."""
    paper = np.arange(0.25, 4.01, 0.25)
    bridges = integration_grid(1.05, 3.95, 2.29, 44, 0.08)
    series = torus_series(64, [*paper, *bridges], 8000, np.random.default_rng(13))
    curves = Reweighting(series, 4096, ground=GroundStates(-8192, 2), n_draws=50).curves(paper)
    assert curves.notes == ()
    distance = curves.entropy.values - kaufman(64, paper).entropy
    assert np.abs(distance).max() < 0.0005
    assert np.abs(distance / np.maximum(curves.entropy.errors, 1e-9)).max() < 4


def test_a_given_entropy_fixes_the_constant():
    series = torus_series(16, np.arange(2, 2.61, 0.1), 3000, np.random.default_rng(3))
    at = np.array([2.1, 2.5])
    curves = Reweighting(series, 256, known=KnownEntropy(2.0, float(kaufman(16, 2.0).entropy))).curves(at)
    assert np.abs((curves.entropy.values - kaufman(16, at).entropy) / curves.entropy.errors).max() < 4


def trial(n_trials, seed):
    """Errors of the c_V peak of 16 x 16 from 8 x 2000 samples, in T and in standard errors."""
    truth = heat_capacity_peak(16)
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_trials):
        series = torus_series(16, np.linspace(2.1, 2.6, 8), 2000, rng)
        point = reweighted_peak(Reweighting(series, 256, n_draws=100), "heat_capacity")
        found.append((point.value - truth, point.temperature.z_score(truth)))
    return np.array(found).T


def test_the_heat_capacity_peak_of_few_samples_and_its_error():
    distance, score = trial(60, seed=4)
    assert np.sqrt(np.mean(distance**2)) <= 0.005
    assert abs(distance.mean()) <= 0.001 + 4 * distance.std() / np.sqrt(60)
    assert 0.8 - 3 / np.sqrt(120) <= np.sqrt(np.mean(score**2)) <= 1.2 + 3 / np.sqrt(120)


@pytest.mark.slow
def test_the_heat_capacity_peak_in_a_thousand_trials():
    distance, score = trial(1000, seed=5)
    assert np.sqrt(np.mean(distance**2)) <= 0.005
    assert abs(distance.mean()) <= 0.001
    assert 0.8 <= np.sqrt(np.mean(score**2)) <= 1.2


def test_temperatures_that_do_not_overlap_leave_a_gap_and_a_sentence():
    series = torus_series(64, [1.9, 1.95, 2.0, 2.25, 2.26, 2.27], 1000, np.random.default_rng(6))
    reweighting = Reweighting(series, 4096, n_draws=20)
    assert reweighting.gaps == [(2.0, 2.25)]
    curves = reweighting.curves([1.92, 2.0, 2.1, 2.25, 2.262])
    np.testing.assert_array_equal(np.isnan(curves.energy.values), [False, False, True, False, False])
    np.testing.assert_array_equal(np.isnan(curves.energy.errors), [False, False, True, False, False])
    assert "T = 2 and 2.25 have too few energies in common" in curves.notes[0]
    assert "entropy and free energy need a known end" in curves.notes[1]


def test_a_peak_at_a_gap_is_told_as_an_interval():
    """The paper's temperatures on 64 x 64: nothing overlaps, and the smooth curve must do."""
    temperatures = np.arange(1.0, 4.01, 0.25)
    series = torus_series(64, temperatures, 1000, np.random.default_rng(7))
    point = reweighted_peak(Reweighting(series, 4096, n_draws=50), "heat_capacity")
    assert point.lower_95 < 2.2817 < point.upper_95
    assert point.error > 0.01


def test_energies_that_are_no_whole_numbers():
    """More energies than cells: the answer stays, as far as its error is concerned."""
    rng = np.random.default_rng(8)
    series = torus_series(16, np.linspace(2.0, 2.8, 7), 3000, rng)
    shaken = [
        Measurements(s.temperature, s.energies + rng.normal(size=3000) * 1e-4, s.magnetizations)
        for s in series
    ]
    assert len(histograms(shaken).energies) <= 8192 < len(np.unique([s.energies for s in shaken]))
    at = np.linspace(2.0, 2.8, 20)
    plain, cells = (Reweighting(s, 256, n_draws=20).curves(at) for s in (series, shaken))
    for name in ("energy", "heat_capacity"):
        difference = getattr(plain, name).values - getattr(cells, name).values
        assert np.abs(difference / getattr(plain, name).errors).max() < 0.02


def test_correlated_magnetisations_keep_their_error():
    """<|m|> of one temperature, reweighted to itself, has the plain error of a mean."""
    rng = np.random.default_rng(9)
    series = torus_series(16, [2.0, 2.3, 2.6], 20_000, rng)
    series = [Measurements(s.temperature, s.energies, rng.normal(size=20_000)) for s in series]
    curves = Reweighting(series, 256, n_draws=400).curves([2.3])
    everything = np.abs(np.concatenate([s.magnetizations for s in series]))
    least = everything.std() / np.sqrt(len(everything))  # if all samples counted alike
    assert 0.8 * least < curves.abs_magnetization.errors[0] < 1.2 * np.sqrt(3) * least


def test_same_seed_same_bits():
    series = torus_series(8, [2.0, 2.2], 200, np.random.default_rng(10))
    first, second = (Reweighting(series, 64, seed=3).curves([2.1]).energy.errors for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("temperatures", "message"), [([2.0], "two or more temperatures"), ([2.0, 2.0], "different ones")]
)
def test_series_that_cannot_be_reweighted(temperatures, message):
    series = torus_series(8, temperatures, 100, np.random.default_rng(11))
    with pytest.raises(InputError, match=message):
        Reweighting(series, 64)


def test_ground_states_alone():
    series = [Measurements(t, np.full(50, -128.0), np.ones(50)) for t in (0.2, 0.3)]
    with pytest.raises(
        InputError, match="energies must be ones that vary, got 'one energy alone'; sample higher"
    ):
        Reweighting(series, 64)


def test_temperatures_outside_and_unknown_quantities():
    series = torus_series(8, [2.0, 2.5], 100, np.random.default_rng(12))
    reweighting = Reweighting(series, 64)
    with pytest.raises(InputError, match=r"temperature must be between 2 and 2.5, the sampled ones, got 3.0"):
        reweighting.curves([2.2, 3.0])
    with pytest.raises(InputError, match="did you mean 'susceptibility'"):
        reweighted_peak(reweighting, "suceptibility")
    with pytest.raises(InputError, match="two arrays"):
        Measurements(2.0, [1.0, 2.0], [1.0])
