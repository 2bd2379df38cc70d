"""The order parameter follows the order: of the Hamiltonian where it is known, of the data otherwise."""

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.observables import order_pattern, quality
from thermorbm.observables.mere_order import mere_order

CHECKERBOARD = np.where(np.indices((8, 8)).sum(axis=0) % 2, -1, 1).ravel()


@pytest.fixture(scope="module")
def antiferromagnet():
    return tr.sample(tr.hamiltonian("square", (8, 8), coupling=-1.0), 1.8, 500, seed=1)


def test_sublattices_of_an_antiferromagnet(antiferromagnet):
    np.testing.assert_array_equal(order_pattern(antiferromagnet), CHECKERBOARD)
    unnamed = tr.Dataset.from_spins(antiferromagnet.spins(), lattice=(8, 8))
    np.testing.assert_array_equal(order_pattern(unnamed), CHECKERBOARD)  # by its principal component


def test_all_up_for_ferromagnets_and_without_order():
    for data in (
        tr.sample((8, 8), 1.8, 500, seed=1),
        tr.Dataset.from_spins(tr.sample((8, 8), 1.8, 500, seed=1).spins(), lattice=(8, 8)),
        tr.Dataset.from_spins(np.random.default_rng(1).choice([-1, 1], (500, 64)), lattice=(8, 8)),
    ):
        assert (order_pattern(data) == 1).all()


def test_mere_order_of_an_antiferromagnet_is_that_of_the_turned_ferromagnet(antiferromagnet):
    turned = tr.Dataset.from_spins(antiferromagnet.spins() * CHECKERBOARD, lattice=(8, 8))
    np.testing.assert_allclose(mere_order(antiferromagnet), mere_order(turned), rtol=1e-6)
    assert mere_order(antiferromagnet).mean() < 0.6 * 64 * np.log(2)


def test_quality_compares_the_staggered_order(antiferromagnet):
    machine = tr.train(antiferromagnet, model="symmetric", seed=1).rbm
    found = {
        item.quantity: item for item in quality(machine, antiferromagnet, n_chains=16, n_steps=50).comparisons
    }
    assert found["abs_magnetization"].data.value > 0.8
