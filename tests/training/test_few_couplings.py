"""Machines of few couplings: their filters, which products data ask for, and what training makes of it."""

import math

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import InputError
from thermorbm.hamiltonians.cells import Product
from thermorbm.inverse_ising import InferredCouplings, asked_products, grid_of, tied_where_unknown
from thermorbm.inverse_ising.likelihood import product_sums
from thermorbm.inverse_ising.selection import _Fit, least_errors
from thermorbm.observables import (
    coupling_estimates,
    infer_couplings,
    interactions,
    negative_log_likelihood,
)
from thermorbm.training.coupling_filters import coupling_filters, n_filters_of
from thermorbm.training.design import choose_design
from thermorbm.training.few_couplings import CouplingDesign, with_few_couplings
from thermorbm.training.recipe import choose_recipe

PLACES = {
    "pair": ((0, 0), (0, 1)),
    "diagonal": ((0, 0), (1, -1)),
    "triangle": ((0, 0), (0, 1), (1, 1)),
    "line": ((0, 0), (1, 0), (2, 0)),
    "square": ((0, 0), (0, 1), (1, 0), (1, 1)),
    "kite": ((0, 0), (1, -1), (1, 1), (2, 0)),
}


def product_of(places, coupling=1.0):
    return Product(tuple((0, place) for place in places), coupling)


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("coupling", [0.02, 0.7, -0.7, 3.0])
def test_filters_of_a_product_make_that_product_and_nothing_else(places, coupling):
    product = product_of(places, coupling)
    arrays = coupling_filters([product], 0.25, (3, 3), 5)
    found = interactions(tr.SymmetricRBM(shape=(8, 8), **{k: a.astype(float) for k, a in arrays.items()}))
    sizes = {label: value for label, value in found.of_order(len(places)).items() if abs(value) > 1e-5}
    assert list(sizes.values()) == pytest.approx([coupling], rel=1e-5)
    assert found.field == pytest.approx(0.25, abs=1e-6)
    others = [v for label, v in found.couplings.items() if len(label) > 1 and label not in sizes]
    assert np.abs(others).max() < 1e-5  # weights are float32


@pytest.mark.parametrize("name", ["triangular", "honeycomb", "kagome", "baxter-wu"])
def test_the_machine_of_a_hamiltonian_has_its_energies(name):
    H = tr.hamiltonian(name, (4, 4), field=0.2)
    window = (2, 2) if H.grid.n_cell == 1 else (2, 2, H.grid.n_cell)
    arrays = coupling_filters(H.products, 0.2, window, n_filters_of(H.products))
    machine = tr.SymmetricRBM(shape=(4, 4), n_cell=H.grid.n_cell, **arrays)
    v = np.random.default_rng(1).choice([-1, 1], (30, H.n_sites))
    difference = machine.visible_energy(v) - H.energy(v)
    np.testing.assert_allclose(difference, difference[0], atol=2e-4)


ASKED = {
    "field": (tr.hamiltonian("square", (8, 8), field=0.1), 2.5),
    "cold antiferromagnet": (tr.hamiltonian("triangular", (6, 6), coupling=-1.0), 0.3),
    "kagome": (tr.hamiltonian("kagome", (4, 4), coupling=-1.0), 1.0),
    "three spins": (tr.hamiltonian("baxter-wu", (6, 6)), 2.6),
    "anisotropic, mixed signs": (tr.hamiltonian("square", (8, 8), coupling=(1.0, -0.5)), 2.2),
}


@pytest.mark.parametrize(("H", "temperature"), ASKED.values(), ids=ASKED)
def test_data_ask_for_the_products_of_their_hamiltonian(H, temperature):
    data = tr.sample(H, temperature, 1000, seed=1)
    asked = asked_products(data, H.grid, (2, 2))
    sites = [{tuple(row) for row in np.sort(terms.sites, axis=1)} for terms in H.grid.expand(asked)]
    wanted = [{tuple(row) for row in np.sort(terms.sites, axis=1)} for terms in H.grid.expand(H.products)]
    assert sorted(map(sorted, sites)) == sorted(map(sorted, wanted))


