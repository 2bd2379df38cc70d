"""Symmetric machines start as the pair model that the data's pseudo-likelihood prefers."""

import numpy as np
import pytest
from numpy.random import SeedSequence

import thermorbm as tr
from thermorbm.errors import InputError
from thermorbm.inverse_ising import infer_couplings
from thermorbm.observables import interactions
from thermorbm.training.start import _two_taps, pair_start


@pytest.mark.parametrize("offset", [(0, 1), (1, 0), (1, 1), (1, -1), (2, -1), (2, 2)])
@pytest.mark.parametrize("coupling", [0.4, -0.7])
def test_two_weights_are_one_coupling(offset, coupling):
    filters = _two_taps((3, 3), offset, coupling)[None]
    found = interactions(tr.SymmetricRBM(filters, (8, 8))).vectors
    assert found[offset] == pytest.approx(coupling, rel=1e-12)
    assert max(abs(value) for vector, value in found.items() if vector != offset) < 1e-12


def _start(data, n_filters=4):
    arrays = pair_start(data, n_filters, (3, 3), SeedSequence(1))
    return interactions(tr.SymmetricRBM(shape=data.lattice.shape, **arrays))


def test_start_has_the_couplings_and_the_field_of_the_pseudo_likelihood():
    H = tr.hamiltonian("triangular", (12, 12), coupling=(-1, -0.5, 0.75), field=0.4)
    data = tr.sample(H, 2.0, 1000, seed=1)
    start, inferred = _start(data), infer_couplings(data, reach=2)
    for vector in ((1, 0), (0, 1), (1, 1)):
        assert start.vectors[vector] == pytest.approx(inferred.couplings[vector].value, abs=0.05)
    assert start.field == pytest.approx(inferred.field.value, abs=1e-6)


def test_without_a_field_the_start_has_none():
    assert _start(tr.sample(tr.Lattice((8, 8)), 2.0, 500, seed=1)).field == pytest.approx(0, abs=1e-9)


def test_independent_spins_start_at_random_filters():
    v = 2 * np.random.default_rng(0).integers(0, 2, (200, 64)) - 1
    data = tr.Dataset.from_spins(v, tr.Lattice((8, 8)))
    arrays = pair_start(data, 4, (3, 3), SeedSequence(1))
    assert 0 < np.abs(arrays["filters"]).max() < 1


def test_disorder_and_edges_are_refused_for_symmetric_machines():
    for H in (tr.hamiltonian("pm-j", (6, 6)), tr.hamiltonian("square", (6, 6), open=True)):
        with pytest.raises(InputError, match="infer_couplings"):
            tr.train(tr.sample(H, 3.0, 100, seed=1), model="symmetric")
