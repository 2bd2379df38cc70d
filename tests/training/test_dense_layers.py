"""The dense machine's primitives on tensors against tr.RBM, in float32, bfloat16 and 8-bit integers."""

import numpy as np
import pytest
import torch

from thermorbm import RBM
from thermorbm.training.dense import DenseLayers
from thermorbm.training.integer import LEVELS, IntegerLayers

BF16 = 2.0**-8  # spacing of bfloat16 numbers just above 1, twice the rounding error


@pytest.fixture
def parameters():
    rng = np.random.default_rng(5)
    W, b, c = rng.normal(size=(7, 30)) * 0.3, rng.normal(size=30) * 0.3, rng.normal(size=7) * 0.3
    return {"W": W.astype(np.float32), "b": b.astype(np.float32), "c": c.astype(np.float32)}


def layers_and_machine(parameters, dtype):
    """The machine in float64 with the parameters as the matrix products see them."""
    layers = DenseLayers(parameters, torch.device("cpu"), dtype)
    seen = {name: torch.tensor(a).to(dtype).double().numpy() for name, a in parameters.items()}
    return layers, RBM(**seen)


def spins(n, width, seed):
    return np.random.default_rng(seed).choice([-1.0, 1.0], (n, width))


def tensor(array, dtype):
    return torch.tensor(array).to(dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.bfloat16, BF16)])
def test_inputs(parameters, dtype, tolerance):
    layers, machine = layers_and_machine(parameters, dtype)
    v, h = spins(40, 30, 1), spins(40, 7, 2)
    x, y = layers.hidden_inputs(tensor(v, dtype)), layers.visible_inputs(tensor(h, dtype))
    assert x.dtype == y.dtype == dtype
    # Sums are taken in float32 and rounded once: relative to the result, plus float32's error of the sum.
    np.testing.assert_allclose(x.double(), machine.hidden_inputs(v), rtol=tolerance, atol=2e-6)
    np.testing.assert_allclose(y.double(), machine.visible_inputs(h), rtol=tolerance, atol=2e-6)
    field = layers.visible_field(tensor(v, dtype))
    np.testing.assert_allclose(field.double(), v @ parameters["b"].astype(np.float64), atol=1e-5)


def test_parameters_change_only_with_refresh(parameters):
    layers, _ = layers_and_machine(parameters, torch.bfloat16)
    v = tensor(spins(3, 30, 1), torch.bfloat16)
    before = layers.hidden_inputs(v)
    layers.parameters["W"].mul_(2)
    layers.parameters["c"].mul_(2)
    assert torch.equal(layers.hidden_inputs(v), before)
    layers.refresh()
    assert torch.equal(layers.hidden_inputs(v), 2 * before)
    np.testing.assert_array_equal(layers.arrays()["W"], 2 * parameters["W"])


@pytest.mark.parametrize(("n_data", "n_model"), [(32, 32), (48, 20), (16, 64), (1, 5)])
def test_gradient_in_float32(parameters, n_data, n_model):
    layers, machine = layers_and_machine(parameters, torch.float32)
    data, model = spins(n_data, 30, 3), spins(n_model, 30, 4)
    means = [torch.tanh(layers.hidden_inputs(tensor(v, torch.float32))) for v in (data, model)]
    gradient = layers.gradient(tensor(data, torch.float32), means[0], tensor(model, torch.float32), means[1])
    over_data, over_model = machine.mean_gradient(data), machine.mean_gradient(model)
    for name, g in gradient.items():
        assert g.dtype == torch.float32
        np.testing.assert_allclose(g.double(), over_data[name] - over_model[name], atol=2e-6)


@pytest.mark.parametrize(("n_data", "n_model"), [(32, 32), (48, 20), (16, 64)])
def test_gradient_in_bfloat16_is_that_of_the_rounded_rows(parameters, n_data, n_model):
    """Rounding may cost relative to the rows and to the difference, not more."""
    layers, _ = layers_and_machine(parameters, torch.bfloat16)
    data, model = (tensor(spins(n, 30, n), torch.bfloat16) for n in (n_data, n_model))
    data_h, model_h = (torch.tanh(layers.hidden_inputs(v)) for v in (data, model))
    gradient = layers.gradient(data, data_h, model, model_h)
    exact = {
        "W": (data_h.double().T @ data.double()) / n_data - (model_h.double().T @ model.double()) / n_model,
        "b": data.double().mean(0) - model.double().mean(0),
        "c": data_h.double().mean(0) - model_h.double().mean(0),
    }
    # Only unequal numbers of rows make the weighted rows round again, by half a spacing each, at random.
    again = 0 if n_data == n_model else 5 * BF16 / 2 / np.sqrt(n_model)
    for name, g in gradient.items():
        np.testing.assert_allclose(g.double(), exact[name], rtol=BF16, atol=2e-6 + again)


