"""Machines as PyTorch modules: the same energies, gradients and chains, and back with the same bits."""

import numpy as np
import pytest
import torch

import thermorbm as tr
from thermorbm.errors import InputError

RNG = np.random.default_rng(1)
MACHINES = {
    "dense": tr.RBM(RNG.normal(size=(5, 9)), RNG.normal(size=9), RNG.normal(size=5)),
    "symmetric": tr.SymmetricRBM(RNG.normal(size=(2, 2, 3)), (3, 4), 0.1, [0.2, -0.3]),
    "cells": tr.SymmetricRBM(RNG.normal(size=(2, 2, 3, 3)), (3, 4), 0.1, [0.2, -0.3], n_cell=3),
}


@pytest.fixture(params=MACHINES)
def machine(request):
    return MACHINES[request.param]


def configurations(machine, n, seed):
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=(n, machine.n_visible))


def test_energies_and_inputs_are_those_of_the_machine(machine):
    module, v = tr.to_torch(machine), configurations(machine, 20, 1)
    h = np.random.default_rng(2).choice([-1.0, 1.0], size=(20, machine.n_hidden))
    with torch.no_grad():
        np.testing.assert_allclose(module(torch.tensor(v)), machine.visible_energy(v), rtol=1e-12)
        np.testing.assert_allclose(
            module.visible_inputs(torch.tensor(h)), machine.visible_inputs(h), rtol=1e-12, atol=1e-12
        )


def test_the_loss_has_the_gradient_of_the_likelihood(machine):
    module = tr.to_torch(machine)
    data, chains = configurations(machine, 30, 3), configurations(machine, 40, 4)
    module.contrastive_loss(torch.tensor(data), torch.tensor(chains)).backward()
    ours, theirs = machine.mean_gradient(data), machine.mean_gradient(chains)
    for name, parameter in module.named_parameters():
        np.testing.assert_allclose(parameter.grad, theirs[name] - ours[name], rtol=1e-10, atol=1e-12)


def test_there_and_back_with_the_same_bits(machine):
    back = tr.to_torch(machine).to_machine()
    assert repr(back) == repr(machine)
    for name, array in machine.parameters.items():
        np.testing.assert_array_equal(back.parameters[name], array)
        assert back.parameters[name].dtype == array.dtype


def test_chains_have_the_distribution_of_the_machine():
    """Mean of every spin against the sum over all states, within its Monte Carlo error."""
    machine = tr.RBM(0.3 * MACHINES["dense"].W, 0.3 * MACHINES["dense"].b, MACHINES["dense"].c)
    states = 2.0 * ((np.arange(512)[:, None] >> np.arange(9)) & 1) - 1
    weights = np.exp(-machine.visible_energy(states))
    mean = weights @ states / weights.sum()
    generator = torch.Generator().manual_seed(1)
    start = torch.tensor(configurations(machine, 20_000, 5))
    v = tr.to_torch(machine).gibbs(start, steps=30, generator=generator).numpy()
    assert set(np.unique(v)) == {-1.0, 1.0}
    z = (v.mean(axis=0) - mean) / np.sqrt((1 - mean**2) / len(v))
    assert (np.abs(z) < 4).all()


def test_it_can_be_trained_on():
    """Adam on contrastive divergence makes a machine that knows nothing better."""
    data = tr.sample((4, 4), temperature=2.5, n_samples=1000, seed=1)
    v = torch.tensor(data.spins(), dtype=torch.float64)
    machine = tr.RBM(0.01 * np.random.default_rng(1).normal(size=(16, 16)), np.zeros(16), np.zeros(16))
    module, generator = tr.to_torch(machine), torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    for _ in range(100):
        optimizer.zero_grad()
        module.contrastive_loss(v, module.gibbs(v, 1, generator)).backward()
        optimizer.step()
    before, after = (each.pseudo_likelihood(data.spins()).mean() for each in (machine, module.to_machine()))
    assert before == pytest.approx(16 * np.log(2), rel=0.01)
    assert after < 0.8 * before


def test_something_else_is_refused():
    with pytest.raises(InputError, match="machine must be an RBM or a SymmetricRBM"):
        tr.to_torch(np.ones((2, 3)))
