"""The symmetric machine on tensors: compiled loops and torch's convolutions against tr.SymmetricRBM."""

import numpy as np
import pytest
import torch

from thermorbm import SymmetricRBM
from thermorbm.errors import InputError
from thermorbm.model.random_units import mean_units
from thermorbm.training.symmetric import KernelFilters, TorchFilters, symmetric_layers

CPU = torch.device("cpu")
CASES = [((7,), 3), ((4, 6), 3), ((5, 4), 2), ((3, 3), 3), ((3, 4, 5), 3), ((2, 2, 2), 2)]


@pytest.fixture(params=[KernelFilters, TorchFilters])
def kind(request):
    return request.param


@pytest.fixture(params=CASES, ids=str)
def parameters(request):
    shape, kernel = request.param
    rng = np.random.default_rng(3)
    filters = (rng.normal(size=(3, *[kernel] * len(shape))) * 0.4).astype(np.float32)
    biases = {"visible_bias": np.float32(0.3), "hidden_bias": rng.normal(size=3).astype(np.float32)}
    return {"filters": filters, **biases}, shape


def spins(n, width, seed):
    return np.random.default_rng(seed).choice([-1.0, 1.0], (n, width)).astype(np.float32)


def machine_of(parameters, shape):
    filters = parameters["filters"].astype(np.float64)
    return SymmetricRBM(filters, shape, parameters["visible_bias"], parameters["hidden_bias"])


def test_inputs_and_means(kind, parameters):
    given, shape = parameters
    layers, machine = kind(given, shape, CPU), machine_of(given, shape)
    v, h = spins(6, machine.n_visible, 1), spins(6, machine.n_hidden, 2)
    x, y = layers.hidden_inputs(torch.from_numpy(v)), layers.visible_inputs(torch.from_numpy(h))
    assert x.dtype == y.dtype == torch.float32
    np.testing.assert_allclose(x, machine.hidden_inputs(v.astype(np.float64)), atol=3e-6)
    np.testing.assert_allclose(y, machine.visible_inputs(h.astype(np.float64)), atol=3e-6)
    np.testing.assert_allclose(layers.hidden_means(x), torch.tanh(x), atol=5e-7)
    np.testing.assert_allclose(layers.visible_field(torch.from_numpy(v)), machine.visible_field(v), atol=1e-5)


def test_the_gradient_is_that_of_the_machine_per_site(kind, parameters):
    given, shape = parameters
    layers, machine = kind(given, shape, CPU), machine_of(given, shape)
    data, model = spins(8, machine.n_visible, 3), spins(5, machine.n_visible, 4)
    phases = []
    for v in (data, model):
        tensor = torch.from_numpy(v)
        phases += [tensor, layers.hidden_means(layers.hidden_inputs(tensor))]
    gradient = layers.gradient(*phases)
    over_data, over_model = machine.mean_gradient(data), machine.mean_gradient(model)
    for name, g in gradient.items():
        expected = (over_data[name] - over_model[name]) / machine.n_visible
        assert g.dtype == torch.float32
        np.testing.assert_allclose(g, expected, atol=2e-6, err_msg=name)


def test_reversal_cost(kind, parameters):
    given, shape = parameters
    layers, machine = kind(given, shape, CPU), machine_of(given, shape)
    v = spins(6, machine.n_visible, 5)
    cost = layers.reversal_cost(torch.from_numpy(v), layers.hidden_inputs(torch.from_numpy(v)))
    np.testing.assert_allclose(cost, machine.visible_energy(-v) - machine.visible_energy(v), atol=1e-3)


def test_reversal_is_free_without_biases(kind, parameters):
    given, shape = parameters
    unbiased = {name: value if name == "filters" else np.zeros_like(value) for name, value in given.items()}
    layers = kind(unbiased, shape, CPU)
    v = torch.from_numpy(spins(6, int(np.prod(shape)), 5))
    assert torch.equal(layers.reversal_cost(v, layers.hidden_inputs(v)), torch.zeros(6))


def test_parameters_count_after_refresh(parameters):
    given, shape = parameters
    layers = KernelFilters(given, shape, CPU)
    v = torch.from_numpy(spins(2, int(np.prod(shape)), 1))
    before = layers.hidden_inputs(v)
    layers.parameters["filters"].mul_(2)
    layers.parameters["hidden_bias"].mul_(2)
    layers.refresh()
    assert torch.equal(layers.hidden_inputs(v), 2 * before)
    np.testing.assert_array_equal(layers.arrays()["filters"], 2 * given["filters"])


def test_means_of_saturated_units():
    x = np.array([0, 1e-4, -1e-4, 3, -3, 50, -50, 1e30, -1e30], np.float32)
    np.testing.assert_allclose(mean_units(x, np.empty_like(x)), np.tanh(x), atol=3e-7)


def test_the_rendition_for_a_device():
    filters = {"filters": np.zeros((1, 2, 2, 2, 2)), "visible_bias": 0.0, "hidden_bias": np.zeros(1)}
    assert isinstance(symmetric_layers(filters, (2, 2, 2, 2), CPU), KernelFilters)
    with pytest.raises(InputError, match="device must be 'cpu' for a lattice of 4 dimensions, got 'meta'"):
        symmetric_layers(filters, (2, 2, 2, 2), torch.device("meta"))
    assert isinstance(
        symmetric_layers({**filters, "filters": np.zeros((1, 2))}, (2,), torch.device("meta")), TorchFilters
    )