def test_equal_phases_cancel_exactly(parameters):
    layers, _ = layers_and_machine(parameters, torch.bfloat16)
    v = tensor(spins(64, 30, 6), torch.bfloat16)
    h = torch.tanh(layers.hidden_inputs(v))
    gradient = layers.gradient(v, h, v, h)
    for g in gradient.values():
        assert g.abs().max() < 1e-6


def rounded(values, largest=None):
    """Values on even steps up to `largest`, by default the largest of them, in float64."""
    spacing = (np.abs(values).max() if largest is None else largest) / LEVELS
    return np.rint(values / spacing) * spacing


def integer_layers(parameters):
    return IntegerLayers(parameters, torch.device("cpu"), torch.int8)


@pytest.mark.parametrize("dtype", [torch.int8, torch.float32])
def test_integer_inputs_are_those_of_the_rounded_weights(parameters, dtype):
    layers = integer_layers(parameters)
    machine = RBM(**{**parameters, "W": rounded(parameters["W"].astype(np.float64))})
    v, h = spins(40, 30, 1), spins(40, 7, 2)
    x, y = layers.hidden_inputs(tensor(v, dtype)), layers.visible_inputs(tensor(h, dtype))
    assert x.dtype == y.dtype == torch.float32
    np.testing.assert_allclose(x.double(), machine.hidden_inputs(v), atol=3e-6)
    np.testing.assert_allclose(y.double(), machine.visible_inputs(h), atol=3e-6)


def test_integer_weights_follow_the_parameters(parameters):
    layers = integer_layers(parameters)
    v = tensor(spins(3, 30, 1), torch.int8)
    before = layers.hidden_inputs(v) - layers.parameters["c"]
    layers.parameters["W"].mul_(-2)
    layers.refresh()
    np.testing.assert_allclose(layers.hidden_inputs(v) - layers.parameters["c"], -2 * before, atol=1e-6)
    layers.parameters["W"].zero_()
    layers.refresh()
    np.testing.assert_array_equal(layers.hidden_inputs(v), layers.parameters["c"].expand(3, -1))


@pytest.mark.parametrize(("n_data", "n_model"), [(32, 32), (48, 20), (1, 5)])
def test_integers_move_by_the_gradient_of_the_rounded_rows(parameters, n_data, n_model):
    layers = integer_layers(parameters)
    data, model = (tensor(spins(n, 30, n), torch.int8) for n in (n_data, n_model))
    data_h, model_h = (torch.tanh(layers.hidden_inputs(v)) for v in (data, model))
    before = layers.arrays()
    layers.move(layers.gradient(data, data_h, model, model_h), rate=1.0)
    moved = {name: array - before[name] for name, array in layers.arrays().items()}
    v, n_least = np.concatenate([data, model]), min(n_data, n_model)
    h = np.concatenate([data_h.numpy() / n_data, -model_h.numpy() / n_model]).astype(np.float64)
    np.testing.assert_allclose(moved["W"], rounded(h, 1 / n_least).T @ v, atol=2e-6)
    np.testing.assert_allclose(moved["b"], data.numpy().mean(0) - model.numpy().mean(0), atol=2e-6)
    np.testing.assert_allclose(moved["c"], h.sum(0), atol=2e-6)
    # Rounding of one of n rows is at most half a level, of random sign.
    allowed = 5 * np.sqrt(len(h)) / n_least / LEVELS / np.sqrt(12)
    np.testing.assert_allclose(moved["W"], h.T @ v, atol=allowed)


def test_integer_products_do_not_depend_on_threads(parameters):
    layers, before = integer_layers(parameters), torch.get_num_threads()
    v = tensor(spins(64, 30, 6), torch.int8)
    inputs = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        inputs.append(layers.hidden_inputs(v))
    torch.set_num_threads(before)
    assert torch.equal(*inputs)
