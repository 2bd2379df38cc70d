"""Infinite triangular, honeycomb and kagome lattices against integrals, known values and narrow tori."""

import math

import numpy as np
import pytest

import thermorbm as tr
from thermorbm import exact
from thermorbm.errors import InputError


def _double_integral(argument, n=400):
    """Mean of ln argument(cos a + cos b + cos(a + b)) by the trapezoidal rule."""
    angle = 2 * np.pi * np.arange(n) / n
    cosines = np.cos(angle)[:, None] + np.cos(angle) + np.cos(angle[:, None] + angle)
    return np.log(argument(cosines)).mean()


@pytest.mark.parametrize(("temperature", "coupling"), [(5.0, 1), (2.0, 1), (2.5, -1), (0.8, -1), (9.0, -2)])
def test_free_energy_of_the_triangular_lattice_is_the_double_integral(temperature, coupling):
    c, s = math.cosh(2 * coupling / temperature), math.sinh(2 * coupling / temperature)
    log_z = math.log(2) + _double_integral(lambda cosines: c**3 + s**3 - s * cosines) / 2
    assert exact.triangular(temperature, coupling).free_energy == pytest.approx(
        -temperature * log_z, rel=1e-12
    )


@pytest.mark.parametrize(("temperature", "coupling"), [(3.0, 1), (1.0, -1)])
def test_free_energy_of_the_honeycomb_lattice_is_the_double_integral(temperature, coupling):
    c, s = math.cosh(2 / temperature), math.sinh(2 / temperature)
    log_z = 0.75 * math.log(2) + _double_integral(lambda cosines: c**3 + 1 - s**2 * cosines) / 4
    assert exact.honeycomb(temperature, coupling).free_energy == pytest.approx(
        -temperature * log_z, rel=1e-12
    )


@pytest.mark.parametrize("coupling", [1.0, -1.0])
@pytest.mark.parametrize(
    ("function", "name", "shape"),
    [
        (exact.triangular, "triangular", (6, 12)),
        (exact.honeycomb, "honeycomb", (4, 8)),
        (exact.kagome, "kagome", (4, 8)),
    ],
)
def test_hot_narrow_tori_differ_by_what_winds_round_them(function, name, shape, coupling):
    temperature, side = 12.0, min(shape)
    H = tr.hamiltonian(name, shape, coupling=coupling)
    torus, infinite = exact.transfer_matrix(H, temperature), function(temperature, coupling)
    # Closed walks round the torus: at least `side` bonds, fewer than (z - 1)^n of n bonds, each tanh K.
    degree = 2 * len(H.terms[0]) / H.n_sites - 1
    shortest = side if name == "triangular" else 2 * side
    bound = 4 * temperature * (degree * math.tanh(1 / temperature)) ** shortest
    assert abs(torus.free_energy - infinite.free_energy) < bound
    assert abs(torus.energy - infinite.energy) < 4 * shortest * bound
    assert bound < 0.3


def test_antiferromagnets_have_their_known_entropies():
    known = {1.0: 0.413908, 0.7: 0.354675, 0.5: 0.329225, 0.05: 0.323066}
    for temperature, entropy in known.items():
        assert exact.triangular(temperature, -1).entropy == pytest.approx(entropy, abs=1e-6)
    assert exact.triangular(1.0, -1).energy == pytest.approx(-0.931143, abs=1e-6)
    assert exact.kagome(0.05, -1).entropy == pytest.approx(0.50183, abs=1e-5)
    assert exact.kagome(0.05, -1).energy == pytest.approx(-2 / 3)


@pytest.mark.parametrize("function", [exact.triangular, exact.honeycomb, exact.kagome])
@pytest.mark.parametrize(("temperature", "coupling"), [(1.3, 1), (4.0, 1), (0.6, -1), (3.0, -2.5)])
def test_heat_capacity_and_entropy_follow_from_the_energy(function, temperature, coupling):
    h = 1e-4 * temperature
    colder, found, hotter = (function(t, coupling) for t in (temperature - h, temperature, temperature + h))
    assert found.heat_capacity == pytest.approx((hotter.energy - colder.energy) / (2 * h), rel=1e-6)
    assert found.entropy == pytest.approx(-(hotter.free_energy - colder.free_energy) / (2 * h), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "function", "critical"),
    [
        ("triangular", exact.triangular, 3.640957),
        ("honeycomb", exact.honeycomb, 1.518651),
        ("kagome", exact.kagome, 2.143319),
    ],
)
def test_heat_capacity_peaks_at_the_critical_temperature(name, function, critical):
    found = exact.critical_temperature(tr.hamiltonian(name, (4, 4)))
    assert found == pytest.approx(critical, abs=1e-6)
    below, at, above = (function(found + dt) for dt in (-1e-5, 0.0, 1e-5))
    assert at.heat_capacity > below.heat_capacity > function(found - 1e-4).heat_capacity
    assert at.heat_capacity > above.heat_capacity > function(found + 1e-4).heat_capacity
    assert below.energy < at.energy < above.energy


def test_arrays_of_temperatures_give_arrays():
    found = exact.kagome([1.0, 2.0, 3.0], -1)
    assert found.energy.shape == (3,)
    assert found.energy[1] == pytest.approx(exact.kagome(2.0, -1).energy, rel=1e-14)
    with pytest.raises(InputError, match="coupling"):
        exact.triangular(1.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"name": "square", "coupling": (1, 0.5)}, 1.641018),
        ({"name": "square", "coupling": -2}, 2 * exact.TC_2D),
        ({"name": "triangular", "coupling": (1, -1, -1)}, exact.TC_TRIANGULAR),
        ({"name": "triangular", "coupling": (1, 0.5, 1e-9)}, 1.641018),
        ({"name": "triangular", "coupling": -1}, None),
        ({"name": "kagome", "coupling": -1}, None),
        ({"name": "baxter-wu"}, exact.TC_2D),
        ({"name": "square", "field": 0.1}, None),
        ({"name": "square", "open": True}, None),
        ({"name": "j1j2", "coupling": (1, 1)}, None),
        ({"name": "pm-j"}, None),
    ],
)
def test_critical_temperatures(arguments, wanted):
    found = exact.critical_temperature(tr.hamiltonian(shape=(6, 6), **arguments))
    assert found == (None if wanted is None else pytest.approx(wanted, rel=1e-6))
    assert exact.critical_temperature(tr.Lattice((4, 4, 4))) == exact.TC_3D
