"""Symmetric machines whose cells have several sites, beside the dense machine with the same energy."""

import numpy as np
import pytest

from thermorbm import SymmetricRBM
from thermorbm.errors import InputError
from thermorbm.observables import interactions


@pytest.fixture
def machine():
    rng = np.random.default_rng(1)
    return SymmetricRBM(rng.normal(size=(4, 2, 3, 3)) * 0.4, (3, 4), 0.3, rng.normal(size=4), n_cell=3)


@pytest.fixture
def v():
    return np.random.default_rng(2).choice([-1.0, 1.0], (7, 36))


def test_weights_repeat_from_cell_to_cell(machine):
    W = machine.W.reshape(4, 3, 4, 3, 4, 3)
    shifted = np.roll(np.roll(W, 1, axis=(1)), 1, axis=3)
    np.testing.assert_array_equal(W, shifted)
    np.testing.assert_array_equal(W[1, 0, 0, 0, 1, 2], machine.filters[1, 0, 2, 2])  # origin (0, 1)


def test_all_layers_are_those_of_the_dense_machine(machine, v):
    dense, h = machine.to_dense(), np.random.default_rng(3).choice([-1.0, 1.0], (7, machine.n_hidden))
    for ours, wanted in (
        (machine.hidden_inputs(v), dense.hidden_inputs(v)),
        (machine.visible_inputs(h), dense.visible_inputs(h)),
        (machine.visible_energy(v), dense.visible_energy(v)),
        (machine.flip_energies(v), dense.flip_energies(v)),
        (machine.pseudo_likelihood(v), dense.pseudo_likelihood(v)),
        (machine.hidden_field(h), dense.hidden_field(h)),
    ):
        np.testing.assert_allclose(ours, wanted, rtol=1e-10, atol=1e-10)
    sites = np.array([0, 1, 2, 5, 17, 34, 35])
    np.testing.assert_allclose(machine.flip_energy(v, sites), machine.flip_energies(v)[np.arange(7), sites])


def test_gradients_are_slopes_of_the_energy(machine, v):
    h = np.tanh(machine.hidden_inputs(v))
    slopes = machine.gradient_sums(v, h)["filters"]
    step = np.zeros_like(machine.filters)
    step[2, 1, 0, 1] = 1e-6
    moved = SymmetricRBM(machine.filters + step, (3, 4), 0.3, machine.hidden_bias, n_cell=3)
    change = (machine.visible_energy(v) - moved.visible_energy(v)).sum() / 1e-6
    assert slopes[2, 1, 0, 1] == pytest.approx(change, rel=1e-4)


def test_products_of_few_places_in_a_large_window_are_the_whole_energy():
    filters = np.zeros((3, 3, 3, 3))
    filters[0, 0, 0, 0], filters[0, 1, 2, 2] = 0.5, -0.7
    filters[1, 2, 2, 1], filters[1, 0, 1, 0], filters[1, 1, 1, 2] = 0.4, 0.8, -0.3
    machine = SymmetricRBM(filters, (4, 5), 0.1, [0.0, 0.2, 0.3], n_cell=3)
    v = np.random.default_rng(4).choice([-1, 1], (10, 60))
    found, cells = interactions(machine), v.reshape(10, 4, 5, 3)
    total = np.full(10, -found.constant * 20)
    for product, coupling in found.couplings.items():
        seen = [np.roll(cells[..., site], (-a, -b), (1, 2)) for a, b, site in product]
        total -= coupling * np.prod(seen, axis=0).sum((1, 2))
    np.testing.assert_allclose(total, machine.visible_energy(v), rtol=1e-10)


def test_filters_have_as_many_sites_as_cells():
    with pytest.raises(InputError, match=r"\(n_filters, k, k, 2\)"):
        SymmetricRBM(np.zeros((2, 3, 3, 3)), (4, 4), n_cell=2)
    with pytest.raises(InputError, match="n_cell"):
        SymmetricRBM(np.zeros((2, 3, 3)), (4, 4), n_cell=0)
