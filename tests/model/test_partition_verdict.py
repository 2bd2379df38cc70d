"""The verdict on ln Z: modes that all chains miss, weight on a few chains, halves that differ."""

import math

import numpy as np
import pytest

from thermorbm.model import RBM
from thermorbm.model.annealing import Anneal, crossing
from thermorbm.model.first_run import pattern_bound
from thermorbm.model.path import leading_patterns, make_path
from thermorbm.model.sandwich import Equilibrium, Sandwich


def field_machine():
    """An ordered machine: visible biases prefer one mode, hidden biases the other, by about 10 nats."""
    rng = np.random.default_rng([3, 5, 10])
    n_hidden, n_visible = int(rng.integers(6, 13)), int(rng.integers(60, 401))
    strength = rng.uniform(1.0, 3.0) / math.sqrt(n_hidden * n_visible)
    W = strength * (1 + 0.3 * rng.standard_normal((n_hidden, n_visible)))
    b = -rng.uniform(0, 0.4) + 0.05 * rng.standard_normal(n_visible)
    c = rng.uniform(0, 4.0) + 0.2 * rng.standard_normal(n_hidden)
    return RBM(W, b, c)


def test_a_mode_that_all_chains_missed_is_found_by_reversed_ones():
    machine = field_machine()
    truth = machine.log_partition("exact").value
    found = machine.log_partition("ais", seed=5, n_chains=64, most_rungs=512)
    assert truth - found.value > 50 * found.error  # the other mode: works and halves agree all the same
    assert abs(found.halves) < 3
    assert not found.is_trusted
    assert found.verdict.startswith("out of equilibrium: reversed chains find a mode heavier by")


def made(forward, reverse, families=None, drift=0.0):
    """A sandwich of given works."""
    n = len(forward)
    both = crossing(forward, reverse, np.random.default_rng(1))
    order = (both.forward.value - both.reverse.value) / np.hypot(both.forward.error, both.reverse.error)
    equilibrium = Equilibrium(10, families or n, drift, float(order))
    return Sandwich(np.array([0.0, 1.0]), Anneal(forward[None]), Anneal(reverse[None]), both, equilibrium)


def normal_works(d, spread, n, seed):
    rng = np.random.default_rng(seed)
    return (rng.normal(sign * d - spread**2 / 2, spread, size=n) for sign in (1, -1))


def test_signs_that_are_small_alone_count_together():
    forward, reverse = normal_works(7.0, 0.5, 64, seed=1)
    assert made(forward, reverse).doubt is None
    assert made(forward, reverse, drift=2.0).doubt is None
    split = np.where(np.arange(64) % 2, forward + 0.35, forward - 0.35)
    assert made(split, reverse, drift=3.0).doubt.startswith("doubtful: drift +3.0")


def test_weight_on_a_few_chains_is_doubtful():
    forward, reverse = normal_works(7.0, 0.5, 64, seed=2)
    forward[0] += 6
    found = made(forward, reverse)
    assert found.worth < 5
    assert found.doubt.startswith("doubtful: all weight is on")


def test_few_families_widen_the_error():
    forward, reverse = normal_works(7.0, 0.5, 64, seed=3)
    assert made(forward, reverse, families=8).error == pytest.approx(
        made(forward, reverse).error * math.sqrt((1 + 64 / 8) / 2)
    )


def test_two_chains_are_too_few_for_any_trust():
    found = field_machine().log_partition("ais", seed=1, n_chains=2, n_rungs=4)
    assert found.halves == 0
    assert not found.is_trusted


def first_order_machine():
    """Two hidden units whose fields on a random pattern cancel, until a share of the spins lie along it."""
    rng = np.random.default_rng([1, 0, 11])
    n_visible, strength = int(rng.integers(40, 121)), rng.uniform(0.6, 1.2)
    threshold = rng.uniform(0.15, 0.4) * n_visible * strength
    pattern = strength * rng.choice([-1.0, 1.0], size=n_visible)
    W = np.vstack([pattern, pattern, 0.1 * rng.standard_normal((6, n_visible))])
    return RBM(W, 0.05 * rng.standard_normal(n_visible), np.array([-threshold, threshold] + [0.0] * 6))


def test_a_mode_behind_a_first_order_transition_is_found_along_the_weights():
    machine = first_order_machine()
    truth = machine.log_partition("exact").value
    found = machine.log_partition("ais", seed=0, n_chains=64, most_rungs=32, start="bias")
    assert truth - found.value > 50 * found.error  # works, halves and both directions agree all the same
    assert abs(found.halves) < 3
    assert not found.is_trusted
    assert found.verdict.startswith("out of equilibrium: chains along the weights' patterns find a mode")


def test_the_bound_along_patterns_stays_below_ln_z():
    """The mean weight is Z, so that no bound is far above ln Z in units of its error."""
    excess = []
    for seed in range(20):
        rng = np.random.default_rng([7, seed])
        machine = RBM(rng.standard_normal((10, 30)) / 4, 0.3 * rng.standard_normal(30), np.zeros(10))
        betas = np.linspace(0, 1, 257)
        bound = pattern_bound(make_path(machine), betas, 64, np.random.SeedSequence(seed))
        if bound is not None:
            excess.append((bound.value - machine.log_partition("exact").value) / bound.error)
    assert len(excess) >= 10
    assert max(excess) < 4
    assert np.mean(excess) < 1  # from one mode alone a bound, not an estimate


def test_leading_patterns_are_those_of_the_singular_vectors():
    rng = np.random.default_rng(5)
    u, _ = np.linalg.qr(rng.standard_normal((12, 12)))
    w, _ = np.linalg.qr(rng.standard_normal((40, 40)))
    W = (u * 2.0 ** -np.arange(12)) @ w[:, :12].T
    found = leading_patterns(RBM(W, rng.standard_normal(40), rng.standard_normal(12)), 8)
    assert found.shape == (8, 40)
    agreement = np.abs((found[:4] * np.sign(w[:, :4].T)).mean(axis=1))
    assert (agreement == 1).all()


def test_a_machine_without_weights_has_its_ln_z():
    machine = RBM(np.zeros((3, 6)), np.full(6, 0.3), np.zeros(3))
    found = machine.log_partition("ais", seed=1)
    assert found.is_trusted
    assert found.value == pytest.approx(machine.log_partition("exact").value, abs=4 * found.error + 1e-9)


def test_more_rungs_are_spent_only_where_the_value_is_doubted():
    rng = np.random.default_rng(4)
    strong, weak = (
        RBM(scale * rng.standard_normal((12, 60)), np.zeros(60), np.zeros(12)) for scale in (1, 0.05)
    )
    options = {"seed": 1, "most_rungs": 8, "n_chains": 64}
    few = strong.log_partition("ais", **options)
    assert not few.is_trusted
    more = strong.log_partition("ais", most_doubted=2048, **options)
    assert more.n_rungs > 8
    assert more.is_trusted
    assert abs(more.value - strong.log_partition("exact").value) < 4 * more.error
    assert weak.log_partition("ais", most_doubted=2048, width=1e-6, **options).n_rungs == 8
