"""Minibatches: a function of seed and number, every configuration once per epoch."""

import tracemalloc

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence

from thermorbm import Dataset, Lattice
from thermorbm.errors import InputError
from thermorbm.training.batches import Batches

LATTICE = Lattice((3, 4))
N = 50


@pytest.fixture
def data():
    """50 different configurations of 3x4 spins."""
    numbers = np.random.default_rng(1).choice(1 << 12, N, replace=False)
    spins = np.where((numbers[:, None] >> np.arange(12)) & 1, 1, -1)
    return Dataset.from_spins(spins, LATTICE, 2.0)


def batches(data, size=8, seed=3, dtype=torch.float32):
    return Batches(data, size, SeedSequence(seed), torch.device("cpu"), dtype)


def rows_in(data, batch):
    """Index in the data of every row of a batch."""
    known = {tuple(v): k for k, v in enumerate(data.spins())}
    return [known[tuple(int(s) for s in v)] for v in batch.float().numpy()]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_batch_depends_on_seed_and_number_alone(data, dtype):
    forward, backward = batches(data, dtype=dtype), batches(data, dtype=dtype)
    numbers = range(20)
    first = {u: forward.batch(u) for u in numbers}
    again = {u: backward.batch(u) for u in reversed(numbers)}
    for u in numbers:
        assert first[u].dtype == dtype
        assert first[u].shape == (8, 12)
        assert torch.equal(first[u], again[u])
    other = batches(data, seed=4, dtype=dtype)
    assert any(not torch.equal(first[u], other.batch(u)) for u in numbers)


def test_an_epoch_has_every_configuration_at_most_once(data):
    source = batches(data)
    assert source.per_epoch == 6
    left_out = []
    for epoch in range(40):
        seen = [k for u in range(6) for k in rows_in(data, source.batch(6 * epoch + u))]
        assert len(seen) == len(set(seen)) == 48
        left_out += set(range(N)) - set(seen)
    assert len(set(left_out)) > N / 2  # another order each time: the incomplete batch leaves out others


def test_a_batch_of_everything_is_everything(data):
    source = batches(data, size=N)
    assert source.per_epoch == 1
    assert sorted(rows_in(data, source.batch(0))) == list(range(N))


def test_the_data_are_never_expanded():
    packed = np.random.default_rng(2).integers(0, 256, (100_000, 128), np.uint8)  # 1024 spins each
    source = batches(Dataset(packed, n_sites=1024), size=128)
    tracemalloc.start()
    for u in range(3):
        source.batch(u)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6  # the order of an epoch and one batch; one byte per spin would be 100 MB


def test_bad_batches(data):
    with pytest.raises(
        InputError, match="batch_size must be at most the number of configurations, 50, got 51"
    ):
        batches(data, size=51)
