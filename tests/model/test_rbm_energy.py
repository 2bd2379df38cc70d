"""Energies, gradients and ln Z against enumeration, finite differences and another package."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.neural_network import BernoulliRBM

from oracles.rbm_enumeration import EnumeratedRBM, mean_log_likelihood
from thermorbm.errors import InputError
from thermorbm.model import RBM
from thermorbm.model.energy import log_2cosh, log_2cosh_sum, softplus

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def some_configurations(n, n_visible, seed=0):
    return np.random.default_rng(seed).choice([-1, 1], size=(n, n_visible))


def test_joint_energy_is_the_definition(rbm, parameters):
    truth = EnumeratedRBM(*parameters)
    for k, h in enumerate(truth.h_states):
        all_h = np.tile(h, (len(truth.v_states), 1))
        np.testing.assert_allclose(rbm.joint_energy(truth.v_states, all_h), truth.energy[:, k], **EXACT)


def test_visible_energy_sums_over_hidden_states(rbm, parameters):
    truth = EnumeratedRBM(*parameters)
    expected = [truth.visible_energy(v) for v in truth.v_states]
    np.testing.assert_allclose(rbm.visible_energy(truth.v_states), expected, **EXACT)


def test_log_partition_and_likelihood(rbm, parameters):
    truth = EnumeratedRBM(*parameters)
    log_z = rbm.log_partition()
    assert log_z.value == pytest.approx(truth.log_z, abs=1e-10)
    assert (log_z.error, log_z.lower, log_z.upper) == (0.0, log_z.value, log_z.value)
    expected = [truth.log_likelihood(v) for v in truth.v_states]
    np.testing.assert_allclose(rbm.log_likelihood(truth.v_states), expected, **EXACT)


def test_log_partition_is_streamed_over_many_blocks(monkeypatch):
    rng = np.random.default_rng(5)
    wide = RBM(rng.normal(size=(12, 30)), rng.normal(size=30), rng.normal(size=12))
    whole = wide.log_partition().value
    monkeypatch.setattr("thermorbm.model.units._ELEMENTS_PER_BLOCK", 30 * 100)  # 100 of 4096 states at a time
    assert wide.log_partition().value == pytest.approx(whole, rel=1e-13)
    turned = RBM(wide.W.T, wide.c, wide.b)  # layers exchanged: the other branch, the same Z
    assert turned.log_partition().value == pytest.approx(whole, rel=1e-13)


def test_log_partition_of_free_units():
    b = np.array([0.3, -2.0, 400.0])
    machine = RBM(np.zeros((2, 3)), b, np.zeros(2))
    assert machine.log_partition().value == pytest.approx(2 * np.log(2) + log_2cosh(b).sum(), rel=1e-14)


def test_mean_gradient_is_minus_that_of_the_visible_energy(rbm, parameters):
    v = some_configurations(7, rbm.n_visible)
    gradient = rbm.mean_gradient(v)
    step = 1e-6
    for k, name in enumerate(("W", "b", "c")):
        for place in np.ndindex(parameters[k].shape):
            energies = []
            for sign in (1, -1):
                moved = [array.copy() for array in parameters]
                moved[k][place] += sign * step
                energies.append(RBM(*moved).visible_energy(v).mean())
            slope = (energies[0] - energies[1]) / (2 * step)
            assert gradient[name][place] == pytest.approx(-slope, abs=1e-8)


def test_likelihood_gradient_against_enumeration(rbm, parameters):
    """Data term minus model term is the gradient of ln p; the model's v are enumerated with their weights."""
    truth = EnumeratedRBM(*parameters)
    data = some_configurations(9, rbm.n_visible, seed=1)
    expected = truth.likelihood_gradient(data)
    over_data = rbm.mean_gradient(data)
    for name in ("W", "b", "c"):
        over_model = sum(
            p * rbm.mean_gradient(v)[name] for p, v in zip(truth.p_v, truth.v_states, strict=True)
        )
        np.testing.assert_allclose(over_data[name] - over_model, expected[name], **EXACT)


def test_enumerated_gradient_against_finite_differences():
    rng = np.random.default_rng(3)
    parameters = [rng.normal(size=(2, 3)) / 2, rng.normal(size=3) / 2, rng.normal(size=2) / 2]
    data = some_configurations(5, 3, seed=2)
    gradient = EnumeratedRBM(*parameters).likelihood_gradient(data)
    for k, name in enumerate(("W", "b", "c")):
        for place in np.ndindex(parameters[k].shape):
            values = []
            for sign in (1, -1):
                moved = [array.copy() for array in parameters]
                moved[k][place] += sign * 1e-5
                values.append(mean_log_likelihood(*moved, data))
            assert gradient[name][place] == pytest.approx((values[0] - values[1]) / 2e-5, abs=1e-8)


