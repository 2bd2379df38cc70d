import math

import numpy as np
import pytest

from oracles.onsager_mpmath import onsager_reference
from thermorbm.errors import InputError
from thermorbm.exact import TC_2D, kaufman, onsager
from thermorbm.exact.infinite import HIGH_TEMPERATURE
from thermorbm.exact.torus import LOW_TEMPERATURE

CATALAN = 0.915965594177219
QUANTITIES = ("energy", "heat_capacity", "entropy", "free_energy", "magnetization")
JOINS = (
    math.nextafter(LOW_TEMPERATURE, 0),
    LOW_TEMPERATURE,
    HIGH_TEMPERATURE,
    math.nextafter(HIGH_TEMPERATURE, 99),
)


@pytest.mark.parametrize(
    "temperature", [0.1, 0.25, 0.5, *JOINS, 1.0, 1.5, 2.0, 2.26, 2.269, 2.2695, 2.3, 2.5, 4.0, 30.0, 1e3]
)
def test_agrees_with_many_digit_arithmetic(temperature):
    found, reference = onsager(temperature), onsager_reference(temperature)
    for quantity in QUANTITIES:
        assert getattr(found, quantity) == pytest.approx(getattr(reference, quantity), rel=1e-11), quantity


@pytest.mark.parametrize("distance", [-1e-6, -1e-9, 1e-9, 1e-6])
def test_next_to_the_critical_point(distance):
    found, reference = onsager(TC_2D + distance), onsager_reference(TC_2D + distance)
    for quantity in ("energy", "entropy", "free_energy"):
        assert getattr(found, quantity) == pytest.approx(getattr(reference, quantity), rel=1e-13)
    # Half a unit in the last place of T_c moves the logarithm of the distance by this much.
    uncertainty = 2.0**-52 / abs(distance) + 1e-12
    assert found.heat_capacity == pytest.approx(reference.heat_capacity, rel=uncertainty)
    assert found.magnetization == pytest.approx(reference.magnetization, rel=uncertainty)


def test_at_the_critical_point():
    found = onsager(TC_2D)
    assert found.energy == pytest.approx(-math.sqrt(2), rel=1e-15)
    assert found.heat_capacity == math.inf
    assert found.magnetization == 0
    assert found.free_energy == pytest.approx(-TC_2D * (math.log(2) / 2 + 2 * CATALAN / math.pi), rel=1e-15)


@pytest.mark.parametrize("temperature", [0.3, 0.9, 1.5, 2.0, 2.15, 2.4, 3.0, 6.0, 40.0])
def test_a_large_torus_is_the_infinite_lattice_away_from_the_critical_point(temperature):
    infinite, torus = onsager(temperature), kaufman(600, temperature)
    degeneracy = math.log(2) / 600**2 if temperature < TC_2D else 0.0
    assert torus.energy == pytest.approx(infinite.energy, rel=1e-11)
    assert torus.heat_capacity == pytest.approx(infinite.heat_capacity, rel=1e-10)
    assert torus.entropy - degeneracy == pytest.approx(infinite.entropy, rel=1e-11, abs=1e-16)
    assert torus.free_energy + temperature * degeneracy == pytest.approx(infinite.free_energy, rel=1e-11)


@pytest.mark.parametrize("room", [onsager, lambda temperature: kaufman(6, temperature)])
def test_thermodynamic_identities(room):
    temperatures = np.array([0.4, 0.6, 0.9, 1.5, 2.1, 2.4, 3.5, 12.0])
    step = 1e-4 * temperatures
    low, here, high = room(temperatures - step), room(temperatures), room(temperatures + step)
    np.testing.assert_allclose(here.free_energy, here.energy - temperatures * here.entropy, rtol=1e-13)
    np.testing.assert_allclose((high.energy - low.energy) / (2 * step), here.heat_capacity, rtol=2e-5)
    np.testing.assert_allclose(
        temperatures * (high.entropy - low.entropy) / (2 * step), here.heat_capacity, rtol=2e-5
    )
    np.testing.assert_allclose(-(high.free_energy - low.free_energy) / (2 * step), here.entropy, rtol=1e-3)


def test_entropy_rises_from_zero_and_is_never_negative():
    entropy = onsager(np.geomspace(0.01, 1e3, 2000)).entropy
    assert entropy[0] >= 0
    assert np.all(np.diff(entropy) >= 0)
    assert entropy[-1] < math.log(2)


def test_magnetization_is_one_in_the_cold_and_zero_from_the_critical_point_up():
    assert onsager(1e-300).magnetization == 1
    magnetization = onsager([1.0, 2.0, TC_2D, 2.3, 1e300]).magnetization
    np.testing.assert_allclose(magnetization, [0.99927575, 0.91131938, 0, 0, 0], atol=5e-9)


def test_scalars_give_floats_and_arrays_keep_their_shape():
    assert all(type(getattr(onsager(2), quantity)) is float for quantity in QUANTITIES)
    grid = onsager([[0.5, 1.0], [2.0, TC_2D], [3.0, 20.0]])
    assert all(getattr(grid, quantity).shape == (3, 2) for quantity in QUANTITIES)


@pytest.mark.parametrize("temperature", [0.0, -2.0, math.nan, [1.0, math.inf], "cold", None])
def test_refuses_a_bad_temperature(temperature):
    with pytest.raises(InputError, match="temperature must be a finite number > 0"):
        onsager(temperature)
