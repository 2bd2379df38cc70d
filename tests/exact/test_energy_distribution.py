import math
import time

import numpy as np
import pytest

from oracles.transfer_matrix import density_of_states, ring_of_rows_energy
from thermorbm.errors import InputError
from thermorbm.exact import (
    LARGEST_SIDE,
    TC_2D,
    energy_distribution,
    enumerated_energy_distribution,
    kaufman,
    ring_energy_distribution,
)
from thermorbm.lattice import Lattice

TEMPERATURES = (0.1, 0.5, 1.0, TC_2D, 4.0, 100.0)


def from_counts(counts, temperature):
    weights = counts * np.exp(-4 * np.arange(len(counts)) / temperature)
    return weights / weights.sum()


@pytest.mark.parametrize("side", [2, 3, 5, 16, 31, 64, 128])
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_is_a_distribution_with_the_moments_of_kaufman(side, temperature):
    found, n_sites = energy_distribution(side, temperature), side**2
    thermodynamics = kaufman(side, temperature)
    np.testing.assert_array_equal(found.energies, np.arange(-2 * n_sites, 2 * n_sites + 1, 4))
    assert found.energies.dtype == np.int64
    assert found.probabilities.min() >= 0
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-14)
    assert found.mean / n_sites == pytest.approx(thermodynamics.energy, rel=1e-12, abs=1e-14)
    variance = thermodynamics.heat_capacity * n_sites * temperature**2
    assert found.variance == pytest.approx(variance, rel=1e-10)


@pytest.mark.parametrize("side", [2, 3, 4, 5, 6])
def test_agrees_with_counting_row_by_row(side):
    counts = density_of_states(side)
    assert counts.sum() == 2 ** (side * side)
    for temperature in TEMPERATURES:
        exact, found = from_counts(counts, temperature), energy_distribution(side, temperature).probabilities
        # What is not a few 1e-15 of the largest is accurate, and no impossible energy appears.
        np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-14)
        assert not found[counts == 0].any()


@pytest.mark.parametrize("side", [2, 3, 4])
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_agrees_with_enumeration(side, temperature):
    counted = enumerated_energy_distribution(Lattice((side, side)), temperature)
    found = energy_distribution(side, temperature)
    np.testing.assert_array_equal(found.energies, counted.energies)
    np.testing.assert_allclose(found.probabilities, counted.probabilities, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 10), (3, 5), (3, 6), (4, 5)])
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_rectangles_agree_with_enumeration(shape, temperature):
    counted = enumerated_energy_distribution(Lattice(shape), temperature)
    found = energy_distribution(shape, temperature)
    np.testing.assert_array_equal(found.energies, counted.energies)
    np.testing.assert_allclose(found.probabilities, counted.probabilities, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n_sites", [2, 3, 7, 20])
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_rings_agree_with_enumeration(n_sites, temperature):
    counted = enumerated_energy_distribution(Lattice((n_sites,)), temperature)
    found = ring_energy_distribution(n_sites, temperature)
    np.testing.assert_array_equal(found.energies, counted.energies)
    np.testing.assert_allclose(found.probabilities, counted.probabilities, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.3, 5.0, 50.0])
@pytest.mark.parametrize("shape", [(2, 40_000), (3, 1000), (8, 8000)])
def test_long_tori_are_stable(shape, temperature):
    """Energy per spin against that of a ring of rows, by the largest eigenvalues of its transfer matrix."""
    found = energy_distribution(shape, temperature)
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-13)
    wanted = ring_of_rows_energy(*shape, temperature)
    assert found.mean / math.prod(shape) == pytest.approx(wanted, rel=1e-10)


def test_counts_of_beale_on_32_x_32():
    # Beale, Phys. Rev. Lett. 76, 78 (1996)
    probabilities = energy_distribution(32, 1.0).probabilities[:5]
    counts = 2 * probabilities / probabilities[0] * np.exp(4.0 * np.arange(5))
    np.testing.assert_allclose(counts, [2, 0, 2048, 4096, 1057792], rtol=1e-11)


def test_rare_levels_are_accurate_in_the_cold():
    probabilities = energy_distribution(64, 0.2).probabilities
    assert probabilities[2] / probabilities[0] == pytest.approx(4096 * math.exp(-40), rel=1e-11)


def test_limits_of_temperature():
    assert energy_distribution(9, 1e-300).probabilities[0] == 1
    hot = energy_distribution(4, 1e300).probabilities
    np.testing.assert_allclose(hot, density_of_states(4) / 2**16, rtol=1e-10, atol=1e-15)


def test_the_usual_size_is_fast():
    energy_distribution(64, 2.0)
    started = time.process_time()
    energy_distribution(64, 2.25)
    assert time.process_time() - started < 0.5  # 0.01 s on an idle machine


@pytest.mark.parametrize("side", [1, 2.5, LARGEST_SIDE + 1, None])
def test_refuses_a_bad_side(side):
    with pytest.raises(InputError, match="lattice side must be"):
        energy_distribution(side, 1.0)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, [1.0, 2.0], "1"])
def test_refuses_a_bad_temperature(temperature):
    with pytest.raises(InputError, match=r"temperature must be .*finite number > 0"):
        energy_distribution(4, temperature)


def test_z_score_of_many_samples_is_the_distance_over_the_standard_error():
    found = energy_distribution(16, 2.5)
    error = math.sqrt(found.variance / 1e6)
    for z in (-4.0, -1.0, 0.0, 0.5, 6.0):
        assert found.z_score(found.mean + z * error, 1e6) == pytest.approx(z, rel=0.01, abs=1e-6)


@pytest.mark.parametrize("n_flipped", [0, 1, 4])
def test_z_score_of_rare_excitations_is_that_of_a_poisson_count(n_flipped):
    """At T = 0.4 one spin of 4096 x 1000 is flipped once in a hundred datasets: no reason for alarm."""
    found, n_samples = energy_distribution(64, 0.4), 1000
    expected = 4096 * n_samples * math.exp(-8 / 0.4)
    log_bound = n_flipped - expected - (n_flipped * math.log(n_flipped / expected) if n_flipped else 0)
    wanted = math.copysign(math.sqrt(-2 * log_bound), n_flipped - expected)
    mean = -8192 + 8 * n_flipped / n_samples
    assert found.z_score(mean, n_samples) == pytest.approx(wanted, rel=1e-3)


def test_z_score_at_the_ends_of_the_ladder():
    found = energy_distribution(3, 2.0)
    assert found.z_score(-19, 10) == -math.inf
    assert found.z_score(18, 10) == math.inf
    assert found.z_score(-18, 1) == pytest.approx(-math.sqrt(-2 * math.log(found.probabilities[0])))
    assert energy_distribution(8, 0.1).z_score(-128, 1000) == pytest.approx(0, abs=1e-12)
