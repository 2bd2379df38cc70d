"""The machine that is the Ising model, against the Hamiltonian, enumeration and Kaufman's solution."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp

from oracles.rbm_enumeration import ising_pseudo_entropy
from thermorbm.errors import InputError
from thermorbm.exact import kaufman
from thermorbm.exact.ising_machine import ising_rbm
from thermorbm.lattice import Lattice

SHAPES = [(5,), (2, 2), (3, 3), (4, 6), (2, 3, 4), (2, 2, 2, 2)]
TEMPERATURES = [0.05, 1.0, 2.269185, 10.0, 1e6]


def spins(lattice, n=20, seed=0):
    drawn = np.random.default_rng(seed).choice([-1, 1], size=(n, lattice.n_sites)).astype(np.int8)
    drawn[0] = 1
    return drawn


def constant(lattice, temperature):
    return lattice.n_bonds * (math.log(2) + 1 / temperature)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_visible_energy_is_the_hamiltonian(shape, temperature):
    lattice = Lattice(shape)
    v = spins(lattice)
    energies = ising_rbm(lattice, temperature).visible_energy(v)
    expected = lattice.energy(v) / temperature - constant(lattice, temperature)
    np.testing.assert_allclose(energies, expected, rtol=1e-13, atol=1e-11)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 2, 2), (7,)], ids=str)
@pytest.mark.parametrize("temperature", [0.5, 2.25, 8.0])
def test_log_partition_is_that_of_the_ising_model(shape, temperature):
    lattice = Lattice(shape)
    every_state = np.array(list(itertools.product([-1, 1], repeat=lattice.n_sites)))
    log_z = logsumexp(-lattice.energy(every_state) / temperature)
    value = ising_rbm(lattice, temperature).log_partition().value
    assert value == pytest.approx(log_z + constant(lattice, temperature), rel=1e-13)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("temperature", [0.5, 2.25, 8.0])
def test_pseudo_likelihood_is_the_pseudo_entropy(shape, temperature):
    lattice = Lattice(shape)
    v = spins(lattice, n=6)
    expected = [ising_pseudo_entropy(lattice.energy, row, temperature) for row in v]
    np.testing.assert_allclose(ising_rbm(lattice, temperature).pseudo_likelihood(v), expected, rtol=1e-11)


def test_every_bond_is_one_hidden_unit():
    lattice = Lattice((2, 3))
    machine = ising_rbm(lattice, 2.0)
    assert machine.W.shape == (lattice.n_bonds, lattice.n_sites)
    assert ((machine.W > 0).sum(axis=1) == 2).all()
    assert ((machine.W > 0).sum(axis=0) == 4).all()
    assert np.cosh(2 * machine.W.max()) == pytest.approx(math.exp(1.0), rel=1e-14)
    assert machine.provenance["temperature"] == 2.0


@pytest.mark.parametrize("temperature", [2.269185, 3.0])
def test_gibbs_chains_have_kaufmans_energy(temperature):
    """Independent chains on 8 x 8: means of the chains give the error, whatever their autocorrelation."""
    lattice, n_chains = Lattice((8, 8)), 2000
    machine = ising_rbm(lattice, temperature)
    v = machine.gibbs(spins(lattice, n_chains, seed=1), steps=400, seed=1)
    means = np.zeros(n_chains)
    for step in range(10):
        v = machine.gibbs(v, steps=20, seed=2 + step)
        means += lattice.energy(v) / lattice.n_sites / 10
    error = means.std() / math.sqrt(n_chains)
    assert error < 0.01
    assert abs(means.mean() - kaufman(8, temperature).energy) < 4 * error


@pytest.mark.parametrize("temperature", [0, -1.0, math.nan, math.inf, "cold", None, True])
def test_bad_temperatures(temperature):
    with pytest.raises(InputError, match="temperature must be a finite number > 0"):
        ising_rbm(Lattice((3, 3)), temperature)
