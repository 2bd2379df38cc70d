"""Machines that generate their data in equilibrium, and machines that do not."""

import numpy as np
import pytest

from oracles.random_inputs import random_machine, random_spins
from oracles.rbm_enumeration import EnumeratedRBM
from thermorbm.api import sample
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.exact import ising_rbm
from thermorbm.lattice import Lattice
from thermorbm.model import RBM
from thermorbm.observables import quality
from thermorbm.observables.quality import _joint_energy
from thermorbm.training import train

LATTICE = Lattice((8, 8))


def by_name(comparisons):
    return {item.quantity: item for item in comparisons}


def test_the_ising_machine_is_in_equilibrium():
    data = sample(LATTICE, 2.6, 2000, seed=1)
    found = quality(ising_rbm(LATTICE, 2.6), data, n_chains=400, n_steps=60, seed=2)
    names = {"joint_energy", "abs_magnetization", "energy", "correlation_r2", "heat_capacity"}
    assert set(by_name(found.comparisons)) == names
    assert all(abs(item.z_score) < 4 for item in (*found.comparisons, *found.starts))
    assert found.verdict == "equilibrium"
    assert found.is_equilibrium
    energy = by_name(found.comparisons)["energy"]
    assert energy.data.value == pytest.approx(LATTICE.energy(data.spins()).mean() / 64)


def test_the_wrong_temperature_shows_in_every_quantity():
    data = sample(LATTICE, 2.6, 2000, seed=1)
    found = quality(ising_rbm(LATTICE, 3.2), data, n_chains=400, n_steps=60, seed=2)
    z = {item.quantity: item.z_score for item in found.comparisons}
    assert z["energy"] > 4
    assert z["abs_magnetization"] < -4
    assert z["correlation_r2"] < -4
    assert "leave the data's joint energy" in found.verdict


def test_chains_that_do_not_forget_are_out_of_equilibrium():
    """Chains from random spins find both signs of m, those from data stay where they are."""
    n = 40
    rbm = RBM(np.full((3, n), 0.6), np.full(n, 0.5), np.zeros(3))
    data = Dataset.from_spins(rbm.gibbs(np.ones((200, n)), 5, 1))
    found = quality(rbm, data, n_chains=100, n_steps=3, seed=1)
    assert "differ in" in found.verdict
    tempered = quality(
        rbm, data, 100, 200, 1, lambda v, k, s: rbm.temper(v, k, s, np.linspace(1, 0.1, 12)).v[0]
    )
    assert tempered.verdict == "equilibrium"


def trained(side, temperature, **changes):
    data = sample(Lattice((side, side)), temperature, 4000, seed=1)
    rbm = train(data, n_hidden=64, seed=1, **changes).rbm
    return quality(rbm, data, n_chains=500, n_steps=500, seed=3)


@pytest.mark.slow
def test_contrastive_divergence_near_the_transition_is_out_of_equilibrium():
    """Five steps from data know nothing of where long chains go: those from random spins end elsewhere."""
    found = trained(32, 2.25, recipe="paper", epochs=60, learning_rate=1e-2, stop_early=False)
    assert found.verdict.startswith("out of equilibrium")
    assert abs(by_name(found.comparisons)["abs_magnetization"].z_score) > 10
    assert abs(by_name(found.starts)["joint_energy"].z_score) > 6


@pytest.mark.slow
def test_persistent_chains_away_from_the_transition_are_in_equilibrium():
    assert trained(16, 3.0, recipe="fast", epochs=20).verdict == "equilibrium"


def test_the_joint_energy_is_the_enumerated_mean():
    rbm = random_machine(3, 5, seed=1)
    truth, v = EnumeratedRBM(rbm.W, rbm.b, rbm.c), random_spins(6, 5)
    for row, energy in zip(v, _joint_energy(rbm, v), strict=True):
        place = truth.index(row)
        expected = truth.p[place] @ truth.energy[place] / truth.p_v[place]
        assert energy == pytest.approx(expected)


def test_bad_input():
    rbm = random_machine(3, 5)
    with pytest.raises(InputError, match="data must be of 5, like the machine, got '6 sites'"):
        quality(rbm, Dataset.from_spins(random_spins(9, 6)))
    with pytest.raises(InputError, match=r"got \(0, 256, 9\)"):
        quality(rbm, Dataset.from_spins(random_spins(9, 5)), n_chains=0)
