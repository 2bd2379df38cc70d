"""Rungs of the entropy bound in studies, and how narrow ln Z is asked for."""

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.exact import transfer_matrix
from thermorbm.model import RBM, SymmetricRBM
from thermorbm.observables import interactions
from thermorbm.reading import entropy
from thermorbm.reading.entropy import _thinned, log_partition, partition_options
from thermorbm.training.coupling_filters import coupling_filters


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


def symmetric(side):
    return SymmetricRBM(np.ones((1, 3, 3)), (side, side))


def dense(side):
    return RBM(np.ones((20, side * side)), np.zeros(side * side), np.zeros(20))


@pytest.mark.parametrize(
    ("machine", "width", "most_rungs"),
    [
        (symmetric(16), 1.0, 256),
        (symmetric(24), 1.0, 288),
        (symmetric(32), 1.536, 512),
        (symmetric(64), 6.144, 8192),
        (dense(16), 1.024, 512),
        (dense(64), 16.384, 2048),
    ],
)
def test_what_is_asked_of_256_spins_and_more(machine, width, most_rungs):
    """Run directories hold results of these."""
    options = partition_options(machine)
    assert options == {"width": pytest.approx(width), "most_rungs": most_rungs, "most_doubted": 4096}


def test_fewer_spins_ask_for_as_narrow_a_width_per_spin_as_256():
    assert partition_options(symmetric(8))["width"] == pytest.approx(1.0 * 64 / 256)
    assert partition_options(symmetric(9))["width"] == pytest.approx(1.0 * 81 / 256)
    assert partition_options(dense(8))["width"] == pytest.approx(0.004 * 64)


def cold_antiferromagnet():
    """The machine that is the triangular antiferromagnet at T = 0.25 on 6x6, and its ln Z."""
    H = tr.hamiltonian("triangular", (6, 6), coupling=-4.0)
    arrays = coupling_filters(H.products, 0.0, (3, 3), 3)
    machine = SymmetricRBM(arrays["filters"], (6, 6))
    return machine, 36 * (interactions(machine).constant - transfer_matrix(H, 1.0).free_energy)


def test_a_doubted_symmetric_machine_is_annealed_once_more(monkeypatch):
    monkeypatch.setattr(entropy, "MOST_DOUBTED", 16)
    monkeypatch.setattr(entropy, "LAST_RUNGS", 16)
    machine, exact = cold_antiferromagnet()
    assert not log_partition(machine, seed=1, width=2.0).is_trusted
    monkeypatch.setattr(entropy, "LAST_RUNGS", 1024)
    found = log_partition(machine, seed=1, width=2.0)
    assert found.is_trusted
    assert found.n_rungs == 1024
    assert abs(found.value - exact) < 4 * found.error


def test_a_symmetric_machine_of_a_wide_sandwich_is_annealed_once_more(monkeypatch):
    monkeypatch.setattr(entropy, "MOST_DOUBTED", 64)
    monkeypatch.setattr(entropy, "LAST_RUNGS", 512)
    machine, _ = cold_antiferromagnet()
    first = log_partition(machine, seed=1, width=100.0)
    assert first.is_trusted
    asked = (first.upper - first.lower) / 4
    assert log_partition(machine, seed=1, width=asked).n_rungs == 512


def test_a_trusted_machine_is_not_annealed_again(monkeypatch):
    monkeypatch.setattr(entropy, "LAST_RUNGS", 5000)
    warm = SymmetricRBM(np.full((1, 1, 2), 0.3), (6, 6))
    found = log_partition(warm, seed=1)
    assert found.is_trusted
    assert found.n_rungs < 5000
