"""Thresholds that are set at the end of training: modes become as likely as they are in the data."""

import numpy as np
import pytest
from numpy.random import SeedSequence
from scipy.special import gammaln, logsumexp

from thermorbm import RBM, Dataset, sample, train
from thermorbm.training.carriers import carriers, find_amplitudes
from thermorbm.training.settling import settled

N = 400
NONE = np.zeros((0, N))


@pytest.fixture(scope="module")
def free_spins():
    """Configurations of free spins in fields of many strengths, and the carriers that are made for them."""
    rng = np.random.default_rng(1)
    m = rng.uniform(0.1, 0.75, 6000) * rng.choice([-1, 1], 6000)
    v = np.where(rng.random((6000, N)) < (1 + m[:, None]) / 2, 1, -1).astype(np.int8)
    own = v.mean(axis=1)
    strengths = np.full(N, np.abs(own).mean())
    return Dataset.from_spins(v), *carriers(
        strengths, find_amplitudes(own / strengths[0], strengths, 32), NONE
    )


def weak_order(W, c, below=0.4):
    """ln of the odds of |m| < 0.4 for free spins beside such units, summed over all m."""
    up = np.arange(N + 1)
    total = 2 * up - N
    inputs = W[:, :1] * total + c[:, None]
    logs = gammaln(N + 1) - gammaln(up + 1) - gammaln(N - up + 1) + np.logaddexp(inputs, -inputs).sum(axis=0)
    inside = np.abs(total) < below * N
    return float(logsumexp(logs[inside]) - logsumexp(logs[~inside]))


def tilted(W, c):
    """All thresholds a nat too far out, so that every mode is too likely beside the next stronger one."""
    return RBM(W, np.zeros(N), c + np.sign(c))


def test_thresholds_that_are_all_a_nat_off_are_found_again(free_spins):
    data, W, c = free_spins
    assert len(c) > 6
    inside = np.abs(data.spins().mean(axis=1)) < 0.4
    wanted = np.log(inside.mean() / (1 - inside.mean()))
    before = tilted(W, c)
    after = settled(before, len(c), 400, data, SeedSequence(2))
    assert weak_order(before.W, before.c) - wanted > 3
    assert abs(weak_order(after.W, after.c) - wanted) < 0.5
    np.testing.assert_array_equal(after.W, before.W)
    np.testing.assert_array_equal(after.b, before.b)


def test_both_signs_stay_alike_and_the_seed_alone_decides(free_spins):
    data, W, c = free_spins
    first, same, other = (settled(tilted(W, c), len(c), 20, data, SeedSequence(k)) for k in (1, 1, 2))
    np.testing.assert_allclose(first.c, -first.c[::-1], atol=1e-12)
    np.testing.assert_array_equal(first.c, same.c)
    assert not np.array_equal(first.c, other.c)


def test_only_thresholds_of_carriers_move(free_spins):
    data, W, c = free_spins
    more = RBM(np.concatenate([W, np.zeros((3, N))]), np.zeros(N), np.concatenate([c, [0.1, 0.2, 0.3]]))
    after = settled(more, len(c), 10, data, SeedSequence(1))
    np.testing.assert_array_equal(after.c[len(c) :], more.c[len(c) :])
    assert np.abs(after.c[: len(c)] - c).max() > 0


def test_training_ends_with_it():
    data = sample((16, 16), temperature=2.4, n_samples=2000, seed=1, progress=False)
    options = {"n_hidden": 40, "epochs": 2, "seed": 3, "progress": False, "precision": "fp32"}
    plain, whole = (train(data, **options, settling=n).rbm for n in (0, 30))
    np.testing.assert_array_equal(plain.W, whole.W)
    changed = np.flatnonzero(plain.c != whole.c)
    n_carriers = changed.max() + 1
    assert n_carriers >= 3
    np.testing.assert_allclose(changed, np.delete(np.arange(n_carriers), n_carriers // 2))
    again = settled(plain, n_carriers, 30, data, SeedSequence(3).spawn(5)[-1])
    np.testing.assert_array_equal(whole.c, again.c)


def test_fewer_configurations_than_chains(free_spins):
    data, W, c = free_spins
    assert np.isfinite(settled(RBM(W, np.zeros(N), c), len(c), 5, data[:7], SeedSequence(1)).c).all()