def test_a_cold_antiferromagnet_in_a_field_asks_for_both_axes():
    """With one axis alone spins turned along the field surprise, and their scatter hides the other slope."""
    H = tr.hamiltonian("square", (12, 12), coupling=-1.0, field=1.0)
    data = tr.sample(H, 1.0, 2000, seed=1)
    (first,) = [product for product in H.products if product.points[1][1] == (0, 1)]
    (second,) = [product for product in H.products if product is not first]
    alone = _Fit.of(data, H.grid, [first])
    assert not alone.slope(second).is_clear(least_errors(2))
    assert _Fit.of(data, H.grid, [first, second]).is_better(alone, least_errors(2))
    asked = asked_products(data, H.grid, (2, 2))
    assert {product.points for product in asked} == {product.points for product in H.products}


def test_independent_spins_ask_for_nothing():
    v = 2 * np.random.default_rng(0).integers(0, 2, (500, 64)) - 1
    data = tr.Dataset.from_spins(v, tr.Lattice((8, 8)))
    assert asked_products(data, grid_of(data), (3, 3)) == ()


def test_order_without_any_exception_asks_for_one_product():
    """Each further one has the same slope in all configurations: no scatter, and yet next to no meaning."""
    checkers = np.where(np.indices((8, 8)).sum(axis=0) % 2, -1, 1).ravel()
    v = checkers * np.where(np.arange(400) % 2, -1, 1)[:, None]
    data = tr.Dataset.from_spins(v, tr.Lattice((8, 8)))
    (asked,) = asked_products(data, grid_of(data), (2, 2))
    assert len(asked.points) == 2


def test_slopes_of_one_search_are_counted_together():
    """Of n slopes without meaning the largest is beyond the limit in one search of ten thousand."""
    for n in (1, 9, 150):
        single = math.erfc(least_errors(n) / math.sqrt(2))
        assert 1 - (1 - single) ** n == pytest.approx(1e-4, rel=1e-3)


def design_for(data, filters=None, **changes):
    design = choose_design(data, "symmetric", None, filters, None)
    return with_few_couplings(design, choose_recipe("fast", changes, design.recipes))


def test_ferromagnets_without_a_field_keep_free_filters():
    for temperature in (1.5, 2.3, 4.0):
        data = tr.sample((8, 8), temperature, 300, seed=1)
        assert not isinstance(design_for(data), CouplingDesign)
        assert not isinstance(design_for(data, zero_bias=True), CouplingDesign)
    in_field = tr.sample(tr.hamiltonian("square", (8, 8), field=0.3), 2.0, 300, seed=1)
    assert isinstance(design_for(in_field), CouplingDesign)
    assert not isinstance(design_for(in_field, zero_bias=True), CouplingDesign)


def test_as_many_filters_as_products_take_unless_fewer_are_asked_for():
    data = tr.sample(tr.hamiltonian("baxter-wu", (6, 6)), 2.6, 1000, seed=1)
    assert design_for(data).n_filters == 8
    assert not isinstance(design_for(data, filters=4), CouplingDesign)
    assert not isinstance(design_for(data, zero_bias=True), CouplingDesign)  # three spins need biases


@pytest.fixture(scope="module")
def in_field():
    return tr.sample(tr.hamiltonian("square", (8, 8), field=0.2), 2.2, 1000, seed=3)


@pytest.fixture(scope="module")
def trained(in_field):
    return tr.train(in_field, model="symmetric", seed=1)


def test_a_machine_in_a_field_has_its_couplings_within_their_errors(in_field, trained):
    assert trained.converged
    found, learned = coupling_estimates(trained.rbm), interactions(trained.rbm)
    assert abs(found.field.z_score(0.2 / 2.2)) < 4
    assert learned.field == pytest.approx(found.field.value, rel=1e-5)
    for vector in ((0, 1), (1, 0)):
        assert abs(found.couplings[vector].z_score(1 / 2.2)) < 4
        assert learned.vectors[vector] == pytest.approx(found.couplings[vector].value, rel=1e-5)


