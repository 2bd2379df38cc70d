"""Sources of random units, the fused kernel and torch's generator: probabilities, types, saved states."""

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy.special import expit

from thermorbm.training.units import KernelUnits, TorchUnits, unit_source

CPU = torch.device("cpu")


def sources(seed=1):
    return KernelUnits(SeedSequence(seed)), TorchUnits(SeedSequence(seed), CPU)


@pytest.fixture(params=[0, 1], ids=["kernel", "torch"])
def make(request):
    return lambda seed=1: sources(seed)[request.param]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_frequencies(make, dtype):
    inputs = torch.tensor([-3.0, -1.0, -0.3, 0.0, 0.01, 0.25, 0.7, 2.0, 4.0]).to(dtype)
    n = 200_000
    units = make().draw(inputs.expand(n, -1).contiguous())
    assert units.dtype == dtype
    assert set(units.unique().tolist()) == {-1, 1}
    p = expit(2 * inputs.double().numpy())
    frequency = (units > 0).double().mean(0).numpy()
    assert (np.abs(frequency - p) < 5 * np.sqrt(p * (1 - p) / n)).all()


def test_certain_units(make):
    x = torch.tensor([60.0, -60.0]).expand(10_000, 2).contiguous()
    assert torch.equal(make().draw(x), x.sign())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_state_restores_bit_by_bit(make, dtype):
    x = torch.randn(33, 77, generator=torch.Generator().manual_seed(1)).to(dtype)
    source = make()
    source.draw(x)
    saved = np.array(source.state)
    first = [source.draw(x) for _ in range(3)]
    other = make(seed=99)
    other.state = saved.copy()
    assert all(torch.equal(a, other.draw(x)) for a in first)


def test_seeds_differ_and_repeat(make):
    x = torch.zeros(50, 50)
    assert torch.equal(make(1).draw(x), make(1).draw(x))
    assert not torch.equal(make(1).draw(x), make(2).draw(x))


def test_the_cpu_has_the_kernel():
    assert isinstance(unit_source(SeedSequence(1), CPU), KernelUnits)
