import numpy as np
import pytest

from thermorbm.model import RBM


def random_parameters(n_hidden, n_visible, seed, scale=0.5):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n_hidden, n_visible)) * scale
    return W, rng.normal(size=n_visible) * scale, rng.normal(size=n_hidden) * scale


@pytest.fixture(params=[(3, 5), (5, 3), (6, 8), (8, 6), (1, 1)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def parameters(request):
    return random_parameters(*request.param, seed=sum(request.param))


@pytest.fixture
def rbm(parameters):
    return RBM(*parameters)
