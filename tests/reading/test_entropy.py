"""Rungs of the entropy bound in studies, and how narrow ln Z is asked for."""

import numpy as np
import pytest

from thermorbm.model import RBM, SymmetricRBM
from thermorbm.reading.entropy import _thinned, partition_options


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
    ("machine", "width", "most_rungs", "most_doubted"),
    [
        (symmetric(16), 1.0, 256, 16384),
        (symmetric(24), 1.0, 288, 16384),
        (symmetric(32), 1.536, 512, 4096),
        (symmetric(64), 6.144, 8192, 4096),
        (dense(16), 1.024, 512, 4096),
        (dense(64), 16.384, 2048, 4096),
    ],
)
def test_what_is_asked_of_256_spins_and_more(machine, width, most_rungs, most_doubted):
    """Run directories hold results of these."""
    options = partition_options(machine)
    wanted = {"most_rungs": most_rungs, "most_doubted": most_doubted}
    assert options == {"width": pytest.approx(width), **wanted}


def test_fewer_spins_ask_for_as_narrow_a_width_per_spin_as_256():
    assert partition_options(symmetric(8))["width"] == pytest.approx(1.0 * 64 / 256)
    assert partition_options(symmetric(9))["width"] == pytest.approx(1.0 * 81 / 256)
    assert partition_options(dense(8))["width"] == pytest.approx(0.004 * 64)