def test_likelihood_knows_the_field_better_than_pseudo_likelihood(in_field, trained):
    """Its errors are those of the Fisher information, and 6 % for the configurations of the model."""
    grid = in_field.spins().reshape(-1, 8, 8).astype(float)
    pairs = [(grid * np.roll(grid, 1, axis)).sum((1, 2)) for axis in (1, 2)]
    sums = np.stack([grid.sum((1, 2)), *pairs], axis=1)
    fisher = np.sqrt(np.diag(np.linalg.inv(np.cov(sums, rowvar=False) * len(grid))))
    stated = coupling_estimates(trained.rbm).estimates
    for error, label in zip(fisher, (("field",), (1, 0), (0, 1)), strict=True):
        assert stated[label].error == pytest.approx(1.06 * error, rel=0.15)  # a covariance of 1000 rows
    assert stated["field",].error < infer_couplings(in_field).field.error


def test_the_model_has_the_averages_of_the_data(in_field, trained):
    """At the maximum of the likelihood they are equal, but for the noise of both."""
    learned = interactions(trained.rbm)
    H = tr.hamiltonian("square", (8, 8), coupling=learned.nearest, field=learned.field)
    made = tr.sample(H, 1.0, 8000, seed=4)
    data, model = (part.spins().mean(axis=1) for part in (in_field, made))
    noise = np.sqrt(model.var() / 8000 + model.var() / 8000)  # of these, and of those it was trained with
    assert abs(data.mean() - model.mean()) < 4 * noise


def test_same_seed_same_bits_and_checkpoints_go_on(in_field, trained, tmp_path):
    class StopError(Exception):
        pass

    def stop(step):
        if step.update == 2:
            raise StopError

    path = tmp_path / "run.h5"
    with pytest.raises(StopError):
        tr.train(in_field, model="symmetric", seed=1, checkpoint=path, progress=stop)
    again = tr.train(in_field, model="symmetric", seed=1, checkpoint=path)
    for name, array in trained.rbm.parameters.items():
        np.testing.assert_array_equal(array, again.rbm.parameters[name])
    np.testing.assert_array_equal(trained.history["update"], [1, 2, 3])


def test_machines_of_several_sites_are_trained_saved_and_loaded(tmp_path):
    H = tr.hamiltonian("honeycomb", (6, 6), coupling=(1.0, 0.5, -0.8))
    data = tr.sample(H, 1.5, 1000, seed=1)
    result = tr.train(data, model="symmetric", seed=1)
    assert result.converged
    assert result.rbm.n_cell == 2
    found, learned = coupling_estimates(result.rbm).couplings, interactions(result.rbm).vectors
    for label, coupling in {(0, 1, (0, 0)): 1.0, (1, 0, (1, 0)): 0.5, (1, 0, (0, 1)): -0.8}.items():
        assert abs(found[label].z_score(coupling / 1.5)) < 4
        assert learned[label] == pytest.approx(found[label].value, rel=1e-5)
    result.rbm.save(tmp_path / "m.h5")
    loaded = tr.load_machine(tmp_path / "m.h5")
    v = data.spins(0, 5)
    np.testing.assert_array_equal(loaded.visible_energy(v), result.rbm.visible_energy(v))
    assert coupling_estimates(loaded).labels == coupling_estimates(result.rbm).labels


def test_other_recipes_are_refused_for_cells_of_several_sites():
    data = tr.sample(tr.hamiltonian("honeycomb", (4, 4)), 3.0, 200, seed=1)
    with pytest.raises(InputError, match="cells of several sites"):
        tr.train(data, model="symmetric", recipe="paper")


def test_free_machines_need_their_data_for_errors():
    data = tr.sample((8, 8), 3.0, 2000, seed=1)
    w = np.arccosh(np.exp(2 / 3)) / 2
    filters = np.zeros((2, 2, 2))
    filters[0, 0, :], filters[1, :, 0] = w, w
    machine = tr.SymmetricRBM(filters, (8, 8))
    with pytest.raises(InputError, match="trained on"):
        coupling_estimates(machine)
    found = coupling_estimates(machine, data)
    grid = data.spins().reshape(-1, 8, 8).astype(float)
    sums = np.stack([(grid * np.roll(grid, 1, axis)).sum((1, 2)) for axis in (2, 1)], axis=1)
    fisher = np.sqrt(np.diag(np.linalg.inv(np.cov(sums, rowvar=False) * len(grid))))
    for error, vector in zip(fisher, ((0, 1), (1, 0)), strict=True):
        assert found.couplings[vector].value == pytest.approx(1 / 3, rel=1e-6)
        assert found.couplings[vector].error == pytest.approx(error, rel=1e-6)


