"""Persistent chains with replica exchange on an enumerated 4x3 machine: every replica keeps its target."""

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy.special import expit

from oracles.chi_squared import p_value
from oracles.rbm_enumeration import EnumeratedRBM, total_variation_floor
from thermorbm.training import chains as chains_module
from thermorbm.training.chains import PersistentChains
from thermorbm.training.dense import DenseLayers
from thermorbm.training.units import KernelUnits, TorchUnits

CPU = torch.device("cpu")
BETAS = (1.0, 0.7, 0.45)
N_CHAINS = 60_000


def machine(scale=0.9, seed=2, dtype=torch.float32):
    """Four visible and three hidden units, and the enumeration of each replica: all parameters times beta."""
    rng = np.random.default_rng(seed)
    shapes = {"W": (3, 4), "b": (4,), "c": (3,)}
    parameters = {name: (rng.normal(size=s) * scale).astype(np.float32) for name, s in shapes.items()}
    truths = [EnumeratedRBM(*(beta * a.astype(np.float64) for a in parameters.values())) for beta in BETAS]
    return DenseLayers(parameters, CPU, dtype), truths


def equilibrium(truths, seed=3):
    """(n_replicas * N_CHAINS, 4): replica by replica, each from its own distribution."""
    rng = np.random.default_rng(seed)
    rows = [truth.v_states[rng.choice(16, N_CHAINS, p=truth.p_v)] for truth in truths]
    return torch.tensor(np.concatenate(rows), dtype=torch.float32)


def states(chains):
    """(n_replicas, N_CHAINS) numbers of the states in the order of the enumeration."""
    up = chains.state["chains"].float().numpy() > 0
    return (up @ (1 << np.arange(4)[::-1])).reshape(len(BETAS), -1)


def total_variation(counts, p):
    return np.abs(counts / counts.sum() - p).sum() / 2


def run(layers, truths, n_updates, steps=1, source=KernelUnits, seed=4, dtype=torch.float32):
    start = equilibrium(truths).to(dtype)
    units = source(SeedSequence(seed))
    chains = PersistentChains(layers, units, steps, start, torch.tensor(BETAS))
    for update in range(1, n_updates + 1):  # at update 0 the hotter replicas would copy replica 0
        chains.negative_phase(start, start, update)
    return chains


@pytest.mark.parametrize(
    ("source", "steps", "n_updates"),
    [(KernelUnits, 1, 24), (KernelUnits, 3, 8), (lambda seed: TorchUnits(seed, CPU), 1, 12)],
    ids=["kernel", "kernel, 3 steps", "torch"],
)
def test_every_replica_keeps_its_distribution(source, steps, n_updates):
    layers, truths = machine()
    numbers = states(run(layers, truths, n_updates, steps, source))
    for truth, row in zip(truths, numbers, strict=True):
        counts = np.bincount(row, minlength=16)
        assert total_variation(counts, truth.p_v) < total_variation_floor(truth.p_v, N_CHAINS)
        assert p_value(counts, truth.p_v) > 1e-4


def test_replicas_stay_independent_of_each_other():
    """The joint distribution of two replicas is the product: swaps must keep it, not only its margins."""
    layers, truths = machine()
    numbers = states(run(layers, truths, n_updates=24))
    for a, b in ((0, 1), (1, 2), (0, 2)):
        joint = np.outer(truths[a].p_v, truths[b].p_v).ravel()
        assert p_value(np.bincount(16 * numbers[a] + numbers[b], minlength=256), joint) > 1e-4


def test_bfloat16_chains_have_the_same_target():
    """Rounded inputs move each conditional by at most about 2^-9 |x|; the floor grows by that much."""
    layers, truths = machine(dtype=torch.bfloat16)
    numbers = states(run(layers, truths, n_updates=24, dtype=torch.bfloat16))
    for truth, row in zip(truths, numbers, strict=True):
        floor = total_variation_floor(truth.p_v, N_CHAINS) + 2.0**-8
        assert total_variation(np.bincount(row, minlength=16), truth.p_v) < floor


@pytest.mark.parametrize(
    "mistake", [lambda x: x * 0.5, lambda x: torch.full_like(x, 0.0)], ids=["half", "zero"]
)
def test_the_floor_is_low_enough_to_notice_a_wrong_swap(monkeypatch, mistake):
    right = chains_module.unit_input
    monkeypatch.setattr(chains_module, "unit_input", lambda x: right(mistake(x)))
    layers, truths = machine()
    numbers = states(run(layers, truths, n_updates=24))
    counts = np.bincount(numbers[0], minlength=16)
    assert total_variation(counts, truths[0].p_v) > total_variation_floor(truths[0].p_v, N_CHAINS)


