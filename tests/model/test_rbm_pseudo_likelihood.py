"""The product kernel of the pseudo-likelihood against enumeration and full visible energies."""

import numpy as np
import pytest

from oracles.rbm_enumeration import EnumeratedRBM, flip_energies_one_by_one
from thermorbm.model import RBM


def machine_and_spins(scale, n_hidden=37, n_visible=150, n=4, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    W = (rng.normal(size=(n_hidden, n_visible)) * scale).astype(dtype)
    b, c = rng.normal(size=n_visible).astype(dtype), rng.normal(size=n_hidden).astype(dtype)
    return RBM(W, b, c), rng.choice([-1, 1], size=(n, n_visible)).astype(np.int8)


def test_against_enumeration(rbm, parameters):
    truth = EnumeratedRBM(*parameters)
    expected = [truth.pseudo_likelihood(v) for v in truth.v_states]
    np.testing.assert_allclose(rbm.pseudo_likelihood(truth.v_states), expected, rtol=1e-10, atol=1e-10)


# hidden inputs of about 0.1, 1, 12, 50, 250, 2500 (runs of one factor) and 12000 (beyond any product)
@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0, 4.0, 20.0, 50.0, 1000.0])
def test_flip_energies_at_any_size_of_weight(scale):
    machine, v = machine_and_spins(scale)
    expected = [flip_energies_one_by_one(machine.W, machine.b, machine.c, row) for row in v]
    # the oracle subtracts two energies of about n_hidden |x|, known to 1e-15 of that
    size = np.abs(machine.visible_energy(v)).max()
    np.testing.assert_allclose(machine.flip_energies(v), expected, rtol=1e-12, atol=1e-10 + 3e-15 * size)


@pytest.mark.parametrize("x", [5.0, 18.0, 19.0, 50.0, 300.0])
def test_saturated_units_keep_their_relative_accuracy(x):
    """One unit at input x = W v flipped across zero and beyond, where 1 - tanh tanh would cancel."""
    machine = RBM([[x / 2, x / 2]], np.zeros(2), np.zeros(1))
    cost = machine.flip_energies(np.array([[1, 1]]))  # from ln 2cosh(x) to ln 2cosh(0)
    expected = x + np.log1p(np.exp(-2 * x)) - np.log(2)
    np.testing.assert_allclose(cost, [[expected, expected]], rtol=1e-14)


def test_rare_flips_are_not_lost():
    machine = RBM(np.zeros((1, 2)), [20.0, 30.0], np.zeros(1))
    expected = np.exp(-40.0) + np.exp(-60.0)  # ln(1 + e^-40), far below the rounding of 1
    np.testing.assert_allclose(machine.pseudo_likelihood(np.array([[1, 1]])), [expected], rtol=1e-12)


@pytest.mark.parametrize("scale", [0.05, 0.5, 5.0, 40.0])
def test_float32_weights(scale):
    machine, v = machine_and_spins(scale, n_hidden=200, n_visible=300, dtype=np.float32)
    double = RBM(machine.W.astype(np.float64), machine.b, machine.c)
    np.testing.assert_allclose(machine.pseudo_likelihood(v), double.pseudo_likelihood(v), rtol=1e-5)


@pytest.mark.parametrize("scale", [0.1, 4.0])
def test_one_site_at_a_time(scale):
    machine, v = machine_and_spins(scale, n=3)
    all_sites = machine.flip_energies(v)
    for j in range(0, machine.n_visible, 13):
        one = machine.flip_energy(v, np.full(len(v), j))
        np.testing.assert_allclose(one, all_sites[:, j], rtol=1e-11, atol=1e-10)


def test_estimate_from_one_random_site_is_unbiased():
    machine, v = machine_and_spins(0.2, n=1)
    exact = machine.pseudo_likelihood(v)[0]
    estimates = machine.pseudo_likelihood_estimate(np.tile(v, (20_000, 1)), seed=3)
    assert abs(estimates.mean() - exact) < 5 * estimates.std() / np.sqrt(len(estimates))
