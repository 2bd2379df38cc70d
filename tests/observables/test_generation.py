"""Hidden starts and what grows from them."""

import numpy as np
import pytest

from oracles.chi_squared import p_value, state_numbers
from oracles.random_inputs import random_machine
from oracles.rbm_enumeration import EnumeratedRBM
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model import RBM
from thermorbm.observables import (
    configuration_series,
    generate,
    linear_probability,
    magnetization_probability,
    stepwise_probability,
)
from thermorbm.observables.generation import hidden_start


def test_probabilities_by_temperature():
    assert [stepwise_probability(t) for t in (0.5, 2.0, 2.25, 2.5, 4.0)] == [1, 1, 0.75, 0.5, 0.5]
    assert [linear_probability(t, 2.0, 2.5) for t in (1.0, 2.0, 2.25, 2.5, 3.0)] == [1, 1, 0.75, 0.5, 0.5]
    assert [magnetization_probability(m) for m in (0.0, 0.5, 1.0)] == [0.5, 0.75, 1]


@pytest.mark.parametrize("p_h", [0.5, 0.8, 1.0])
def test_starts_follow_the_filter_sums_as_often_as_asked(p_h):
    machine, n = random_machine(50, 30), 4000
    h = hidden_start(machine, p_h, n, seed=1)
    pattern = np.sign(machine.W.sum(axis=1))
    overlap = (h * pattern).mean(axis=1)  # +-(2 p_h - 1) by the sign of m
    error = np.sqrt(4 * p_h * (1 - p_h) / h.size)
    if p_h > 0.5:
        assert abs(np.abs(overlap).mean() - (2 * p_h - 1)) < 4 * error + 1e-12
    assert abs((overlap > 0).mean() - (overlap < 0).mean()) < 4 / np.sqrt(n)
    assert abs(h.mean(axis=0)).max() < 5 / np.sqrt(n)


def test_one_step_reconstruction_has_the_enumerated_distribution():
    machine, n = random_machine(4, 5, seed=8), 40_000
    truth = EnumeratedRBM(machine.W, machine.b, machine.c)
    pattern = np.where(machine.W.sum(axis=1) < 0, -1, 1)
    data = generate(machine, 1.0, n, steps=0, seed=3)
    expected = np.zeros(len(truth.v_states))
    for sign in (1, -1):
        up = np.array(truth.p_visible(sign * pattern))
        expected += np.prod(np.where(truth.v_states > 0, up, 1 - up), axis=1) / 2
    numbers = state_numbers(truth.v_states)
    counts = np.bincount(state_numbers(data.spins()), minlength=len(numbers))
    assert p_value(counts[numbers], expected) > 1e-6


def test_many_steps_reach_the_machines_own_distribution():
    machine = random_machine(3, 4, seed=9)
    truth = EnumeratedRBM(machine.W, machine.b, machine.c)
    data = generate(machine, 0.5, 30_000, steps=40, seed=4)
    numbers = state_numbers(truth.v_states)
    counts = np.bincount(state_numbers(data.spins()), minlength=len(numbers))
    assert p_value(counts[numbers], truth.p_v) > 1e-6


def test_ordered_start_of_a_ferromagnetic_machine_is_magnetised():
    lattice = Lattice((4, 4))
    machine = RBM(np.full((20, 16), 0.3), np.zeros(16), np.zeros(20))
    ordered = configuration_series(generate(machine, 1.0, 200, 0, 5, lattice, 1.0))
    random = configuration_series(generate(machine, 0.5, 200, 0, 5, lattice, 1.0))
    assert ordered.abs_magnetization.mean() > 0.99
    assert random.abs_magnetization.mean() < 0.9
    assert ordered.energy.mean() < random.energy.mean()


def test_blocks_cover_every_start(small_blocks):
    data = generate(random_machine(3, 16), 0.7, 10, 1, seed=6)
    assert (len(data), data.n_sites, data.lattice) == (10, 16, None)
    assert data.provenance["p_h"] == 0.7
    again = generate(random_machine(3, 16), 0.7, 10, 1, seed=6)
    np.testing.assert_array_equal(data.packed, again.packed)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: generate(random_machine(2, 4), 1.2, 5), "p_h must be a probability, got 1.2"),
        (lambda: generate(random_machine(2, 4), 0.5, 0), "n must be a whole number >= 1"),
        (lambda: linear_probability(2.0, 2.5, 2.0), "0 < low < high"),
        (lambda: magnetization_probability(1.5), r"a number in \[0, 1\]"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
