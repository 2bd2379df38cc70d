"""The prior of couplings: against the learned Hamiltonian and finite differences."""

import numpy as np
import pytest
import torch

from thermorbm import SymmetricRBM
from thermorbm.observables import interactions
from thermorbm.training.natural import _FILTERS, _MORE, _PAIRS, _START, _WIDTH, CouplingPrior


def cost(filters, bias, shape):
    """Nats per site at a rate of 1, from the couplings that `interactions` reads: four spins at most."""
    couplings = interactions(SymmetricRBM(filters, shape, 0.0, bias)).couplings
    pairs = sum(value**2 for product, value in couplings.items() if len(product) == 2)
    more = sum(
        _WIDTH**2 * np.log1p((value / _WIDTH) ** 2)
        for product, value in couplings.items()
        if len(product) > 2
    )
    return (_PAIRS * pairs + _MORE * more + _FILTERS * (filters**2).sum()) / 2 * (1 + _START)


@pytest.mark.parametrize(
    ("shape", "window"), [((5, 4), (2, 2)), ((2, 3), (2, 2)), ((6,), (4,)), ((3, 3), (1, 3))]
)
def test_the_pull_is_the_slope_of_the_cost(shape, window):
    """Windows of at most four spins, some of which reach around the lattice."""
    rng = np.random.default_rng(1)
    filters, bias = rng.normal(0, 0.5, (2, *window)), rng.normal(0, 0.3, 2)
    flat = torch.from_numpy(filters.reshape(2, -1))
    pull, _ = CouplingPrior(window, shape).pull(flat, torch.from_numpy(bias), 1.0)
    for place in range(filters.size):
        step = np.zeros(filters.size)
        step[place] = 1e-5
        there, back = (cost(filters + s * step.reshape(filters.shape), bias, shape) for s in (1, -1))
        assert float(pull[place]) == pytest.approx((there - back) / 2e-5, rel=1e-6, abs=1e-8)


def test_the_curvature_is_that_of_couplings_as_linear_functions():
    """Where all couplings but those of the filters' own norm vanish, nothing else is left."""
    prior = CouplingPrior((2, 2), (4, 4))
    zero = torch.zeros(3, 4, dtype=torch.float64)
    pull, curvature = prior.pull(zero, torch.zeros(3, dtype=torch.float64), 0.5)
    assert float(pull.abs().max()) == 0
    expected = _FILTERS * 0.5 * (1 + 0.5 * _START) * torch.eye(12, dtype=torch.float64)
    torch.testing.assert_close(curvature, expected)


def test_large_windows_are_held_by_their_filters_alone():
    rng = np.random.default_rng(2)
    filters = torch.from_numpy(rng.normal(size=(2, 25)))
    pull, curvature = CouplingPrior((5, 5), (8, 8)).pull(filters, torch.zeros(2, dtype=torch.float64), 0.1)
    torch.testing.assert_close(curvature @ filters.reshape(-1), pull)
    assert float(pull @ filters.reshape(-1)) > 0
