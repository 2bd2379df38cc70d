import pytest

from oracles.random_inputs import random_parameters
from thermorbm.model import RBM


@pytest.fixture(params=[(3, 5), (5, 3), (6, 8), (8, 6), (1, 1)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def parameters(request):
    return random_parameters(*request.param, seed=sum(request.param))


@pytest.fixture
def rbm(parameters):
    return RBM(*parameters)
