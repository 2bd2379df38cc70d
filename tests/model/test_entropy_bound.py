"""The bound on the entropy holds for any machine and any number of rungs."""

import numpy as np
import pytest

from oracles.bond_machine import BondMachine
from oracles.random_inputs import random_parameters
from oracles.rbm_enumeration import EnumeratedRBM
from thermorbm.errors import InputError
from thermorbm.exact import kaufman
from thermorbm.lattice import Lattice
from thermorbm.model import RBM
from thermorbm.model.entropy_bound import entropy_upper_bound
from thermorbm.model.partition import LEAST_WIDTH
from thermorbm.samples import sample


def source(seed=1, n=2000):
    """Configurations of an enumerated machine, and their exact entropy."""
    truth = EnumeratedRBM(*random_parameters(4, 6, seed, scale=0.8))
    v = truth.v_states[np.random.default_rng(seed).choice(64, n, p=truth.p_v)]
    return truth, v, -float(truth.p_v @ np.log(truth.p_v))


@pytest.mark.parametrize("n_rungs", [1, 2, 10])
@pytest.mark.parametrize(("start", "guide"), [("bias", 0.0), ("zero", 0.0), ("bias", 0.8)])
def test_it_holds_for_a_foreign_machine_and_few_rungs(n_rungs, start, guide):
    _, v, entropy = source()
    foreign = RBM(*random_parameters(3, 6, seed=9, scale=0.7))
    options = {"betas": np.linspace(0, 1, n_rungs + 1), "start": start, "guide": guide}
    bound = foreign.entropy_upper_bound(v, seed=1, **options)
    assert bound.value - 4 * bound.error > entropy


def test_with_many_rungs_it_is_the_negative_log_likelihood():
    truth, v, entropy = source()
    foreign = RBM(*random_parameters(3, 6, seed=9, scale=0.4))
    bound = foreign.entropy_upper_bound(v, seed=1, betas=np.linspace(0, 1, 401))
    log_likelihood = foreign.log_likelihood(v)
    assert abs(bound.value + log_likelihood.mean()) < 4 * bound.error
    own = RBM(truth.W, truth.b, truth.c).entropy_upper_bound(v, seed=1, betas=np.linspace(0, 1, 401))
    assert abs(own.value - entropy) < 4 * own.error


@pytest.mark.parametrize("temperature", [1.5, 2.3, 3.0])
def test_the_machine_that_is_the_ising_model_bounds_its_entropy_closely(temperature):
    v = sample(Lattice((8, 8)), temperature, 256, seed=3).spins()
    bound = entropy_upper_bound(BondMachine(8, temperature), v, seed=1)
    entropy = 64 * kaufman(8, temperature).entropy
    # Rungs are planned for a variance of ln w of at most this width, and half of the variance is lost work.
    lost = LEAST_WIDTH / 2
    assert entropy - 4 * bound.error < bound.value < entropy + lost + 4 * bound.error


def test_the_seed_alone_decides_and_rungs_may_come_from_the_partition_function():
    _, v, _ = source(n=600)  # more than one block of chains
    rbm = RBM(*random_parameters(3, 6, seed=9))
    betas = rbm.log_partition("ais", seed=1).betas
    first, same, other = (rbm.entropy_upper_bound(v, seed=seed, betas=betas) for seed in (1, 1, 2))
    assert first == same
    assert first.value != other.value


def test_bad_input():
    rbm = RBM(*random_parameters(3, 6, seed=9))
    with pytest.raises(InputError, match="v must be two or more, for an error, got '1 configurations'"):
        rbm.entropy_upper_bound(np.ones(6))
    with pytest.raises(InputError, match="n_chains must be a whole number >= 2, got 0"):
        rbm.entropy_upper_bound(np.ones((2, 6)), n_chains=0)
    for betas in ([], [0.0], [0, 2, 1], [0.1, 1], [[0, 1]], [0, float("nan"), 1]):
        with pytest.raises(InputError, match="betas must be inverse temperatures that rise from 0 to 1"):
            rbm.entropy_upper_bound(np.ones((2, 6)), betas=betas)