def test_hotter_replicas_begin_as_copies_when_their_time_comes():
    """Until then replica 0 moves alone, as plain chains do; then all reach their own distributions."""
    layers, truths = machine()
    ones = torch.ones(3 * N_CHAINS, 4)
    late = PersistentChains(layers, KernelUnits(SeedSequence(5)), 1, ones, torch.tensor(BETAS), 3)
    plain = PersistentChains(layers, KernelUnits(SeedSequence(5)), 1, ones[:N_CHAINS], torch.ones(1))
    for update in range(4):  # what update 3 shows is what update 2 left
        shown, _ = late.negative_phase(ones, ones, update)
        assert torch.equal(shown, plain.negative_phase(ones, ones, update)[0])
    for update in range(4, 50):
        late.negative_phase(ones, ones, update)
    for truth, row in zip(truths, states(late), strict=True):
        counts = np.bincount(row, minlength=16)
        assert total_variation(counts, truth.p_v) < total_variation_floor(truth.p_v, N_CHAINS)
    assert 0.2 < late.swap_rate < 1


class RecordingUnits(KernelUnits):
    """Keeps the inputs of the first draw: those of the swaps."""

    first = None

    def draw(self, inputs):
        self.first = inputs.clone() if self.first is None else self.first
        return super().draw(inputs)


@pytest.mark.parametrize("pair", [(0, 1), (1, 2)])
def test_swaps_are_accepted_with_the_metropolis_probability(pair):
    """All pairs of states of two neighbouring replicas, against their enumerated probabilities."""
    layers, truths = machine()
    n_pairs = 16 * 16
    upper, lower = (grid.ravel() for grid in np.meshgrid(np.arange(16), np.arange(16)))
    v_states = truths[0].v_states
    replicas = [v_states[np.zeros(n_pairs, int)]] * 3
    replicas[pair[0]], replicas[pair[1]] = v_states[upper], v_states[lower]
    start = torch.tensor(np.concatenate(replicas), dtype=torch.float32)
    units = RecordingUnits(SeedSequence(6))
    chains = PersistentChains(layers, units, 1, start, torch.tensor(BETAS))
    chains.negative_phase(start, start, update=2 - pair[0])  # even and odd pairs take turns
    p, q = truths[pair[0]].p_v, truths[pair[1]].p_v
    expected = np.minimum(1, p[lower] * q[upper] / (p[upper] * q[lower]))
    assert units.first.shape == (n_pairs,)
    np.testing.assert_allclose(expit(2 * units.first.double().numpy()), expected, rtol=2e-5)


def test_the_input_of_a_unit_that_accepts():
    log_p = torch.tensor([-80.0, -5.0, -1.0, -0.1, -1e-3, -1e-5, 0.0, 1e-9, 3.0, 500.0], dtype=torch.float64)
    accepted = expit(2 * chains_module.unit_input(log_p).numpy())
    np.testing.assert_allclose(accepted, np.minimum(1, np.exp(log_p.numpy())), rtol=1e-9, atol=0)


def test_the_gradient_sees_the_first_replica_before_it_moves():
    layers, truths = machine()
    start = equilibrium(truths)
    chains = PersistentChains(layers, KernelUnits(SeedSequence(8)), 1, start, torch.tensor(BETAS))
    v, h = chains.negative_phase(start, start, update=1)
    assert torch.equal(v, start[:N_CHAINS])
    assert torch.equal(h, torch.tanh(layers.hidden_inputs(start))[:N_CHAINS])
    assert not torch.equal(chains.state["chains"], start)


def always_up():
    """A machine whose visible units are +1 whatever comes: what is -1 has not moved yet."""
    return DenseLayers({"W": np.zeros((2, 4)), "b": np.full(4, 50.0), "c": np.zeros(2)}, CPU, torch.float32)


def test_fresh_chains_come_from_the_batch_in_turn():
    start, batch = torch.ones(6, 4), -torch.ones(8, 4)
    chains = PersistentChains(always_up(), KernelUnits(SeedSequence(1)), 1, start, torch.ones(1), n_fresh=2)
    replaced = []
    for update in range(6):
        shown, _ = chains.negative_phase(batch, batch, update)
        replaced.append(np.flatnonzero(shown[:, 0] < 0).tolist())
    assert replaced == [[0, 1], [2, 3], [4, 5]] * 2


def test_fresh_chains_enter_at_the_hottest_replica():
    start, batch = torch.ones(3 * 6, 4), -torch.ones(8, 4)
    units = KernelUnits(SeedSequence(1))
    chains = PersistentChains(always_up(), units, 1, start, torch.tensor(BETAS), n_fresh=2)
    for update in range(1, 7):
        shown, _ = chains.negative_phase(batch, batch, update)
        assert (shown > 0).all()  # they have moved before they reach replica 0
