"""Random configurations and machines to test with."""

import numpy as np

from thermorbm.model import RBM


def random_spins(n, n_sites, seed=0):
    return np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), size=(n, n_sites))


def random_parameters(n_hidden, n_visible, seed, scale=0.5):
    """W, b, c."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n_hidden, n_visible)) * scale
    return W, rng.normal(size=n_visible) * scale, rng.normal(size=n_hidden) * scale


def random_machine(n_hidden, n_visible, seed=0, scale=0.4, dtype=np.float64):
    rng = np.random.default_rng(seed)
    parts = (rng.normal(size=shape) * scale for shape in ((n_hidden, n_visible), n_visible, n_hidden))
    return RBM(*(part.astype(dtype) for part in parts))