def test_permuting_hidden_units_changes_nothing(rbm, parameters):
    W, b, c = parameters
    order = np.random.default_rng(0).permutation(len(c))
    other = RBM(W[order], b, c[order])
    v = some_configurations(20, rbm.n_visible)
    np.testing.assert_allclose(other.visible_energy(v), rbm.visible_energy(v), rtol=1e-13)
    np.testing.assert_allclose(other.pseudo_likelihood(v), rbm.pseudo_likelihood(v), rtol=1e-12)
    assert other.log_partition().value == pytest.approx(rbm.log_partition().value, rel=1e-13)


def test_same_distribution_as_scikit_learn_with_units_0_and_1(rbm, parameters):
    """v = 2s - 1, h = 2g - 1 turns W, b, c into 4W, 2b - 2 W^T 1, 2c - 2 W 1 and a constant."""
    W, b, c = parameters
    theirs = BernoulliRBM(n_components=len(c))
    theirs.components_ = 4 * W
    theirs.intercept_visible_ = 2 * b - 2 * W.sum(axis=0)
    theirs.intercept_hidden_ = 2 * c - 2 * W.sum(axis=1)
    constant = b.sum() + c.sum() - W.sum()
    v = EnumeratedRBM(W, b, c).v_states
    their_energies = theirs._free_energy((v + 1) / 2)
    np.testing.assert_allclose(rbm.visible_energy(v), their_energies + constant, **EXACT)
    ours = -rbm.visible_energy(v)
    np.testing.assert_allclose(
        np.exp(ours - logsumexp(ours)), np.exp(-their_energies - logsumexp(-their_energies)), rtol=1e-10
    )


def test_rows_are_worked_on_in_blocks(monkeypatch):
    rng = np.random.default_rng(4)
    machine = RBM(rng.normal(size=(3, 6)), rng.normal(size=6), rng.normal(size=3))
    v, h = some_configurations(50, 6), some_configurations(50, 3)
    whole = [machine.visible_energy(v), machine.joint_energy(v, h), machine.pseudo_likelihood(v)]
    gradient = machine.mean_gradient(v)
    monkeypatch.setattr("thermorbm.model.units._ELEMENTS_PER_BLOCK", 6 * 7)
    parts = [machine.visible_energy(v), machine.joint_energy(v, h), machine.pseudo_likelihood(v)]
    np.testing.assert_allclose(parts, whole, rtol=1e-13)
    for name, array in machine.mean_gradient(v).items():
        np.testing.assert_allclose(array, gradient[name], rtol=1e-13, atol=1e-15)


def test_float32_machine_keeps_its_type_and_float64_sums():
    rng = np.random.default_rng(6)
    W, b, c = rng.normal(size=(40, 300)) * 0.1, rng.normal(size=300), rng.normal(size=40)
    single = RBM(W.astype(np.float32), b.astype(np.float32), c.astype(np.float32))
    double = RBM(single.W.astype(np.float64), single.b, single.c)
    v = some_configurations(30, 300)
    assert single.W.dtype == single.b.dtype == single.p_hidden(v).dtype == np.float32
    assert single.visible_energy(v).dtype == np.float64
    np.testing.assert_allclose(single.visible_energy(v), double.visible_energy(v), rtol=1e-6, atol=1e-4)
    few = RBM(single.W[:8], single.b, single.c[:8])
    exact = RBM(double.W[:8], double.b, double.c[:8]).log_partition().value
    assert few.log_partition().value == pytest.approx(exact, rel=1e-14)


def test_integer_and_single_configurations_are_accepted(rbm):
    v = some_configurations(3, rbm.n_visible)
    whole = rbm.visible_energy(v)
    np.testing.assert_array_equal(rbm.visible_energy(v.astype(np.int8)), whole)
    np.testing.assert_array_equal(rbm.visible_energy(v.astype(np.float32)), whole)
    np.testing.assert_allclose(rbm.visible_energy(v[1]), whole[1:2], rtol=1e-14)
    assert rbm.visible_energy(v[:0]).shape == (0,)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0, 400.0, 1e6])
def test_elementary_functions(scale):
    x = np.random.default_rng(7).normal(size=(4, 1300)) * scale
    np.testing.assert_allclose(log_2cosh(x), np.logaddexp(x, -x), rtol=1e-15)
    np.testing.assert_allclose(log_2cosh_sum(x), np.logaddexp(x, -x).sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(softplus(x), np.logaddexp(0, x), rtol=1e-14)


def test_too_many_units_for_enumeration():
    machine = RBM(np.zeros((23, 40)), np.zeros(40), np.zeros(23))
    with pytest.raises(InputError, match="23 hidden and 40 visible"):
        machine.log_partition()
