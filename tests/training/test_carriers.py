"""Units that carry the order together: what they add up to, and the magnetisation of free spins with them."""

import numpy as np
import pytest
import torch
from scipy.special import gammaln, logsumexp

from thermorbm import RBM, sample, train
from thermorbm.training.carriers import ONE, Amplitudes, carriers, find_amplitudes
from thermorbm.training.dense import DenseLayers

N = 900
NONE = np.zeros((0, N))
SIGNS = np.resize([1.0, -1.0], 4000)


def wandering(low, high, n=4000, seed=1):
    """m of configurations of either sign whose strength of order is anywhere between low and high."""
    rng = np.random.default_rng(seed)
    m = rng.uniform(low, high, n) * rng.choice([-1, 1], n)
    return 2 * rng.binomial(N, (1 + m) / 2) / N - 1


def magnetisation(W, c):
    """m and its exact distribution for free spins beside hidden units with one weight each."""
    up = np.arange(N + 1)
    total = 2 * up - N
    inputs = W[:, :1] * total + c[:, None]
    logs = gammaln(N + 1) - gammaln(up + 1) - gammaln(N - up + 1) + np.logaddexp(inputs, -inputs).sum(axis=0)
    return total / N, np.exp(logs - logsumexp(logs))


def carried(m, most):
    mean = np.abs(m).mean()
    strengths = np.full(N, mean)
    amplitudes = find_amplitudes(m / mean, strengths, most)
    return amplitudes, *carriers(strengths, amplitudes, NONE)


def test_inputs_add_up_to_the_largest_mode():
    """Slow: every mode of either sign by itself, and the largest of them, up to one constant."""
    strengths = np.linspace(0.2, 0.6, N)
    amplitudes = Amplitudes(np.array([0.3, 0.8, 1.5]), np.array([0.5, 0.2, 0.3]))
    W, c = carriers(strengths, amplitudes, NONE)
    assert W.shape == (5, N)
    fields = [sign * np.arctanh(a * strengths) for a in amplitudes.values for sign in (1, -1)]
    levels = [
        np.log(share) - np.log(np.cosh(np.arctanh(a * strengths))).sum()
        for a, share in zip(amplitudes.values, amplitudes.shares, strict=True)
        for _ in (1, -1)
    ]
    v = np.sign(np.random.default_rng(1).normal(np.linspace(-1, 1, 50)[:, None], 1, (50, N)))
    largest = np.max([v @ f + d for f, d in zip(fields, levels, strict=True)], axis=0)
    difference = np.abs(v @ W.T + c).sum(axis=1) - largest
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)


def test_free_spins_get_the_order_of_the_data():
    """Mean and standard deviation of |m|; a single unit keeps |m| more than five times too narrow."""
    drawn = wandering(0.05, 0.65)
    sizes = np.abs(drawn)
    amplitudes, W, c = carried(drawn, 32)
    assert len(W) == amplitudes.n_carriers > 5
    m, p = magnetisation(W, c)
    mean = p @ np.abs(m)
    assert mean == pytest.approx(sizes.mean(), abs=0.02)
    assert np.sqrt(p @ (np.abs(m) - mean) ** 2) == pytest.approx(sizes.std(), rel=0.1)
    m, p = magnetisation(*carried(drawn, 1)[1:])
    assert np.sqrt(p @ (np.abs(m) - p @ np.abs(m)) ** 2) < sizes.std() / 5


def test_few_turned_spins_need_one_mode():
    """Free spins of which five are turned on average: 1 to 10 of them are just beyond four widths."""
    rng = np.random.default_rng(1)
    m = (1 - 2 * rng.binomial(N, 5 / N, 4000) / N) * rng.choice([-1, 1], 4000)
    assert carried(m, 32)[0] is ONE


