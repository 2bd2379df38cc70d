"""Sums, filters and correlations of W, one element at a time."""

import numpy as np
import pytest

from oracles.observables import inverse_filter_correlation as pair_by_pair
from oracles.random_inputs import random_machine
from thermorbm.errors import InputError
from thermorbm.exact import ising_rbm
from thermorbm.lattice import Lattice
from thermorbm.model import RBM
from thermorbm.observables import (
    couplings,
    filter_sums,
    inverse_filter_correlation,
    inverse_filter_sums,
    majority_shares,
    wrap_filters,
)
from thermorbm.observables.weights import hidden_bias, visible_bias


def test_sums_of_rows_and_columns(machine):
    rows, columns = filter_sums(machine), inverse_filter_sums(machine)
    np.testing.assert_allclose(rows.totals, machine.W.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(columns.totals, machine.W.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(rows.normalised, machine.W.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(columns.normalised, machine.W.mean(axis=0), rtol=1e-12)


def test_variance_of_absolute_filter_sums_is_that_of_figure_3b(machine):
    sums = [sum(row) for row in machine.W]
    plain = sum(s * s for s in sums) / len(sums) - (sum(abs(s) for s in sums) / len(sums)) ** 2
    assert filter_sums(machine).abs_variance.value == pytest.approx(plain, rel=1e-12)


def test_error_of_the_variance_is_its_spread_over_machines():
    found = [filter_sums(random_machine(300, 20, seed)).abs_variance for seed in range(60)]
    spread = np.std([variance.value for variance in found], ddof=1)
    quoted = np.mean([variance.error for variance in found])
    assert quoted == pytest.approx(spread, rel=4 / np.sqrt(2 * 59))  # error of a standard deviation


def test_single_precision_sums_do_not_lose_digits():
    single = random_machine(4, 4096, dtype=np.float32)
    exact = single.W.astype(np.float64).sum(axis=1)
    np.testing.assert_allclose(filter_sums(single).totals, exact, rtol=1e-12)


def test_biases_and_couplings(machine):
    np.testing.assert_array_equal(hidden_bias(machine), machine.c)
    np.testing.assert_array_equal(visible_bias(machine), machine.b)
    np.testing.assert_array_equal(couplings(machine), machine.W)


class Shared(RBM):
    """A machine that holds its weights in another form."""

    @property
    def parameters(self):
        return {"kernel": self.W.ravel(), "b": self.b, "c": self.c}


def test_couplings_of_a_machine_that_does_not_hold_w(machine):
    other = Shared(machine.W, machine.b, machine.c)
    np.testing.assert_allclose(couplings(other), machine.W, atol=1e-14)


def test_filters_are_wrapped_in_c_order(machine, lattice):
    wrapped = wrap_filters(machine, lattice, [3, 1])
    assert wrapped.shape == (2, *lattice.shape)
    np.testing.assert_array_equal(wrapped.reshape(2, -1), machine.W[[3, 1]])
    with pytest.raises(InputError, match="hidden units from 0 to 4, got 5"):
        wrap_filters(machine, lattice, [0, 5])


def test_inverse_filter_correlation_pair_by_pair(machine, lattice, small_blocks):
    curve = inverse_filter_correlation(machine, lattice)
    expected = pair_by_pair(lattice.shape, machine.W)
    np.testing.assert_allclose(curve.distances, list(expected), atol=1e-9)
    np.testing.assert_allclose(curve.values, list(expected.values()), atol=1e-12)
    assert curve.n_pairs.sum() == lattice.n_sites


def test_correlation_errors_are_the_spread_over_machines():
    lattice = Lattice((4, 4))
    curves = [inverse_filter_correlation(random_machine(200, 16, seed), lattice) for seed in range(60)]
    spread = np.std([curve.values for curve in curves], axis=0, ddof=1)
    quoted = np.mean([curve.errors for curve in curves], axis=0)
    assert quoted[0] == spread[0] == 0
    np.testing.assert_allclose(quoted[1:], spread[1:], rtol=4 / np.sqrt(2 * 59))


def test_inverse_filters_of_the_ising_machine_overlap_at_distance_one_only():
    """A site shares one hidden unit with each of its 2 d neighbours and has 2 d of its own."""
    lattice = Lattice((5, 5))
    curve = inverse_filter_correlation(ising_rbm(lattice, 2.0), lattice)
    expected = np.where(curve.distances == 1, 0.25, curve.distances == 0)
    np.testing.assert_allclose(curve.values, expected, atol=1e-14)
    assert curve.at(1).value == pytest.approx(0.25)
    assert curve.at(1.2).value == pytest.approx(0.25)


def test_correlation_of_one_unit_or_no_weights_has_no_error():
    lattice = Lattice((4, 4))
    assert np.isnan(inverse_filter_correlation(random_machine(1, 16), lattice).errors).all()
    nothing = RBM(np.zeros((3, 16)), np.zeros(16), np.zeros(3))
    assert not inverse_filter_correlation(nothing, lattice).values.any()


def test_wrong_lattice_and_distance():
    machine = random_machine(3, 16)
    with pytest.raises(InputError, match="one of 16 sites"):
        inverse_filter_correlation(machine, Lattice((4, 5)))
    with pytest.raises(InputError, match=r"between 0 and 2\.828"):
        inverse_filter_correlation(machine, Lattice((4, 4))).at(3)


def test_the_share_of_the_majority_sign():
    W = np.array([[1.0, 2.0, -0.5, 3.0], [-1.0, -2.0, -0.1, -3.0], [1.0, -1.0, 1.0, -1.0]])
    np.testing.assert_array_equal(majority_shares(RBM(W, np.zeros(4), np.zeros(3))), [0.75, 1.0, 0.5])


def test_random_signs_have_the_majority_that_chance_gives():
    n_visible, n_hidden = 400, 500
    W = np.random.default_rng(1).normal(size=(n_hidden, n_visible))
    shares = majority_shares(RBM(W, np.zeros(n_visible), np.zeros(n_hidden)))
    expected = 0.5 + 1 / np.sqrt(2 * np.pi * n_visible)
    assert abs(shares.mean() - expected) < 4 * shares.std() / np.sqrt(n_hidden)
