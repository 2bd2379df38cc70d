"""Expected updates of CD-k and PCD-k on tiny machines against enumeration, within Monte Carlo error."""

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence

from oracles.contrastive_divergence import after_steps, cd_update, data_distribution
from oracles.rbm_enumeration import EnumeratedRBM, total_variation_floor
from thermorbm import Dataset
from thermorbm.training import Recipe
from thermorbm.training.chains import DataChains, PersistentChains
from thermorbm.training.dense import DenseLayers
from thermorbm.training.design import DenseDesign
from thermorbm.training.trainer import Trainer
from thermorbm.training.units import KernelUnits, TorchUnits

CPU = torch.device("cpu")
N = 200_000
# bfloat16 rounds inputs, of order 1 here, by 2^-9 of themselves; tanh and the conditionals follow.
ROUNDING = {torch.float32: 2e-6, torch.bfloat16: 2.0**-8}


def tiny_machine(n_hidden=4, n_visible=5, scale=0.6, seed=3, dtype=torch.float32):
    rng = np.random.default_rng(seed)
    shapes = {"W": (n_hidden, n_visible), "b": (n_visible,), "c": (n_hidden,)}
    parameters = {name: (rng.normal(size=s) * scale).astype(np.float32) for name, s in shapes.items()}
    layers = DenseLayers(parameters, CPU, dtype)
    return layers, EnumeratedRBM(**parameters)


def uneven_data(truth, seed=4):
    """(N, n_v) rows, a few states only, far from the machine's own distribution."""
    rng = np.random.default_rng(seed)
    states = rng.choice(len(truth.v_states), 6, replace=False)
    return truth.v_states[rng.choice(states, N, p=[0.4, 0.25, 0.15, 0.1, 0.05, 0.05])]


def draws(truth, seed=5):
    """(N, n_v) rows from the machine's own distribution."""
    return truth.v_states[np.random.default_rng(seed).choice(len(truth.p_v), N, p=truth.p_v)]


def as_tensor(v, dtype=torch.float32):
    return torch.tensor(v, dtype=dtype)


def plain_chains(layers, units, steps, start):
    return PersistentChains(layers, units, steps, start)


def frequencies(truth, v):
    """Of the rows of v, in the order of the enumeration, which counts up from the last unit."""
    numbers = (v.double().numpy() > 0) @ (1 << np.arange(truth.n_v)[::-1])
    return np.bincount(numbers, minlength=len(truth.v_states)) / len(v)


def standard_errors(v, h):
    """Of the means of h_i v_j, v_j and h_i over independent rows."""
    v, h = v.double(), h.double()
    pairs = torch.einsum("ni,nj->nij", h, v)
    rows = {"W": pairs, "b": v, "c": h}
    return {name: (row.std(0) / np.sqrt(len(row))).numpy() for name, row in rows.items()}


def assert_close(gradient, expected, errors, rounding):
    for name, g in gradient.items():
        distance = np.abs(g.double().numpy() - expected[name])
        assert (distance < 5 * errors[name] + rounding).all(), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_the_expected_cd_update(steps, dtype):
    layers, truth = tiny_machine(dtype=dtype)
    data = uneven_data(truth)
    v = as_tensor(data, dtype)
    x = layers.hidden_inputs(v)
    phase = DataChains(layers, KernelUnits(SeedSequence(steps)), steps).negative_phase(v, x, update=0)
    gradient = layers.gradient(v, torch.tanh(x), *phase)
    expected = cd_update(truth, data_distribution(truth, data), steps)
    assert_close(gradient, expected, standard_errors(*phase), ROUNDING[dtype])


def test_cd_ends_after_k_steps_and_not_one_more_or_less():
    layers, truth = tiny_machine()
    data = uneven_data(truth)
    p_data = data_distribution(truth, data)
    v = as_tensor(data)
    for steps in (1, 2, 3):
        chains = DataChains(layers, KernelUnits(SeedSequence(9)), steps)
        p = frequencies(truth, chains.negative_phase(v, layers.hidden_inputs(v), update=0)[0])
        floor = total_variation_floor(truth.p_v, N)
        for other in (1, 2, 3):
            distance = np.abs(p - after_steps(truth, p_data, other)).sum() / 2
            assert (distance < floor) == (other == steps)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("source", [KernelUnits, lambda seed: TorchUnits(seed, CPU)], ids=["kernel", "torch"])
def test_pcd_at_equilibrium_gives_the_gradient_of_the_likelihood(dtype, source):
    layers, truth = tiny_machine(dtype=dtype)
    data = uneven_data(truth)
    v = as_tensor(data, dtype)
    x = layers.hidden_inputs(v)
    chains = plain_chains(layers, source(SeedSequence(6)), 2, as_tensor(draws(truth), dtype))
    for update in range(4):
        phase = chains.negative_phase(v, x, update)
    gradient = layers.gradient(v, torch.tanh(x), *phase)
    p_data = data_distribution(truth, data)
    over_data, over_model = truth.mean_statistics(p_data), truth.mean_statistics(truth.p_v)
    expected = {name: over_data[name] - over_model[name] for name in over_data}
    assert_close(gradient, expected, standard_errors(*phase), ROUNDING[dtype])


@pytest.mark.parametrize("steps", [1, 3])
def test_persistent_chains_go_on_from_where_they_were(steps):
    layers, truth = tiny_machine()
    start = uneven_data(truth)
    v = as_tensor(start)
    chains = plain_chains(layers, KernelUnits(SeedSequence(7)), steps, v)
    p_start = data_distribution(truth, start)
    for update in range(3):
        shown = chains.negative_phase(-v, layers.hidden_inputs(-v), update)[0]  # the batch plays no part
        expected = after_steps(truth, p_start, steps * update)
        distance = np.abs(frequencies(truth, shown) - expected).sum() / 2
        assert distance < total_variation_floor(expected, N)
        assert (distance == 0) == (update == 0)


@pytest.mark.parametrize("zero_bias", [False, True])
@pytest.mark.parametrize(("persistent", "steps"), [(False, 2), (True, 1)])
def test_a_step_of_the_trainer_is_the_rate_times_the_expected_update(persistent, steps, zero_bias):
    layers, truth = tiny_machine()
    data = uneven_data(truth)
    recipe = Recipe(
        "one step",
        0.5,
        1,
        batch_size=N,
        gibbs_steps=steps,
        persistent_from=0 if persistent else 1,
        zero_bias=zero_bias,
    )
    trainer = Trainer(
        Dataset.from_spins(data), DenseDesign(truth.n_h, truth.n_v), recipe, 8, CPU, torch.float32
    )
    state = trainer.state() | {f"parameter.{name}": a for name, a in layers.arrays().items()}
    if persistent:
        state["chains.chains"] = draws(truth)
    trainer.restore(state)
    trainer.step()
    p_data = data_distribution(truth, data)
    expected = cd_update(truth, p_data, steps)
    if persistent:
        over_model = truth.mean_statistics(truth.p_v)
        expected = {name: mean - over_model[name] for name, mean in truth.mean_statistics(p_data).items()}
    for name, before in layers.arrays().items():
        moved = (trainer.layers.parameters[name].double().numpy() - before) / 0.5
        if zero_bias and name != "W":
            assert (moved == 0).all()
        else:  # a unit of +-1 varies by at most 1
            np.testing.assert_allclose(moved, expected[name], atol=5 / np.sqrt(N))
