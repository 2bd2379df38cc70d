import math

import numpy as np
import pytest

from oracles.kaufman_mpmath import kaufman_reference
from thermorbm.errors import InputError
from thermorbm.exact import TC_2D, boltzmann, heat_capacity_peak, kaufman
from thermorbm.exact.torus import LOW_TEMPERATURE
from thermorbm.lattice import Lattice

# L = 64, computed in 60-digit arithmetic: T, energy, heat capacity, entropy.
TABLE = [
    (1.0, -1.997160204112, 0.0233795647, 0.00335730497),
    (2.0, -1.745564575313, 0.724871449, 0.153179750),
    (2.25, -1.463850885177, 1.952891196, 0.284678562),
    (TC_2D, -1.423938389833, 2.192211393, 0.302340789),
    (2.5, -1.106082992472, 0.861855083, 0.436930638),
    (3.0, -0.817309592502, 0.401379576, 0.543446201),
    (4.0, -0.557272240628, 0.171188411, 0.619788418),
]
QUANTITIES = ("energy", "heat_capacity", "entropy", "free_energy")
JOIN = (math.nextafter(LOW_TEMPERATURE, 0), LOW_TEMPERATURE)
BESIDE_TC = (math.nextafter(TC_2D, 0), TC_2D, math.nextafter(TC_2D, 3))
TEMPERATURES = (0.1, 0.25, 0.5, 0.69, 0.71, *JOIN, 1.0, 2.0, *BESIDE_TC, 2.3, 3.0, 10.0, 100.0)


@pytest.mark.parametrize(("temperature", "energy", "heat_capacity", "entropy"), TABLE)
def test_agrees_with_the_published_digits_at_side_64(temperature, energy, heat_capacity, entropy):
    found = kaufman(64, temperature)
    assert found.energy == pytest.approx(energy, abs=6e-13)
    assert found.heat_capacity == pytest.approx(heat_capacity, rel=3e-9)
    assert found.entropy == pytest.approx(entropy, rel=3e-9)


@pytest.mark.parametrize("side", [2, 3, 5, 16, 64, 128])
def test_agrees_with_many_digit_arithmetic(side):
    found = kaufman(side, TEMPERATURES)
    for i, temperature in enumerate(TEMPERATURES):
        reference = kaufman_reference(side, temperature)
        for quantity in QUANTITIES:
            expected = getattr(reference, quantity)
            assert getattr(found, quantity)[i] == pytest.approx(expected, rel=1e-11), (temperature, quantity)


@pytest.mark.parametrize("side", [2, 3, 4])
@pytest.mark.parametrize("temperature", [0.2, 0.8, 2.0, TC_2D, 3.0, 50.0])
def test_agrees_with_enumeration(side, temperature):
    found, counted = kaufman(side, temperature), boltzmann(Lattice((side, side)), temperature).thermodynamics
    for quantity in QUANTITIES:
        assert getattr(found, quantity) == pytest.approx(getattr(counted, quantity), rel=1e-11), quantity


def test_entropy_of_the_ground_states_remains_at_low_temperature():
    assert kaufman(64, 0.01).entropy == pytest.approx(math.log(2) / 4096, rel=1e-15)
    assert kaufman(64, 5e-324).energy == -2


def test_extreme_temperatures_give_the_limits_without_warnings():
    cold, hot = kaufman(5, 1e-300), kaufman(5, 1e300)
    assert (cold.energy, cold.heat_capacity, cold.free_energy) == (-2.0, 0.0, -2.0)
    assert hot.entropy == pytest.approx(math.log(2), rel=1e-15)
    assert hot.energy == pytest.approx(0, abs=1e-15)


def test_heat_capacity_at_the_critical_point_grows_as_the_logarithm_of_the_side():
    # Ferdinand and Fisher, Phys. Rev. 185, 832 (1969): slope ln L + constant + O(1/L)
    growth = kaufman(1024, TC_2D).heat_capacity - kaufman(512, TC_2D).heat_capacity
    slope = 2 / math.pi * math.log(1 + math.sqrt(2)) ** 2
    assert growth == pytest.approx(slope * math.log(2), abs=0.5 / 512)


def test_scalars_give_floats_and_arrays_keep_their_shape():
    grid = np.array([[0.5, 1.0, 2.0], [TC_2D, 3.0, 100.0]])
    many = kaufman(7, grid)
    for quantity in QUANTITIES:
        assert getattr(many, quantity).shape == grid.shape
        for index in np.ndindex(grid.shape):
            single = getattr(kaufman(7, float(grid[index])), quantity)
            assert type(single) is float
            assert single == pytest.approx(getattr(many, quantity)[index], rel=1e-13)
    assert many.magnetization is None
    assert kaufman(7, []).energy.shape == (0,)
    assert type(kaufman(np.int64(7), np.float32(2)).energy) is float


@pytest.mark.parametrize("side", [1, 0, -3, 2.0, "4", None, True])
def test_refuses_a_bad_side(side):
    with pytest.raises(InputError, match="lattice side must be a whole number >= 2"):
        kaufman(side, 1.0)


@pytest.mark.parametrize(
    "temperature", [0, -1.0, math.nan, math.inf, [1.0, -1.0], "2.0", None, True, 1j, [[1.0], [1.0, 2.0]]]
)
def test_refuses_a_bad_temperature(temperature):
    with pytest.raises(InputError, match="temperature must be a finite number > 0"):
        kaufman(4, temperature)


@pytest.mark.parametrize(("side", "shift"), [(16, 0.0213), (32, 0.0109), (64, 0.0055)])
def test_heat_capacity_peaks_of_the_torus(side, shift):
    peak = heat_capacity_peak(side)
    assert peak / TC_2D - 1 == pytest.approx(shift, abs=2e-4)
    nearby = kaufman(side, np.array([peak - 1e-4, peak, peak + 1e-4])).heat_capacity
    assert nearby.argmax() == 1
