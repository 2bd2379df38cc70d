"""Replica exchange on an enumerated 4x3 machine, and what it gains over plain Gibbs chains."""

from itertools import islice

import numpy as np
import pytest

from oracles.chi_squared import p_value
from oracles.random_inputs import random_parameters
from oracles.rbm_enumeration import EnumeratedRBM
from thermorbm.errors import InputError
from thermorbm.model import RBM
from thermorbm.model.gibbs import accepted, exchange_steps, meeting_rows, replica_energy, swap_log_ratio

BETAS = np.array([1.0, 0.6])


def machine(scale=0.9, seed=2):
    """Four visible and three hidden units, and the enumeration of each replica: all parameters times beta."""
    parameters = random_parameters(3, 4, seed, scale)
    return RBM(*parameters), [EnumeratedRBM(*(beta * array for array in parameters)) for beta in BETAS]


def gibbs_matrix(truth):
    """(16, 16): probability of v -> v' through h."""
    given_v = truth.p / truth.p_v[:, None]
    given_h = truth.p / truth.p.sum(axis=0)
    return given_v @ given_h.T


def swap_matrix(rbm, truths):
    """(256, 256): probability of (v_0, v_1) -> (v_1, v_0), from the package's own log ratio."""
    first, second = (grid.ravel() for grid in np.meshgrid(np.arange(16), np.arange(16), indexing="ij"))
    v = truths[0].v_states[np.concatenate([first, second])].astype(float)
    energy = replica_energy(rbm, v, rbm.hidden_inputs(v), np.repeat(BETAS, 256))
    a, b = meeting_rows(2, 256, 0)
    probability = np.minimum(1, np.exp(swap_log_ratio(energy, a, b)))
    matrix = np.diag(1 - probability)
    matrix[np.arange(256), 16 * second + first] += probability
    return matrix


def stationary(matrix):
    """The probabilities that the matrix keeps: p (M - 1) = 0, sum p = 1."""
    n = len(matrix)
    equations = np.vstack([matrix.T - np.eye(n), np.ones(n)])
    return np.linalg.lstsq(equations, np.append(np.zeros(n), 1), rcond=None)[0]


def total_variation(p, q):
    return np.abs(p - q).sum() / 2


def test_the_transition_matrix_keeps_every_replica_at_machine_precision():
    rbm, truths = machine()
    joint = np.outer(truths[0].p_v, truths[1].p_v).ravel()
    swaps = swap_matrix(rbm, truths)
    steps = np.kron(gibbs_matrix(truths[0]), gibbs_matrix(truths[1]))
    assert total_variation(joint @ swaps, joint) < 1e-15
    assert total_variation(stationary(swaps @ steps), joint) < 1e-13


def test_a_wrong_rule_would_show():
    rbm, truths = machine()
    joint = np.outer(truths[0].p_v, truths[1].p_v).ravel()
    exact = swap_matrix(rbm, truths)
    always = np.where(exact + np.eye(256) > 0, 1.0, 0.0) * (1 - np.eye(256))
    always += np.diag(1 - always.sum(axis=1))
    assert total_variation(joint @ always, joint) > 0.01


def test_acceptance_is_metropolis():
    log_ratio = np.repeat([-3.0, -0.5, 0.0, 2.0], 40_000)
    rate = accepted(log_ratio, np.random.default_rng(1)).reshape(4, -1).mean(axis=1)
    expected = np.minimum(1, np.exp([-3.0, -0.5, 0.0, 2.0]))
    assert (np.abs(rate - expected) <= 4 * np.sqrt(expected * (1 - expected) / 40_000)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tempered_chains_have_the_enumerated_distributions(dtype):
    rbm, truths = machine()
    rbm = RBM(rbm.W.astype(dtype), rbm.b, rbm.c)
    found = rbm.temper(np.ones((30_000, 4)), steps=40, seed=3, betas=BETAS)
    assert found.v.shape == (2, 30_000, 4)
    for truth, v in zip(truths, found.v, strict=True):
        counts = np.bincount((v > 0) @ (1 << np.arange(4)[::-1]), minlength=16)
        assert p_value(counts, truth.p_v) > 1e-4
    joint = np.outer(truths[0].p_v, truths[1].p_v)
    rate = np.minimum(joint, joint.T).sum()
    assert found.swap_rates[0] == pytest.approx((1 + 19 * rate) / 20, abs=0.01)  # the first of 20 is sure


def test_meeting_rows():
    a, b = meeting_rows(4, 2, 0)
    assert (a.tolist(), b.tolist()) == ([0, 1, 4, 5], [2, 3, 6, 7])
    a, b = meeting_rows(4, 2, 1)
    assert (a.tolist(), b.tolist()) == ([2, 3], [4, 5])
    assert not len(meeting_rows(1, 5, 0)[0])


def test_configurations_are_followed_through_the_replicas():
    """Between equal replicas every exchange is made, and configurations walk up and down the ladder."""
    rbm, _ = machine()
    steps = list(islice(map(copied_walkers, exchange_steps(rbm, np.ones((2, 4)), [1.0] * 4, 1)), 4))
    assert [step[:, 0].tolist() for step in steps] == [[1, 0, 3, 2], [1, 3, 0, 2], [3, 1, 2, 0], [3, 2, 1, 0]]
    assert all(np.array_equal(step[:, 0], step[:, 1]) for step in steps)


def copied_walkers(now):
    return now.walkers.copy()


def test_tempering_is_where_the_steps_lead():
    rbm, _ = machine()
    start = np.ones((10, 4))
    *_, last = islice(exchange_steps(rbm, start, BETAS, 1), 7)
    found = rbm.temper(start, 7, 1, BETAS)
    assert np.array_equal(found.v, last.v)
    assert last.tried.tolist() == [10, 0]
    assert np.array_equal(np.sort(last.walkers, axis=0), np.repeat([[0], [1]], 10, axis=1))


def test_tempering_crosses_a_barrier_that_stops_plain_chains():
    """Two modes of opposite magnetisation: chains that start in one should spread over both."""
    n = 60
    rbm = RBM(np.full((1, n), 4.0 / np.sqrt(n)), np.zeros(n), np.zeros(1))
    start = np.ones((64, n))
    plain = rbm.gibbs(start, steps=300, seed=1)
    tempered = rbm.temper(start, steps=300, seed=1, betas=np.linspace(1, 0.3, 8))
    crossed = [np.mean(v.sum(axis=1) < 0) for v in (plain, tempered.v[0])]
    assert crossed[0] < 0.1
    assert abs(crossed[1] - 0.5) < 4 * 0.5 / np.sqrt(64)
    assert (tempered.swap_rates > 0.2).all()


def test_the_seed_alone_decides():
    rbm, _ = machine()
    start = np.ones((10, 4))
    first, same, other = (rbm.temper(start, 20, seed, BETAS).v for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
    assert np.isnan(rbm.temper(start, 1, 1, [1.0, 0.9, 0.8]).swap_rates[1])  # not tried yet


@pytest.mark.parametrize("betas", [[], [[1.0]], [1.0, -0.1], [1.0, float("nan")]])
def test_bad_ladders(betas):
    rbm, _ = machine()
    with pytest.raises(InputError, match="betas must be one or more finite inverse temperatures >= 0"):
        rbm.temper(np.ones((2, 4)), 3, 1, betas)