def test_modes_have_their_shares():
    amplitudes = Amplitudes(np.array([0.5, 1.5]), np.array([0.9, 0.1]))
    W, c = carriers(np.full(N, 0.4), amplitudes, NONE)
    m, p = magnetisation(W, c)
    assert p[np.abs(m) > 0.4].sum() == pytest.approx(0.1, abs=0.005)


@pytest.mark.parametrize(
    "m",
    [
        np.random.default_rng(2).normal(0.9, 0.44 / 30, 4000) * SIGNS,  # as free spins in a field scatter
        np.random.default_rng(3).normal(0, 1 / 30, 4000),  # no order
        SIGNS,
        np.abs(wandering(0.05, 0.65)),  # one sign alone
    ],
)
def test_an_order_of_one_strength_or_sign_takes_one_unit(m):
    strengths = np.full(N, min(np.abs(m).mean(), 0.999))
    assert find_amplitudes(m / strengths[0], strengths, 32) is ONE


@pytest.mark.parametrize(("most", "number"), [(1, 1), (2, 1), (3, 3), (4, 3), (9, 9)])
def test_no_more_units_than_allowed(most, number):
    assert carried(wandering(0.05, 0.65), most)[0].n_carriers == number


def test_data_without_order_at_all():
    assert find_amplitudes(np.zeros(10), np.zeros(N), 32) is ONE


def test_thresholds_are_not_rounded_to_bfloat16():
    rng = np.random.default_rng(1)
    W, c = rng.normal(0, 0.1, (6, 64)), np.array([183.3, -183.3, 0.1, 0.2, 0.3, 0.4])
    W[:2] += np.array([[-2.9], [2.9]])
    layers = DenseLayers({"W": W, "b": np.zeros(64), "c": c}, torch.device("cpu"), torch.bfloat16, 2)
    v = np.where(rng.random((50, 64)) < 0.99, 1, -1)
    x = layers.hidden_inputs(torch.tensor(v, dtype=torch.bfloat16)).float().numpy()
    exact = v @ W.T + c
    assert np.abs(exact[:, :2]).max() < 30
    np.testing.assert_allclose(x[:, :2], exact[:, :2], rtol=2**-8, atol=1e-3)


def test_near_t_c_several_carriers_are_nearer_to_the_data():
    """8x8 at T = 2.4: likelihood of configurations apart, with ln Z summed exactly, one by one."""
    data = sample((8, 8), temperature=2.4, n_samples=6000, seed=1, progress=False)
    train_data, held_out = data[:4000], data[4000:].spins()
    one, several = (
        train(train_data, n_hidden=16, epochs=20, carriers=n, seed=1, threads=1, progress=False).rbm
        for n in (1, 32)
    )
    assert (np.abs(several.c[:3]) > 1).sum() == 2
    gain = _surprise(one, held_out) - _surprise(several, held_out)
    assert gain.mean() > 4 * gain.std() / np.sqrt(len(gain))


def test_both_signs_stay_equally_likely_below_t_c():
    """Units that mirror each other keep the same weights and opposite thresholds."""
    data = sample((16, 16), temperature=2.1, n_samples=1000, seed=1, progress=False)
    rbm = train(data, n_hidden=16, epochs=5, least_updates=100, seed=1, threads=1, progress=False).rbm
    assert np.abs(rbm.c[0]) > 1
    np.testing.assert_allclose(rbm.c[2], -rbm.c[0], rtol=1e-5)
    np.testing.assert_allclose(rbm.W[2], rbm.W[0], rtol=1e-5)


def _surprise(machine: RBM, v):
    """-ln p(v), nats."""
    return machine.visible_energy(v) + machine.log_partition("exact").value


def test_without_biases_one_unit_carries_the_order():
    data = sample((8, 8), temperature=2.4, n_samples=2000, seed=1, progress=False)
    rbm = train(data, n_hidden=20, epochs=1, zero_bias=True, seed=1, threads=1, progress=False).rbm
    assert not rbm.c.any()
    assert np.abs(rbm.W[0].mean()) > 3 * np.abs(rbm.W[1:3].mean(axis=1)).max()
