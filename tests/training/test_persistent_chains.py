"""Persistent chains on an enumerated 4x3 machine: they keep its distribution, start anew and are reversed."""

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy.special import expit

from oracles.chi_squared import p_value
from oracles.rbm_enumeration import EnumeratedRBM, total_variation_floor
from thermorbm.training import chains as chains_module
from thermorbm.training.chains import DataChains, PersistentChains, WarmChains
from thermorbm.training.dense import DenseLayers
from thermorbm.training.units import KernelUnits, TorchUnits

CPU = torch.device("cpu")
N_CHAINS = 60_000


def machine(scale=0.9, seed=2, dtype=torch.float32):
    """Four visible and three hidden units, and their enumeration."""
    rng = np.random.default_rng(seed)
    shapes = {"W": (3, 4), "b": (4,), "c": (3,)}
    parameters = {name: (rng.normal(size=s) * scale).astype(np.float32) for name, s in shapes.items()}
    truth = EnumeratedRBM(*(a.astype(np.float64) for a in parameters.values()))
    return DenseLayers(parameters, CPU, dtype), truth


def equilibrium(truth, seed=3):
    """(N_CHAINS, 4) from the machine's own distribution."""
    rows = truth.v_states[np.random.default_rng(seed).choice(16, N_CHAINS, p=truth.p_v)]
    return torch.tensor(rows, dtype=torch.float32)


def counts_of_states(chains):
    """(16,) in the order of the enumeration."""
    up = chains.state["chains"].float().numpy() > 0
    return np.bincount(up @ (1 << np.arange(4)[::-1]), minlength=16)


def total_variation(counts, p):
    return np.abs(counts / counts.sum() - p).sum() / 2


def run(layers, truth, n_updates, steps=1, source=KernelUnits, seed=4, dtype=torch.float32):
    start = equilibrium(truth).to(dtype)
    chains = PersistentChains(layers, source(SeedSequence(seed)), steps, start)
    for update in range(n_updates):
        chains.negative_phase(start, start, update)
    return chains


@pytest.mark.parametrize(
    ("source", "steps", "n_updates"),
    [(KernelUnits, 1, 24), (KernelUnits, 3, 8), (lambda seed: TorchUnits(seed, CPU), 1, 12)],
    ids=["kernel", "kernel, 3 steps", "torch"],
)
def test_chains_keep_their_distribution(source, steps, n_updates):
    layers, truth = machine()
    counts = counts_of_states(run(layers, truth, n_updates, steps, source))
    assert total_variation(counts, truth.p_v) < total_variation_floor(truth.p_v, N_CHAINS)
    assert p_value(counts, truth.p_v) > 1e-4


def test_bfloat16_chains_have_the_same_target():
    """Rounded inputs move each conditional by at most about 2^-9 |x|; the floor grows by that much."""
    layers, truth = machine(dtype=torch.bfloat16)
    counts = counts_of_states(run(layers, truth, n_updates=24, dtype=torch.bfloat16))
    assert total_variation(counts, truth.p_v) < total_variation_floor(truth.p_v, N_CHAINS) + 2.0**-8


def test_the_floor_is_low_enough_to_notice_a_wrong_reversal(monkeypatch):
    """Every chain reversed, whatever it costs."""
    monkeypatch.setattr(chains_module, "unit_input", lambda x: torch.full_like(x, 50.0))
    layers, truth = machine()
    counts = counts_of_states(run(layers, truth, n_updates=9))
    assert total_variation(counts, truth.p_v) > total_variation_floor(truth.p_v, N_CHAINS)


def test_the_input_of_a_unit_that_accepts():
    log_p = torch.tensor([-80.0, -5.0, -1.0, -0.1, -1e-3, -1e-5, 0.0, 1e-9, 3.0, 500.0], dtype=torch.float64)
    accepted = expit(2 * chains_module.unit_input(log_p).numpy())
    np.testing.assert_allclose(accepted, np.minimum(1, np.exp(log_p.numpy())), rtol=1e-9, atol=0)


