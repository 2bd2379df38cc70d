import math

import numpy as np
import pytest

from thermorbm.errors import InputError
from thermorbm.exact import KC_3D, TC_3D, cubic_magnetization, cubic_series
from thermorbm.exact.three_d import SERIES


def test_critical_temperature():
    assert pytest.approx(4.5115232, abs=1e-7) == TC_3D
    assert pytest.approx(1, rel=1e-15) == TC_3D * KC_3D


@pytest.mark.parametrize(
    ("temperature", "energy", "heat_capacity", "entropy"),
    [
        (6.0, (-0.571645, 6e-7), (0.129809, 6e-7), (0.642175, 6e-7)),
        (5.5, (-0.647406, 6e-7), (0.17793, 6e-6), (0.628961, 6e-7)),
        (5.0, (-0.75792, 6e-6), (0.2797, 6e-5), (0.60782, 6e-6)),
    ],
)
def test_agrees_with_the_published_digits(temperature, energy, heat_capacity, entropy):
    found = cubic_series(temperature)
    assert found.energy == pytest.approx(energy[0], abs=energy[1])
    assert found.heat_capacity == pytest.approx(heat_capacity[0], abs=heat_capacity[1])
    assert found.entropy == pytest.approx(entropy[0], abs=entropy[1])
    assert found.magnetization == 0


@pytest.mark.parametrize("temperature", [12.0, 20.0, 100.0])
def test_the_plain_sum_suffices_far_from_the_critical_point(temperature):
    coupling = 1 / temperature
    v = math.tanh(coupling)
    tail = math.fsum(coefficient * v ** (4 + 2 * k) for k, coefficient in enumerate(SERIES))
    log_z = math.log(2) + 3 * math.log(math.cosh(coupling)) + tail
    assert cubic_series(temperature).free_energy == pytest.approx(-temperature * log_z, rel=1e-13)


def test_thermodynamic_identities():
    temperatures = np.array([5.01, 5.2, 6.0, 9.0, 30.0])
    step = 1e-4 * temperatures
    low, here, high = (cubic_series(temperatures + sign * step) for sign in (-1, 0, 1))
    np.testing.assert_allclose(here.free_energy, here.energy - temperatures * here.entropy, rtol=1e-14)
    np.testing.assert_allclose((high.energy - low.energy) / (2 * step), here.heat_capacity, rtol=1e-5)
    np.testing.assert_allclose(-(high.free_energy - low.free_energy) / (2 * step), here.entropy, rtol=1e-6)


def test_tends_to_free_spins():
    hot = cubic_series(1e6)
    assert hot.entropy == pytest.approx(math.log(2), abs=1e-11)
    assert hot.energy == pytest.approx(-3e-6, rel=1e-9)
    assert hot.heat_capacity == pytest.approx(3e-12, rel=1e-9)
    assert cubic_series([[5.0, 6.0]]).energy.shape == (1, 2)


def test_the_series_needs_a_high_temperature():
    with pytest.raises(InputError, match=r"temperature must be at least 5\.0 .* got 4\.9"):
        cubic_series([6.0, 4.9])
    with pytest.raises(InputError, match="temperature must be a finite number > 0"):
        cubic_series(-1.0)


def test_magnetization_follows_the_fit():
    t = 0.1
    expected = t**0.32694109 * (1.6919045 - 0.34357731 * t**0.50842026 - 0.42572366 * t)
    assert cubic_magnetization(TC_3D * 0.9) == pytest.approx(expected, rel=1e-12)
    assert type(cubic_magnetization(4.0)) is float
    falling = cubic_magnetization(np.linspace(3.4, 4.5, 50))
    assert np.all(np.diff(falling) < 0)
    assert np.all((falling > 0) & (falling < 1))


@pytest.mark.parametrize("temperature", [3.3, 4.51, TC_3D, 5.0, [4.0, 3.0]])
def test_magnetization_is_refused_outside_the_range_of_the_fit(temperature):
    with pytest.raises(InputError, match=r"temperature must be between 3\.3385 and 4\.5093"):
        cubic_magnetization(temperature)