def one_excited_spin():
    """Ground states of the triangular antiferromagnet, one of them with a spin against its neighbours."""
    H = tr.hamiltonian("triangular", (6, 6), coupling=-1.0)
    v = np.array(tr.sample(H, 0.25, 1000, seed=1).spins())
    costs = np.stack([H.energy(np.where(np.arange(36) == site, -v[:1], v[:1])) for site in range(36)])
    v[0, np.flatnonzero(costs > H.energy(v[:1]))[0]] *= -1
    return tr.Dataset.from_spins(v.reshape(-1, 6, 6), hamiltonian=H)


def test_couplings_that_one_excited_spin_would_tell_apart_are_one():
    data = one_excited_spin()
    alone = infer_couplings(data, model=data.hamiltonian)
    low, high = 1 + np.argmin(alone.values[1:]), 1 + np.argmax(alone.values[1:])
    apart = np.zeros(4)
    apart[[low, high]] = -1, 1
    assert apart @ alone.values > 10 * np.sqrt(apart @ alone.covariance @ apart)  # errors that do not hold
    machine = tr.train(data, model="symmetric", seed=1).rbm
    found = coupling_estimates(machine)
    assert len(found.labels) == 4
    assert np.ptp(found.values[1:]) == 0
    assert apart @ alone.values < 3 * np.sqrt(apart @ found.covariance @ apart)


def test_couplings_that_data_show_are_left_as_they_are():
    H = tr.hamiltonian("triangular", (6, 6), coupling=-1.0)
    inferred = infer_couplings(tr.sample(H, 1.0, 1000, seed=1), model=H)
    assert tied_where_unknown(inferred, np.array([False, True, True, True])) is inferred


def test_unlike_couplings_are_not_tied_where_one_direction_is_unknown():
    values, curvature = np.array([0.0, 2.0, -1.0]), np.diag([1.0, 100.0, 100.0])
    covariance = np.diag([1.0, 0.01, 0.0])
    inferred = InferredCouplings((("field",), (0, 1), (1, 0)), values, covariance, curvature)
    assert tied_where_unknown(inferred, np.array([False, True, True])) is inferred


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.8, 2.2, 2.6])
@pytest.mark.parametrize("seed", [1, 2])
def test_field_and_coupling_are_within_three_errors_which_are_near_those_of_fisher(temperature, seed):
    """16x16, h = 0.1, 2000 configurations: the seeds of benchmarks/field_machines.py, which has all 42."""
    H = tr.hamiltonian("square", (16, 16), field=0.1)
    data = tr.sample(H, temperature, 2000, seed=1000 * seed + round(10 * temperature))
    result = tr.train(data, model="symmetric", seed=seed)
    found = coupling_estimates(result.rbm)
    assert result.converged
    assert len(found.labels) == 3
    sums = product_sums(data.spins(), H.grid, asked_products(data, H.grid, (3, 3)))
    fisher = np.sqrt(np.diag(np.linalg.inv(np.cov(sums, rowvar=False) * len(data))))
    for k, truth in enumerate((0.1, 1.0, 1.0)):
        assert abs(found.values[k] - truth / temperature) < 3 * found.errors[k]
        assert found.errors[k] < 1.5 * fisher[k]


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_entropy_of_the_triangular_antiferromagnet_is_that_of_its_torus(temperature):
    H = tr.hamiltonian("triangular", (6, 6), coupling=-1.0)
    exact = tr.exact.transfer_matrix(H, temperature).entropy
    machine = tr.train(tr.sample(H, temperature, 4000, seed=1), model="symmetric", seed=1).rbm
    log_z = machine.log_partition(method="ais", width=0.2, seed=1)
    nll = negative_log_likelihood(machine, tr.sample(H, temperature, 20_000, seed=2), log_z)
    assert abs(nll.value - exact) < max(0.001, 3 * nll.error)
    assert log_z.is_trusted
