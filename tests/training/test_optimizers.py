"""SGD with momentum and Adam against plain loops."""

import numpy as np
import pytest
import torch

from oracles import optimizers
from thermorbm.training.optimizer import SGD, Adam

SHAPES = {"W": (3, 4), "b": (4,), "c": (3,)}


def start_and_gradients(n_steps=25, seed=1):
    rng = np.random.default_rng(seed)
    start = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
    # Gradients of very different sizes, some of them zero.
    gradients = [
        {name: rng.normal(size=shape) * 10.0 ** rng.integers(-4, 2) * (rng.random(shape) < 0.8)
         for name, shape in SHAPES.items()}
        for _ in range(n_steps)
    ]  # fmt: skip
    return start, gradients


def tensors(arrays):
    return {name: torch.tensor(array) for name, array in arrays.items()}


def assert_follows(make, oracle, rate=0.03):
    start, gradients = start_and_gradients()
    parameters = tensors(start)
    optimizer = make(parameters)
    for update, gradient in enumerate(gradients):
        optimizer.step(tensors(gradient), rate, update)
    for name, shape in SHAPES.items():
        for index in np.ndindex(shape):
            expected = oracle(start[name][index], [g[name][index] for g in gradients], rate)
            assert float(parameters[name][index]) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_sgd(momentum):
    assert_follows(
        lambda parameters: SGD(parameters, momentum),
        lambda theta, gradients, rate: optimizers.sgd(theta, gradients, rate, momentum),
    )


def test_adam():
    assert_follows(Adam, optimizers.adam)


@pytest.mark.parametrize("make", [lambda p: SGD(p, 0.9), Adam], ids=["momentum", "adam"])
def test_the_state_is_all_that_is_needed_to_go_on(make):
    start, gradients = start_and_gradients(10)
    whole = tensors(start)
    optimizer = make(whole)
    for update, gradient in enumerate(gradients):
        if update == 6:
            halfway = {name: tensor.clone() for name, tensor in whole.items()}
            state = {name: tensor.clone() for name, tensor in optimizer.state.items()}
        optimizer.step(tensors(gradient), 0.01, update)
    resumed = make(halfway)
    for name, tensor in resumed.state.items():
        tensor.copy_(state[name])
    for update in range(6, 10):
        resumed.step(tensors(gradients[update]), 0.01, update)
    assert all(torch.equal(whole[name], halfway[name]) for name in SHAPES)


def test_parameters_without_a_gradient_stay():
    start, gradients = start_and_gradients(1)
    for make in (lambda p: SGD(p, 0.0), lambda p: SGD(p, 0.9), Adam):
        parameters = tensors(start)
        make(parameters).step({"W": torch.tensor(gradients[0]["W"])}, 0.1, 0)
        assert torch.equal(parameters["b"], torch.tensor(start["b"]))
        assert not torch.equal(parameters["W"], torch.tensor(start["W"]))
