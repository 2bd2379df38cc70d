"""The path on which order is there from the start, against machines that are summed over state by state."""

import numpy as np
import pytest
from scipy.special import ndtr

from oracles.chi_squared import p_value
from oracles.rbm_enumeration import EnumeratedRBM
from thermorbm import RBM, SymmetricRBM
from thermorbm.errors import InputError
from thermorbm.model.annealing import anneal
from thermorbm.model.first_run import first_run
from thermorbm.model.ordered_path import OrderedPath, ordered_path, path_along
from thermorbm.model.partition import log_partition_ais
from thermorbm.model.random_units import generator_state

N = 144


def tiny(n_collective):
    """Four visible units in the pattern + + - +, and hidden units of which the first follow it."""
    rng, pattern = np.random.default_rng(5), np.array([1.0, 1.0, -1.0, 1.0])
    W = 0.15 * rng.normal(size=(7, 4))
    W -= np.outer(W @ pattern, pattern) / 4 - 0.01 * pattern
    collective = [[0.5, -0.5], [0.5, -0.5, 0.5]][n_collective - 2]
    W[:n_collective] = np.outer(collective, pattern) + 0.1 * rng.normal(size=(n_collective, 4))
    c = 0.2 * rng.normal(size=7)
    c[:n_collective] += [[1.0, 1.0], [1.0, 0.0, -1.0]][n_collective - 2]
    return RBM(W, 0.2 * rng.normal(size=4), c)


def bent(machine, n_collective):
    """Its path, with thresholds that go up and down on the way, as after an adaptation."""
    path = ordered_path(machine, generator_state(1))
    assert sorted(path.units) == list(range(n_collective))
    betas = np.array([0.0, 0.4, 1.0])
    waves = np.array([[0.5], [-0.3], [0.0]]) * np.arange(1, n_collective + 1)
    return path_along(machine, betas, path.thresholds[-1] + waves)


def on_the_path(path, beta):
    """The enumerated machine at beta: every weight and bias written out."""
    rbm, u = path.machine, path.pattern
    W, c = beta * rbm.W, beta * rbm.c
    for unit, weight, threshold in zip(path.units, path.weights, path.at(np.array([beta]))[0], strict=True):
        W[unit] += (1 - beta) * weight * u
        c[unit] = threshold
    field = rbm.b @ u / rbm.n_visible
    return EnumeratedRBM(W, beta * rbm.b + (1 - beta) * field * u, c)


def states(v):
    """How often each state occurs, in the order of the enumeration."""
    return np.bincount((v > 0) @ (1 << np.arange(v.shape[1])[::-1]), minlength=1 << v.shape[1])


@pytest.mark.parametrize("n_collective", [2, 3])
def test_works_are_differences_of_enumerated_energies(n_collective):
    path = bent(tiny(n_collective), n_collective)
    here, there = on_the_path(path, 0.3), on_the_path(path, 0.8)
    v = here.v_states.astype(float)
    work = path.work(v, path.machine.hidden_inputs(v), np.full(len(v), 0.3), np.full(len(v), 0.8))
    energies = [[truth.visible_energy(row) for row in v] for truth in (here, there)]
    np.testing.assert_allclose(work, np.subtract(*energies), rtol=1e-12, atol=1e-12)
    assert path.log_start == pytest.approx(on_the_path(path, 0.0).log_z, rel=1e-13)


@pytest.mark.parametrize("n_collective", [2, 3])
def test_at_its_end_is_the_machine_itself(n_collective):
    machine = tiny(n_collective)
    last = on_the_path(bent(machine, n_collective), 1.0)
    np.testing.assert_allclose(last.W, machine.W)
    np.testing.assert_allclose(last.c, machine.c)
    np.testing.assert_allclose(last.b, machine.b)


@pytest.mark.parametrize("n_collective", [2, 3])
def test_chains_start_in_the_distribution_of_its_begin_and_steps_keep_that_of_their_rung(n_collective):
    path, n, state = bent(tiny(n_collective), n_collective), 50_000, generator_state(3)
    assert p_value(states(path.start(n, state)), on_the_path(path, 0.0).p_v) > 1e-4
    truth = on_the_path(path, 0.6)
    v = truth.v_states[np.random.default_rng(3).choice(16, n, p=truth.p_v)].astype(float)
    for _ in range(4):
        path.gibbs(v, path.machine.hidden_inputs(v), np.full(n, 0.6), state)
    assert p_value(states(v), truth.p_v) > 1e-4


def test_weights_of_both_directions_are_unbiased():
    path, n, state = bent(tiny(3), 3), 100_000, generator_state(5)
    truth, betas = on_the_path(path, 1.0), np.linspace(0, 1, 4)
    there = anneal(path, betas, path.start(n, state), state)
    v = truth.v_states[np.random.default_rng(6).choice(16, n, p=truth.p_v)].astype(float)
    back = anneal(path, betas[::-1], v, state)
    for run, ratio in ((there, truth.log_z - path.log_start), (back, path.log_start - truth.log_z)):
        w = np.exp(run.log_weights - ratio)
        assert abs(w.mean() - 1) < 4 * w.std() / np.sqrt(n)


