import itertools
import math

import numpy as np
import pytest

from oracles import ising
from thermorbm.errors import InputError
from thermorbm.exact import boltzmann, enumerate_states, enumerated_energy_distribution
from thermorbm.lattice import Lattice


@pytest.mark.parametrize("shape", [(3,), (2, 2), (3, 3), (2, 2, 3)])
def test_every_configuration_appears_once(shape):
    lattice = Lattice(shape)
    states = enumerate_states(lattice)
    assert states.dtype == np.int8
    assert states.shape == (2**lattice.n_sites, lattice.n_sites)
    expected = set(itertools.product((-1, 1), repeat=lattice.n_sites))
    assert {tuple(state) for state in states.tolist()} == expected


@pytest.mark.parametrize("shape", [(2,), (5,), (2, 2), (2, 3), (3, 3), (2, 2, 2)])
@pytest.mark.parametrize("temperature", [0.3, 2.0, 30.0])
def test_agrees_with_one_state_at_a_time(shape, temperature):
    lattice = Lattice(shape)
    found = boltzmann(lattice, temperature)
    energies = [ising.energy(shape, state) for state in found.states]
    weights = [math.exp(-(energy - min(energies)) / temperature) for energy in energies]
    probabilities = np.array(weights) / math.fsum(weights)
    np.testing.assert_array_equal(found.energies, energies)
    np.testing.assert_allclose(found.probabilities, probabilities, rtol=1e-13)
    per_spin, n = found.thermodynamics, lattice.n_sites
    mean = probabilities @ energies
    assert per_spin.energy == pytest.approx(mean / n, rel=1e-13)
    assert per_spin.heat_capacity == pytest.approx(
        probabilities @ (energies - mean) ** 2 / temperature**2 / n, rel=1e-10
    )
    assert per_spin.entropy == pytest.approx(-(probabilities @ np.log(probabilities)) / n, rel=1e-12)
    assert per_spin.free_energy == pytest.approx(per_spin.energy - temperature * per_spin.entropy, rel=1e-13)
    absolute = [abs(ising.magnetization(state)) for state in found.states]
    assert per_spin.magnetization == pytest.approx(probabilities @ absolute, rel=1e-13)
    assert type(per_spin.magnetization) is float


@pytest.mark.parametrize("n_spins", [3, 8])
@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_a_ring_has_the_closed_form(n_spins, temperature):
    found = boltzmann(Lattice((n_spins,)), temperature).thermodynamics
    partition = (2 * math.cosh(1 / temperature)) ** n_spins + (2 * math.sinh(1 / temperature)) ** n_spins
    assert found.free_energy == pytest.approx(-temperature * math.log(partition) / n_spins, rel=1e-13)


@pytest.mark.parametrize("shape", [(3,), (5,), (2, 2), (3, 4), (2, 2, 2), (2, 3, 3)])
def test_energy_distribution_collects_the_states(shape):
    lattice = Lattice(shape)
    found, all_states = enumerated_energy_distribution(lattice, 1.7), boltzmann(lattice, 1.7)
    for energy, probability in zip(found.energies, found.probabilities, strict=True):
        expected = all_states.probabilities[all_states.energies == energy].sum()
        assert probability == pytest.approx(expected, rel=1e-12)
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-14)
    assert found.mean == pytest.approx(all_states.thermodynamics.energy * lattice.n_sites, rel=1e-13)


def test_extreme_temperatures():
    cold = boltzmann(Lattice((2, 3)), 1e-300)
    assert cold.thermodynamics.heat_capacity == 0
    assert cold.thermodynamics.entropy == pytest.approx(math.log(2) / 6, rel=1e-15)
    assert sorted(cold.probabilities)[-2:] == [0.5, 0.5]
    assert boltzmann(Lattice((2, 3)), 1e300).thermodynamics.entropy == pytest.approx(math.log(2), rel=1e-15)


def test_twenty_spins_are_the_limit():
    assert enumerate_states(Lattice((4, 5))).shape == (2**20, 20)
    for function in (enumerate_states, lambda lattice: boltzmann(lattice, 1.0)):
        with pytest.raises(InputError, match="number of spins must be at most 20"):
            function(Lattice((3, 7)))
    with pytest.raises(InputError, match="at most 20"):
        enumerated_energy_distribution(Lattice((64, 64)), 1.0)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.inf, [1.0]])
def test_refuses_a_bad_temperature(temperature):
    for function in (boltzmann, enumerated_energy_distribution):
        with pytest.raises(InputError, match="temperature must be"):
            function(Lattice((2, 2)), temperature)
