"""L~, CE and S~ against enumeration, and against one another on the machine that is the Ising model."""

import numpy as np
import pytest

from oracles.random_inputs import random_machine, random_spins
from oracles.rbm_enumeration import EnumeratedRBM, ising_pseudo_entropy
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.exact import boltzmann, ising_rbm
from thermorbm.lattice import Lattice
from thermorbm.observables import cross_entropy, pseudo_entropies, pseudo_likelihood


def test_pseudo_likelihood_of_all_configurations_is_the_enumerated_mean(small_blocks):
    machine = random_machine(4, 5, seed=5)
    truth = EnumeratedRBM(machine.W, machine.b, machine.c)
    found = pseudo_likelihood(machine, Dataset.from_spins(truth.v_states))
    expected = [truth.pseudo_likelihood(v) for v in truth.v_states]
    assert found.value == pytest.approx(np.mean(expected), rel=1e-10)
    assert found.error == pytest.approx(np.std(expected, ddof=1) / np.sqrt(32), rel=1e-10)


def test_a_subset_estimates_the_whole():
    machine, data = random_machine(6, 9), Dataset.from_spins(random_spins(4000, 9))
    whole = pseudo_likelihood(machine, data)
    scores = [pseudo_likelihood(machine, data, 200, seed).z_score(whole.value) for seed in range(40)]
    assert np.std(scores) == pytest.approx(1, abs=4 / np.sqrt(80))
    assert abs(np.mean(scores)) < 4 / np.sqrt(40)
    assert pseudo_likelihood(machine, data, 200, 3) == pseudo_likelihood(machine, data, 200, 3)


def test_cross_entropy_is_the_enumerated_mean(small_blocks):
    machine = random_machine(4, 5, seed=6)
    truth = EnumeratedRBM(machine.W, machine.b, machine.c)
    v = truth.v_states[11]
    found = cross_entropy(machine, Dataset.from_spins(np.tile(v, (4000, 1))), seed=2)
    assert abs(found.z_score(truth.cross_entropy(v))) < 4


@pytest.mark.parametrize("temperature", [0.5, 2.25, 8.0])
def test_pseudo_entropy_site_by_site(data, lattice, temperature, small_blocks):
    found = pseudo_entropies(data, temperature)
    expected = [ising_pseudo_entropy(lattice.energy, row, temperature) for row in data.spins()]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_pseudo_entropy_is_the_ising_machines_pseudo_likelihood(data, lattice):
    machine = ising_rbm(lattice, data.temperature)
    np.testing.assert_allclose(pseudo_entropies(data), machine.pseudo_likelihood(data.spins()), rtol=1e-10)


def test_pseudo_entropy_lies_below_the_entropy():
    """Conditioning on all other spins leaves less entropy: S~ <= S, exactly on 3 x 3."""
    lattice = Lattice((3, 3))
    for temperature in (1.5, 2.5, 5.0):
        exact = boltzmann(lattice, temperature)
        every = pseudo_entropies(Dataset.from_spins(exact.states, lattice, temperature))
        assert 0 < exact.probabilities @ every < 9 * exact.thermodynamics.entropy


def test_what_is_missing_is_named():
    data = Dataset.from_spins(random_spins(5, 16), Lattice((4, 4)))
    with pytest.raises(InputError, match="one with a temperature"):
        pseudo_entropies(data)
    with pytest.raises(InputError, match="one with a lattice"):
        pseudo_entropies(Dataset.from_spins(random_spins(5, 16)), 2.0)
    with pytest.raises(InputError, match="temperature must be a finite number > 0, got -1"):
        pseudo_entropies(data, -1.0)
    with pytest.raises(InputError, match="n_samples must be at least 2"):
        pseudo_likelihood(random_machine(2, 16), data, n_samples=1)
