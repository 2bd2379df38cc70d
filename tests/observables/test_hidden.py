"""The hidden layer against enumeration and the sign rule counted pair by pair."""

import numpy as np
import pytest

from oracles.observables import sign_rule
from oracles.random_inputs import random_machine, random_spins
from oracles.rbm_enumeration import EnumeratedRBM
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.model import RBM, generator_state, sample_units
from thermorbm.observables import (
    hidden_encoding,
    hidden_magnetization_histogram,
    permutation_difference,
    wrap_hidden,
)


def with_ties():
    """Unit 1 has filter sum 0; half of the configurations of even size can have m = 0."""
    W = random_machine(4, 6, seed=1).W.copy()
    W[1] = [1, -1, 2, -2, 0, 0]
    return RBM(W, np.zeros(6), np.zeros(4)), Dataset.from_spins(random_spins(200, 6, seed=2))


def test_sign_rule_pair_by_pair():
    machine, data = with_ties()
    encoding = hidden_encoding(machine, data, seed=7)
    h = sample_units(machine.hidden_inputs(data.spins()), generator_state(7))  # the same draws
    assert encoding.sign_rule.value == pytest.approx(sign_rule(machine.W, data.spins(), h))
    np.testing.assert_allclose(encoding.magnetization, h.mean(axis=1), atol=1e-15)
    assert encoding.n_tied_units == 1
    assert encoding.n_tied_samples == np.sum(data.spins().sum(axis=1) == 0) > 0
    assert len(encoding.obeying) == len(data) - encoding.n_tied_samples


def test_mean_hidden_magnetization_is_the_enumerated_one():
    machine = random_machine(4, 5, seed=3)
    truth = EnumeratedRBM(machine.W, machine.b, machine.c)
    v = truth.v_states[9]
    data = Dataset.from_spins(np.tile(v, (20_000, 1)))
    m_h = hidden_encoding(machine, data, seed=1).magnetization
    expected = 2 * np.mean(truth.p_hidden(v)) - 1
    assert abs(m_h.mean() - expected) < 4 * m_h.std() / np.sqrt(len(m_h))


def test_strong_ferromagnetic_filters_obey_the_rule_always():
    signs = np.array([1, -1, 1, 1, -1])
    machine = RBM(np.outer(signs, np.ones(9)) * 5, np.zeros(9), np.zeros(5))
    encoding = hidden_encoding(machine, Dataset.from_spins(random_spins(50, 9)))
    assert encoding.sign_rule.value == 1
    assert encoding.n_tied_samples == encoding.n_tied_units == 0


def test_streaming_does_not_change_what_is_counted(monkeypatch):
    machine, data = with_ties()
    sharp = RBM(machine.W * 1e3, machine.b, np.full(4, 100.0))  # draws do not depend on the generator
    whole = hidden_encoding(sharp, data)
    monkeypatch.setattr("thermorbm.dataset.BLOCK_SPINS", 18)
    parts = hidden_encoding(sharp, data)
    np.testing.assert_array_equal(parts.obeying, whole.obeying)
    np.testing.assert_array_equal(parts.magnetization, whole.magnetization)


def test_nothing_to_count_is_not_a_number():
    machine = RBM(np.zeros((3, 4)), np.zeros(4), np.zeros(3))
    assert np.isnan(hidden_encoding(machine, Dataset.from_spins(random_spins(9, 4))).sign_rule.value)


@pytest.mark.parametrize("n_hidden", [1, 2, 3, 99, 100, 101, 400, 900])
@pytest.mark.parametrize("most_bins", [1, 10, 100])
def test_histogram_bins_split_the_possible_values_evenly(n_hidden, most_bins):
    values = (2 * np.arange(n_hidden + 1) - n_hidden) / n_hidden
    found = hidden_magnetization_histogram(values, n_hidden, most_bins)
    counts = found.density * np.diff(found.edges) * len(values)
    assert len(counts) <= most_bins + 1
    assert counts.sum() == pytest.approx(n_hidden + 1)
    np.testing.assert_allclose(counts, counts[::-1], atol=1e-9)
    np.testing.assert_allclose(counts[1:-1], counts[len(counts) // 2], atol=1e-9)


def test_hidden_layers_are_wrapped_to_squares():
    h = random_spins(2, 400)
    assert wrap_hidden(h).shape == (2, 20, 20)
    np.testing.assert_array_equal(wrap_hidden(h).reshape(2, -1), h)
    odd = wrap_hidden(np.ones(7))
    assert odd.shape == (1, 2, 4)
    assert odd[0, 1, 3] == 0


def test_bad_histogram():
    with pytest.raises(InputError, match="whole numbers >= 1"):
        hidden_magnetization_histogram([0.0], 0)


class Uneven(RBM):
    """Its first hidden unit counts twice, so that places matter."""

    def visible_energy(self, v):
        return super().visible_energy(v) - self.hidden_inputs(v)[:, 0]


def test_places_of_hidden_units_do_not_matter():
    machine, v = random_machine(6, 8, seed=4), random_spins(20, 8)
    assert permutation_difference(machine, v, seed=1) < 1e-12
    assert permutation_difference(Uneven(machine.W, machine.b, machine.c), v, seed=1) > 1e-3
