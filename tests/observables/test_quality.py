"""Machines that generate their data in equilibrium, and machines that do not."""

from dataclasses import replace

import numpy as np
import pytest

from oracles.random_inputs import random_machine, random_spins
from oracles.rbm_enumeration import EnumeratedRBM
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.exact import ising_rbm
from thermorbm.lattice import Lattice
from thermorbm.model import RBM
from thermorbm.observables import quality
from thermorbm.observables.quality import _joint_energy
from thermorbm.samples import sample
from thermorbm.training import train

LATTICE = Lattice((8, 8))


def by_name(comparisons):
    return {item.quantity: item for item in comparisons}


def test_the_ising_machine_is_in_equilibrium():
    data = sample(LATTICE, 2.6, 2000, seed=1)
    found = quality(ising_rbm(LATTICE, 2.6), data, seed=2)
    names = {"joint_energy", "abs_magnetization", "energy", "correlation_r2", "heat_capacity"}
    assert set(by_name(found.comparisons)) == names
    assert all(abs(item.z_score) < found.limit for item in (*found.comparisons, *found.starts))
    assert found.verdict == "equilibrium"
    assert found.is_equilibrium
    energy = by_name(found.comparisons)["energy"]
    assert energy.data.value == pytest.approx(LATTICE.energy(data.spins()).mean() / 64)


def test_the_wrong_temperature_shows_in_every_quantity():
    data = sample(LATTICE, 2.6, 2000, seed=1)
    found = quality(ising_rbm(LATTICE, 3.2), data, seed=2)
    z = {item.quantity: item.z_score for item in found.comparisons}
    assert z["energy"] > found.limit
    assert z["abs_magnetization"] < -found.limit
    assert z["correlation_r2"] < -found.limit
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


def test_held_out_data_are_compared_and_the_verdict_is_that_of_training_data():
    data, other = sample(LATTICE, 2.6, 1000, seed=1), sample(LATTICE, 3.6, 1000, seed=1)
    machine = ising_rbm(LATTICE, 2.6)
    plain = quality(machine, data, seed=2)
    found = quality(machine, data, seed=2, held_out=other)
    assert (found.verdict, found.trained, found.short) == ("equilibrium", plain.trained, plain.short)
    assert by_name(found.starts)["energy"] == by_name(plain.starts)["energy"]
    assert by_name(found.comparisons)["energy"].z_score < -found.limit
    assert by_name(plain.comparisons)["joint_energy"] == plain.trained


def test_the_limit_follows_from_false_alarms_and_the_number_of_comparisons():
    found = quality(ising_rbm(LATTICE, 2.6), sample(LATTICE, 2.6, 100, seed=1), 256, 1)
    assert len(found.starts) + 1 == 6
    sure = replace(found, n_chains=10**6, false_alarms=6 * 0.3173)  # of one comparison: one deviation
    assert sure.limit == pytest.approx(1.0, abs=1e-3)
    assert found.limit > replace(found, false_alarms=0.05).limit > 2.5


def share_of_alarms(temperature, rate, n_seeds, n_samples=300):
    """Verdicts against an Ising machine; each seed has data of its own, of T = 3, where 64 steps forget."""
    pool, machine = sample(LATTICE, 3.0, n_seeds * n_samples, seed=1), ising_rbm(LATTICE, temperature)
    found = [
        quality(machine, pool[k * n_samples : (k + 1) * n_samples], n_chains=128, n_steps=64, seed=k)
        for k in range(n_seeds)
    ]
    return np.mean([not replace(one, false_alarms=rate).is_equilibrium for one in found])


def test_false_alarms_are_as_rare_as_asked():
    """Bonferroni's bound for correlated quantities: at most the rate, and the counting error of the seeds."""
    assert share_of_alarms(3.0, 0.05, 60) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_a_machine_that_leaves_the_data_slowly_is_found():
    """In five steps from data the machine at T = 2.2 does not get where it goes."""
    assert share_of_alarms(2.2, 1e-3, 6) == 1


# The paper's way at two hundred times its rate.
CD_5 = {"recipe": "paper", "learning_rate": 2e-2, "epochs": 80}


def trained(temperature, n_steps=256, **changes):
    """The verdict on a machine by chains of n_steps; changes: arguments of `train`."""
    data = sample(Lattice((32, 32)), temperature, 2000, seed=1)
    rbm = train(data, n_hidden=64, seed=1, threads=1, **changes).rbm
    return quality(rbm, data, n_chains=128, n_steps=n_steps, seed=3)


def test_contrastive_divergence_near_the_transition_is_out_of_equilibrium():
    """Five steps from data know nothing of where chains from random spins go."""
    found = trained(2.25, **CD_5)
    assert "chains from data and from random spins differ" in found.verdict
    assert by_name(found.comparisons)["abs_magnetization"].z_score < -found.limit


@pytest.mark.slow
def test_fast_machines_come_nearer_to_the_data_than_plain_contrastive_divergence():
    """By long chains: near T_c they climb from random spins through modes of ever stronger order."""
    plain, fast = (by_name(trained(2.25, n_steps=4096, **changes).comparisons) for changes in (CD_5, {}))
    for quantity in ("abs_magnetization", "correlation_r8"):
        assert abs(fast[quantity].z_score) < abs(plain[quantity].z_score)


@pytest.mark.slow
def test_fast_machines_away_from_the_transition_are_in_equilibrium():
    assert trained(3.0).verdict == "equilibrium"


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
