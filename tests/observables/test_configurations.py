"""Energies, magnetisations and correlations against loops over sites and against exact results."""

import numpy as np
import pytest

from oracles.ising import energy, magnetization
from oracles.observables import two_point_correlation as pair_by_pair
from oracles.random_inputs import random_spins
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.exact import boltzmann
from thermorbm.lattice import Lattice
from thermorbm.observables import configuration_series, two_point_correlation


def test_series_one_configuration_at_a_time(data, lattice, small_blocks):
    series = configuration_series(data)
    spins = data.spins()
    np.testing.assert_array_equal(series.energy, [energy(lattice.shape, row) for row in spins])
    expected = np.array([magnetization(row) for row in spins])
    np.testing.assert_allclose(series.magnetization, expected, atol=1e-15)
    np.testing.assert_allclose(series.abs_magnetization, abs(expected), atol=1e-15)


def test_series_without_a_lattice_has_no_energy():
    series = configuration_series(Dataset.from_spins(random_spins(5, 7)))
    assert series.energy is None
    assert series.magnetization.shape == (5,)
    assert series.n_sites == 7


def test_two_point_correlation_pair_by_pair(data, lattice, small_blocks):
    curve = two_point_correlation(data)
    expected = pair_by_pair(lattice.shape, data.spins())
    np.testing.assert_allclose(curve.distances, list(expected), atol=1e-9)
    np.testing.assert_allclose(curve.values, list(expected.values()), atol=1e-12)


def test_correlation_of_all_weighted_states_is_the_exact_one():
    """Nearest neighbours of the 3 x 3 torus: <s s'> = -E / n_bonds."""
    lattice = Lattice((3, 3))
    exact = boltzmann(lattice, 2.5)
    drawn = np.random.default_rng(0).choice(len(exact.states), p=exact.probabilities, size=20_000)
    curve = two_point_correlation(Dataset.from_spins(exact.states[drawn], lattice, 2.5))
    truth = -float(exact.probabilities @ exact.energies) / lattice.n_bonds
    assert abs(curve.at(1).z_score(truth)) < 4
    assert curve.at(0).value == pytest.approx(1)


def test_one_configuration_has_a_correlation_without_an_error():
    curve = two_point_correlation(Dataset.from_spins(random_spins(1, 16), Lattice((4, 4))))
    assert np.isnan(curve.errors).all()


def test_correlation_needs_a_lattice():
    with pytest.raises(InputError, match="one with a lattice"):
        two_point_correlation(Dataset.from_spins(random_spins(5, 7)))