def test_the_gradient_sees_chains_before_they_move():
    layers, truth = machine()
    start = equilibrium(truth)
    chains = PersistentChains(layers, KernelUnits(SeedSequence(8)), 1, start)
    v, h = chains.negative_phase(start, start, update=0)
    assert torch.equal(v, start)
    assert torch.equal(h, torch.tanh(layers.hidden_inputs(start)))
    assert not torch.equal(chains.state["chains"], start)


def test_warm_chains_start_at_the_data_and_then_persist():
    layers, truth = machine()
    start, units = equilibrium(truth)[:100], KernelUnits(SeedSequence(8))
    chains = WarmChains(DataChains(layers, units, 1), PersistentChains(layers, units, 1, start), 2)
    batch = -torch.ones(7, 4)
    shown = [chains.negative_phase(batch, layers.hidden_inputs(batch), update)[0] for update in range(4)]
    assert [len(v) for v in shown] == [7, 7, 100, 100]
    assert torch.equal(shown[2], start)


def fresh_rows(n_updates, **options):
    """{update: rows that start at the batch}; all others are +1 everywhere."""
    n_sites = 40
    layers = DenseLayers(
        {"W": np.zeros((2, n_sites)), "b": np.full(n_sites, 50.0), "c": np.zeros(2)}, CPU, torch.float32
    )
    start, batch = torch.ones(5, n_sites), -torch.ones(8, n_sites)
    chains = PersistentChains(layers, KernelUnits(SeedSequence(1)), 1, start, **options)
    chains._reverse = lambda *_: None  # would turn them up at once
    rows = {}
    for update in range(n_updates):
        down = (chains.negative_phase(batch, batch, update)[0] < 0).sum(1).numpy()
        rows[update] = np.flatnonzero(down == n_sites).tolist()
    return rows


def test_fresh_chains_start_at_the_batch_in_turn():
    rows = fresh_rows(10, n_fresh=1, fresh_until=100)
    assert list(rows.values()) == [[row] for row in (0, 1, 2, 3, 4, 0, 1, 2, 3, 4)]


def test_half_a_fresh_chain_per_update_is_one_every_other():
    rows = fresh_rows(6, n_fresh=0.5, fresh_until=100)
    assert [len(fresh) for fresh in rows.values()] == [0, 1, 0, 1, 0, 1]


def test_no_chain_is_fresh_after_the_last_update_for_it():
    rows = fresh_rows(6, n_fresh=2, fresh_until=4)
    assert [len(fresh) for fresh in rows.values()] == [2, 2, 2, 2, 0, 0]


@pytest.mark.parametrize("bias", [0.0, 0.3])
def test_reversals_leave_the_distribution_as_it_is(bias):
    """Two states, v and -v, of a machine that never leaves them by itself: shares as their weights say."""
    layers = DenseLayers({"W": np.zeros((2, 4)), "b": np.full(4, bias), "c": [0.2, -0.1]}, CPU, torch.float32)
    n, units = 4000, KernelUnits(SeedSequence(4))
    up = 1 / (1 + np.exp(-2 * 4 * bias))  # p(all up) of the two
    chains = torch.where(torch.rand(n, 1, generator=torch.Generator().manual_seed(5)) < up, 1.0, -1.0)
    chains = chains.repeat(1, 4)
    mover = PersistentChains(layers, units, 1, chains)
    before, inputs = chains.clone(), layers.hidden_inputs(chains)
    mover._reverse(chains, inputs)
    assert not torch.equal(chains, before)
    np.testing.assert_allclose(inputs, layers.hidden_inputs(chains), atol=1e-6)
    share = float((chains[:, 0] > 0).float().mean())
    assert abs(share - up) < 4 * np.sqrt(up * (1 - up) / n)
