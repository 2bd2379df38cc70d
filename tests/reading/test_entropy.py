"""Rungs of the entropy bound in studies."""

import numpy as np

from thermorbm.reading.entropy import _thinned


def test_the_bound_takes_some_of_the_rungs_of_ln_z():
    betas = np.linspace(0, 1, 513) ** 2
    few = _thinned(betas, 256)
    assert np.array_equal(few, betas[::2])
    assert len(_thinned(betas, 200)) == 201
    assert np.isin(_thinned(betas, 200), betas).all()


def test_few_rungs_are_left_as_they_are():
    betas = np.linspace(0, 1, 40)
    assert _thinned(betas, 39) is betas
    assert _thinned(None, 39) is None
