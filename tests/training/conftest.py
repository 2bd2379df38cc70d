import numpy as np
import pytest
import torch

from thermorbm import Dataset, Lattice, sample
from thermorbm.training import loop


@pytest.fixture(scope="session", autouse=True)
def one_core():
    """Torch's threads fight over the cores when tests run side by side."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def ising_data():
    """4000 configurations of 8x8 spins at T = 2.5."""
    return sample(Lattice((8, 8)), temperature=2.5, n_samples=4000, seed=1)


@pytest.fixture(scope="session")
def coins():
    """600 random configurations of 4x5 spins: unlike each other, and cheap."""
    spins = np.random.default_rng(7).choice([-1, 1], (600, 20))
    return Dataset.from_spins(spins, Lattice((4, 5)), temperature=3.0)


@pytest.fixture
def many_records(monkeypatch):
    """A record after every 24 updates of batches of 50 out of 600."""
    monkeypatch.setattr(loop, "LEAST_STRIDE", 24)
