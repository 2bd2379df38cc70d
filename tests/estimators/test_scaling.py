"""Finite-size scaling of the Ising model, on small lattices and on larger ones."""

import numpy as np
import pytest

from thermorbm import Lattice, sample
from thermorbm.errors import InputError
from thermorbm.estimators import Measurements, Reweighting, binder_crossing, scaling, scaling_fit
from thermorbm.exact import TC_2D, TC_3D
from thermorbm.series import measure


def lattices(dimension, sides, n_samples, t_c, nu, window, n_draws=60):
    found = {}
    for side in sides:
        lattice = Lattice((side,) * dimension)
        temperatures = t_c * (1 + np.array([-1, -1 / 3, 1 / 3, 1]) * window * side ** (-1 / nu))
        data = [sample(lattice, float(t), n_samples, seed=k, threads=1) for k, t in enumerate(temperatures)]
        parts = [measure(each) for each in data]
        found[side] = Reweighting(parts, lattice.n_sites, n_draws=n_draws)
    return found


@pytest.fixture(scope="module")
def small():
    return lattices(2, (6, 10, 16), 4000, TC_2D, 1.0, 0.5)


def test_small_square_lattices_tell_tc_and_exponents(small):
    fit = scaling_fit(small, omega=1.75)
    for found, truth, most in (
        (fit.temperature, TC_2D, 0.02),
        (fit.nu, 1.0, 0.1),
        (fit.binder, 0.61069, 0.02),
        (fit.gamma_over_nu, 1.75, 0.05),
        (fit.beta_over_nu, 0.125, 0.03),
    ):
        assert abs(found.z_score(truth)) < 4
        assert found.error < most
    assert fit.beta.value == pytest.approx(fit.beta_over_nu.value * fit.nu.value)
    assert fit.gamma.value == pytest.approx(fit.gamma_over_nu.value * fit.nu.value)
    assert fit.chi_squared < 2 * fit.n_degrees
    assert [c.sides for c in fit.crossings] == [(6, 10), (10, 16)]


def test_the_crossing_is_where_both_curves_have_one_value(small):
    found = binder_crossing((6, small[6]), (16, small[16]))
    for reweighting in (small[6], small[16]):
        here = reweighting.curves([found.temperature.value]).binder.values[0]
        assert here == pytest.approx(found.binder.value, abs=1e-5)
    assert abs(found.temperature.value - TC_2D) < 4 * found.temperature.error + 0.02  # corrections of L = 6


def test_curves_that_do_not_cross_and_too_few_sides(small):
    rng = np.random.default_rng(1)
    parts = [Measurements(t, rng.normal(-100, 10, 500), rng.normal(0, 0.01, 500)) for t in (2.1, 2.4)]
    noise = Reweighting(parts, 4096, n_draws=60)
    with pytest.raises(InputError, match="curves that cross"):
        binder_crossing((16, small[16]), (64, noise))
    with pytest.raises(InputError, match="resamplings of one number"):
        binder_crossing((16, small[16]), (64, Reweighting(parts, 4096, n_draws=20)))
    with pytest.raises(InputError, match="three or more sides"):
        scaling_fit({16: small[16], 10: small[10]}, omega=1.0)


@pytest.mark.parametrize(
    ("sides", "omega", "moved"), [((6, 8, 10, 12, 16, 20), 0.83, 0.017), ((8, 16, 32), 1.75, 0)]
)
def test_a_further_correction_moves_exponents_in_3d_unless_it_is_given(sides, omega, moved):
    """By what the errors of beta/nu and gamma/nu hold (docs/curves.md)."""
    sides = np.repeat(np.array(sides, dtype=float), 3)
    temperatures = 4.5 + np.tile([-1.0, 0.0, 1.0], len(sides) // 3) / sides
    points = scaling._Points(sides, temperatures, *([np.zeros(0)] * 4))
    values = 1.96 * np.log(sides) + 0.1 * sides**-omega + 0.5 * sides ** (-2 * omega)
    assert scaling._power(points, values, 4.5, 1.0, 0.5, omega) == pytest.approx(1.96)
    assert scaling._power(points, values, 4.5, 1.0, 0.0, omega) - 1.96 == pytest.approx(moved, abs=5e-4)


@pytest.mark.slow
def test_the_square_lattice():
    fit = scaling_fit(lattices(2, (8, 16, 32, 64), 20_000, TC_2D, 1.0, 0.5), omega=1.75)
    assert abs(fit.temperature.value - TC_2D) < 0.001
    assert abs(fit.nu.value - 1) < 0.03
    assert abs(fit.binder.value - 0.6107) < 0.003
    assert abs(fit.gamma_over_nu.value - 1.75) < 0.02


@pytest.mark.slow
def test_the_cubic_lattice():
    fit = scaling_fit(lattices(3, (6, 8, 10, 12, 16, 20), 20_000, TC_3D, 0.63, 0.4), omega=0.83)
    assert abs(fit.temperature.value - TC_3D) < 0.003
    assert abs(fit.nu.value - 0.630) < 0.015
