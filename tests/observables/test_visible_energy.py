"""Visible energies against enumeration and against the machine that is the Ising model."""

import math

import numpy as np
import pytest

from oracles.random_inputs import random_machine, random_spins
from oracles.rbm_enumeration import EnumeratedRBM
from thermorbm.dataset import Dataset
from thermorbm.exact import energy_distribution, ising_rbm
from thermorbm.lattice import Lattice
from thermorbm.model import RBM
from thermorbm.observables import visible_energies


def test_all_four_against_enumeration_and_the_formulas(small_blocks):
    machine = random_machine(4, 6, seed=4, scale=1.0)
    truth = EnumeratedRBM(machine.W, machine.b, machine.c)
    without_bias = EnumeratedRBM(machine.W, np.zeros(6), np.zeros(4))
    found = visible_energies(machine, Dataset.from_spins(truth.v_states))
    np.testing.assert_allclose(found.full, [truth.visible_energy(v) for v in truth.v_states], rtol=1e-12)
    expected = [without_bias.visible_energy(v) for v in truth.v_states]
    np.testing.assert_allclose(found.zero_bias, expected, rtol=1e-12)
    absolute = [-sum(abs(sum(row * v)) for row in machine.W) for v in truth.v_states]
    np.testing.assert_allclose(found.absolute, absolute, rtol=1e-12)
    assert found.all_up == pytest.approx(-sum(abs(sum(row)) for row in machine.W), rel=1e-12)


def test_the_machine_agrees_with_itself(machine, data):
    found = visible_energies(machine, data)
    np.testing.assert_allclose(found.full, machine.visible_energy(data.spins()), rtol=1e-12)
    no_bias = RBM(machine.W, np.zeros_like(machine.b), np.zeros_like(machine.c))
    np.testing.assert_allclose(found.zero_bias, no_bias.visible_energy(data.spins()), rtol=1e-12)


def test_single_precision():
    double = random_machine(30, 200, scale=0.1)
    single = random_machine(30, 200, scale=0.1, dtype=np.float32)
    data = Dataset.from_spins(random_spins(20, 200))
    a, b = visible_energies(single, data), visible_energies(double, data)
    for name in ("full", "zero_bias", "absolute"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-5)


def test_ising_machine_has_mean_and_variance_of_the_hamiltonian():
    """Independent configurations from the Ising machine's own chains, beside exact P(E) on 4 x 4."""
    lattice, temperature, n = Lattice((4, 4)), 2.5, 20_000
    machine = ising_rbm(lattice, temperature)
    v = machine.gibbs(random_spins(n, 16), steps=300, seed=3)
    found = visible_energies(machine, Dataset.from_spins(v, lattice, temperature))
    exact = energy_distribution(4, temperature)
    constant = lattice.n_bonds * (math.log(2) + 1 / temperature)
    assert abs(found.mean.z_score(exact.mean / temperature - constant)) < 4
    assert abs(found.variance.z_score(exact.variance / temperature**2)) < 4
    assert found.variance.error < 0.05 * found.variance.value