def wide(seed=1, n_others=13, weak=0.35, strong=0.8):
    """Modes of weak and of strong order, between thresholds, and others that make weak order heavier."""
    rng = np.random.default_rng(seed)
    others = rng.normal(size=(n_others, N))
    others -= others.mean(axis=1, keepdims=True)
    others *= 0.95 / np.linalg.norm(others, axis=1, keepdims=True)
    fields = np.array([-strong, -weak, weak, strong])
    levels = -N * np.log(np.cosh(fields)) + np.array([4.0, 0.0, 0.0, 4.0])
    W = np.concatenate([np.tile(np.diff(fields)[:, None] / 2, N), others])
    c = np.concatenate([np.diff(levels) / 2, 0.05 * rng.normal(size=n_others)])
    return RBM(W, np.zeros(N), c)


@pytest.mark.parametrize(("weak", "strong", "between"), [(0.35, 0.8, 0.5), (0.8, 1.3, 0.75)])
def test_thresholds_follow_so_that_modes_keep_their_weights(weak, strong, between):
    """Exact shares of weak order: at the begin from all M, at the end from all hidden states.

    In the second machine weak order is strong too: its mode lies far from the middle between thresholds.
    """
    machine = wide(weak=weak, strong=strong)
    path, end = ordered_path(machine, generator_state(1)), logit(weak_order(machine, between))
    fixed = path_along(machine, path.betas[[0, -1]], path.thresholds[[-1, -1]])
    assert abs(weak_order_at_begin(path, between) - end) < 0.25
    assert abs(weak_order_at_begin(fixed, between) - end) > 1.0


def weak_order_at_begin(path, between):
    M, log_shares = path._log_shares
    shares = np.exp(log_shares - log_shares.max())
    return logit(shares[np.abs(M) < between * N].sum() / shares.sum())


def weak_order(machine, between):
    """P(|m| < between), from normal laws of M at every hidden state: sums of many spins."""
    h = np.array(np.meshgrid(*[[-1.0, 1.0]] * machine.n_hidden, indexing="ij")).reshape(machine.n_hidden, -1)
    y = h.T @ machine.W + machine.b
    log_p = np.logaddexp(y, -y).sum(axis=1) + machine.c @ h
    p = np.exp(log_p - log_p.max())
    mean, spread = np.tanh(y).sum(axis=1), np.sqrt((1 / np.cosh(y) ** 2).sum(axis=1))
    inside = ndtr((between * N - mean) / spread) - ndtr((-between * N - mean) / spread)
    return float((p * inside).sum() / p.sum())


def logit(p):
    return float(np.log(p / (1 - p)))


@pytest.mark.parametrize("seed", [1, 2, 6, 8])
def test_ln_z_of_modes_between_thresholds_is_exact_within_its_error(seed):
    """Chains of the other path are fewer in the heavy mode; one of them can make its bound the larger one."""
    machine = wide()
    exact = machine.log_partition("exact").value
    found = log_partition_ais(machine, seed=seed)
    assert found.is_trusted
    assert found.thresholds.shape == (found.n_rungs + 1, 3)
    assert abs(found.value - exact) < 4 * found.error
    assert found.error < 0.2


def test_the_recorded_path_is_the_same_again():
    machine = wide()
    path = ordered_path(machine, generator_state(1))
    betas = np.linspace(0, 1, 17)
    again = path_along(machine, **path.recorded(betas))
    assert again.log_start == path.log_start
    np.testing.assert_array_equal(again.at(betas), path.at(betas))


def test_the_upper_bound_of_the_entropy_goes_along_the_same_path():
    """At least the entropy of the machine's own configurations, and close to it."""
    machine = wide()
    ln_z = log_partition_ais(machine, seed=1)
    v = machine.gibbs(np.sign(np.random.default_rng(1).normal(0.5, 1, (400, N))), 200, seed=2)
    exact = machine.visible_energy(v).mean() + machine.log_partition("exact").value
    bound = machine.entropy_upper_bound(v, 3, betas=ln_z.betas, thresholds=ln_z.thresholds)
    assert exact - 4 * bound.error < bound.value < exact + 3 + 4 * bound.error


def test_thresholds_of_another_machine_are_refused():
    machine = wide()
    with pytest.raises(InputError, match=r"shape of thresholds must be \(5, 3\)"):
        path_along(machine, np.linspace(0, 1, 5), np.zeros((5, 2)))
    with pytest.raises(InputError, match="thresholds of the last rung must be the machine's own"):
        path_along(machine, np.linspace(0, 1, 5), np.ones((5, 3)))


@pytest.mark.parametrize(
    "machine",
    [
        RBM(np.random.default_rng(1).normal(size=(6, 8)), np.zeros(8), np.zeros(6)),
        RBM(np.zeros((6, 8)), np.zeros(8), np.zeros(6)),
        RBM(
            np.vstack([np.ones(8), 1e-3 * np.random.default_rng(2).normal(size=(5, 8))]),
            np.zeros(8),
            np.zeros(6),
        ),
        RBM(np.ones((1, 1)), np.zeros(1), np.zeros(1)),
        SymmetricRBM(np.full((1, 2, 2), 0.3), (4, 4)),
    ],
)
def test_machines_without_collective_units_have_no_such_path(machine):
    assert ordered_path(machine, generator_state(1)) is None
    assert not isinstance(first_run(machine, "auto", 8, np.random.SeedSequence(1)).path, OrderedPath)
