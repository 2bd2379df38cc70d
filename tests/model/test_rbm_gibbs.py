"""Conditionals, draws, chains and cross entropy against enumeration."""

import numpy as np
import pytest

from oracles.rbm_enumeration import EnumeratedRBM, total_variation_floor
from thermorbm.model import RBM
from thermorbm.model.gibbs import cross_entropy_given_hidden

N_CHAINS = 200_000


def small_machine(seed=11, n_hidden=4, n_visible=6, scale=0.6):
    rng = np.random.default_rng(seed)
    shapes = ((n_hidden, n_visible), (n_visible,), (n_hidden,))
    parameters = [rng.normal(size=shape) * scale for shape in shapes]
    return RBM(*parameters), EnumeratedRBM(*parameters)


def histogram(states):
    """Frequencies of +-1 rows in the order of the enumeration."""
    numbers = ((states + 1) // 2).astype(np.int64) @ (1 << np.arange(states.shape[1])[::-1])
    return np.bincount(numbers, minlength=1 << states.shape[1]) / len(states)


def total_variation(p, q):
    return np.abs(p - q).sum() / 2


def test_conditionals(rbm, parameters):
    truth = EnumeratedRBM(*parameters)
    p_hidden = [truth.p_hidden(v) for v in truth.v_states]
    p_visible = [truth.p_visible(h) for h in truth.h_states]
    np.testing.assert_allclose(rbm.p_hidden(truth.v_states), p_hidden, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(rbm.p_visible(truth.h_states), p_visible, rtol=1e-10, atol=1e-10)


def test_draws_follow_the_conditionals():
    machine, truth = small_machine()
    v, h = truth.v_states[37], truth.h_states[5]
    p_h, p_v = truth.p[37] / truth.p[37].sum(), truth.p[:, 5] / truth.p[:, 5].sum()
    drawn_h = machine.sample_hidden(np.tile(v, (N_CHAINS, 1)), seed=1)
    drawn_v = machine.sample_visible(np.tile(h, (N_CHAINS, 1)), seed=2)
    assert drawn_h.dtype == drawn_v.dtype == np.int8
    assert total_variation(histogram(drawn_h), p_h) < total_variation_floor(p_h, N_CHAINS)
    assert total_variation(histogram(drawn_v), p_v) < total_variation_floor(p_v, N_CHAINS)


@pytest.mark.parametrize("steps", [1, 4, 16])
def test_gibbs_leaves_the_target_invariant(steps):
    machine, truth = small_machine()
    start = np.random.default_rng(20).choice(len(truth.p_v), size=N_CHAINS, p=truth.p_v)
    end = machine.gibbs(truth.v_states[start], steps=steps, seed=steps)
    assert total_variation(histogram(end), truth.p_v) < total_variation_floor(truth.p_v, N_CHAINS)


def test_the_floor_is_low_enough_to_notice_a_wrong_target():
    machine, truth = small_machine()
    _, slightly_wrong = small_machine(scale=0.57)
    start = np.random.default_rng(20).choice(len(truth.p_v), size=N_CHAINS, p=truth.p_v)
    end = machine.gibbs(truth.v_states[start], steps=4, seed=4)
    assert total_variation(histogram(end), slightly_wrong.p_v) > total_variation_floor(truth.p_v, N_CHAINS)


def test_gibbs_forgets_its_start():
    machine, truth = small_machine(scale=0.4)
    end = machine.gibbs(-np.ones((N_CHAINS, 6)), steps=60, seed=5)
    assert total_variation(histogram(end), truth.p_v) < total_variation_floor(truth.p_v, N_CHAINS)


def test_float32_chains_have_the_same_target():
    machine, truth = small_machine()
    single = RBM(machine.W.astype(np.float32), machine.b, machine.c)
    start = np.random.default_rng(21).choice(len(truth.p_v), size=N_CHAINS, p=truth.p_v)
    end = single.gibbs(truth.v_states[start], steps=4, seed=6)
    assert total_variation(histogram(end), truth.p_v) < total_variation_floor(truth.p_v, N_CHAINS)


def test_draws_depend_on_the_seed_alone():
    machine, truth = small_machine()
    v, h = truth.v_states, truth.h_states
    for draw in (
        lambda seed: machine.gibbs(v, steps=3, seed=seed),
        lambda seed: machine.sample_hidden(v, seed=seed),
        lambda seed: machine.sample_visible(h, seed=seed),
        lambda seed: machine.cross_entropy(v, seed=seed),
        lambda seed: machine.pseudo_likelihood_estimate(v, seed=seed),
    ):
        np.testing.assert_array_equal(draw(7), draw(7))
        np.testing.assert_array_equal(draw(7), draw(np.random.SeedSequence(7)))
        assert (draw(7) != draw(8)).any()


def test_no_steps_give_the_start_back():
    machine, truth = small_machine()
    np.testing.assert_array_equal(machine.gibbs(truth.v_states, steps=0, seed=1), truth.v_states)


def test_cross_entropy_given_h_averages_to_the_enumerated_one(rbm, parameters):
    truth = EnumeratedRBM(*parameters)
    for v, p in zip(truth.v_states[::5], truth.p[::5], strict=True):
        all_v = np.tile(v, (len(truth.h_states), 1))
        mean = p @ cross_entropy_given_hidden(rbm, all_v, truth.h_states) / p.sum()
        assert mean == pytest.approx(truth.cross_entropy(v), abs=1e-10)


def test_cross_entropy_has_the_enumerated_expectation():
    machine, truth = small_machine()
    for k in (0, 21, 63):
        v = np.tile(truth.v_states[k], (50_000, 1))
        entropy = machine.cross_entropy(v, seed=k)
        error = entropy.std() / np.sqrt(len(entropy))
        assert abs(entropy.mean() - truth.cross_entropy(truth.v_states[k])) < 5 * error
