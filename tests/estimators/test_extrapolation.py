"""The infinite lattice from three finite ones: exact peaks, random ones with corrections, refusals."""

import numpy as np
import pytest

from thermorbm.errors import InputError
from thermorbm.estimators import extrapolate
from thermorbm.exact import TC_2D, heat_capacity_peak

SIDES = np.array([16, 32, 64])


def test_a_line_is_found():
    found = extrapolate(SIDES, 2.0 + 0.8 / SIDES, [1e-4] * 3, nu=1.0)
    assert found.temperature.value == pytest.approx(2.0, abs=1e-9)
    assert found.slope.value == pytest.approx(0.8, abs=1e-7)
    assert found.chi_squared < 1e-12
    assert found.n_degrees == 1
    assert found.at([32, np.inf], nu=1.0) == pytest.approx([2.025, 2.0])


def test_another_exponent():
    found = extrapolate([8, 16], 4.5 + 1.5 * np.array([8.0, 16.0]) ** (-1 / 0.63), [1e-3] * 2, nu=0.63)
    assert found.temperature.value == pytest.approx(4.5, abs=1e-6)
    assert found.n_degrees == 0


def test_exact_peaks_of_the_heat_capacity_end_at_tc_within_the_error():
    peaks = [heat_capacity_peak(int(L)) for L in SIDES]
    found = extrapolate(SIDES, peaks, [0.0] * len(peaks), nu=1.0).temperature
    assert abs(found.value / TC_2D - 1) < 1e-3
    assert abs(found.value - TC_2D) < 2 * found.error


def test_the_error_covers_the_truth_with_noise_and_corrections():
    """Corrections of the size that is assumed, or none; noise of any size."""
    rng, n = np.random.default_rng(9), 1000
    scores = np.empty(n)
    for k in range(n):
        a, noise = rng.uniform(0.3, 2) * rng.choice([-1, 1]), 10 ** rng.uniform(-4.5, -2, 3)
        c = a * rng.standard_normal()
        peaks = 2.3 + a / SIDES + c / SIDES**2 + noise * rng.standard_normal(3)
        found = extrapolate(SIDES, peaks, noise, nu=1.0).temperature
        scores[k] = (found.value - 2.3) / found.error
    assert abs(np.mean(np.abs(scores) < 1) - 0.683) < 3 * np.sqrt(0.683 * 0.317 / n)
    assert np.mean(np.abs(scores) < 2) > 0.93


def test_points_off_the_line_show_in_chi_squared():
    found = extrapolate([8, 16, 32, 64], [2.4, 2.3, 2.4, 2.3], [1e-3] * 4, nu=1.0)
    assert found.n_degrees == 2
    assert found.chi_squared > 100


@pytest.mark.parametrize(
    ("sides", "peaks", "errors", "nu", "name"),
    [
        ([16], [2.3], [0.1], 1.0, "sides"),
        ([16, 16], [2.3, 2.3], [0.1, 0.1], 1.0, "sides"),
        ([1, 16], [2.3, 2.3], [0.1, 0.1], 1.0, "sides"),
        ([8, 16], [2.3, np.nan], [0.1, 0.1], 1.0, "peaks"),
        ([8, 16], [2.3], [0.1], 1.0, "peaks"),
        ([8, 16], [2.3, 2.3], [0.1, -0.1], 1.0, "peaks"),
        ([8, 16], [2.3, 2.3], [0.1, 0.1], 0.0, "nu"),
    ],
)
def test_refusals(sides, peaks, errors, nu, name):
    with pytest.raises(InputError, match=f"^{name}"):
        extrapolate(sides, peaks, errors, nu)
