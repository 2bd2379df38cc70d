import pytest

from oracles.random_inputs import random_machine, random_spins
from thermorbm.dataset import Dataset
from thermorbm.lattice import Lattice


@pytest.fixture(params=[(4, 4), (3, 4), (6,), (3, 2, 3)], ids=str)
def lattice(request):
    return Lattice(request.param)


@pytest.fixture
def machine(lattice):
    return random_machine(5, lattice.n_sites)


@pytest.fixture
def data(lattice):
    return Dataset.from_spins(random_spins(40, lattice.n_sites), lattice, 2.25)


@pytest.fixture
def small_blocks(monkeypatch):
    """Everything that streams sees a few configurations at a time."""
    monkeypatch.setattr("thermorbm.dataset.BLOCK_SPINS", 64)
    monkeypatch.setattr("thermorbm.observables.likelihood._SPINS_AT_ONCE", 64)
    monkeypatch.setattr("thermorbm.observables.configurations._SPINS_AT_ONCE", 64)
    monkeypatch.setattr("thermorbm.observables.generation._SPINS_AT_ONCE", 64)
    monkeypatch.setattr("thermorbm.observables.weights._UNITS_AT_ONCE", 2)
