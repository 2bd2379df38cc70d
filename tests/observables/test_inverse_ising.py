"""Couplings from configurations: against the true ones, an independent optimiser, and coverage of errors."""

import numpy as np
import pytest
from scipy.optimize import minimize

import thermorbm as tr
from thermorbm.errors import InputError
from thermorbm.inverse_ising import FIELD
from thermorbm.observables import infer_couplings

CASES = {
    "field": (tr.hamiltonian("square", (8, 8), field=0.1), 2.5, {(1, 0): 1.0, (0, 1): 1.0}),
    "anisotropic": (tr.hamiltonian("square", (8, 8), coupling=(1, 0.5)), 2.2, {(1, 0): 1.0, (0, 1): 0.5}),
    "triangular": (
        tr.hamiltonian("triangular", (6, 6), coupling=(-1, -0.5, 0.25)),
        1.5,
        {(1, 0): -1.0, (0, 1): -0.5, (1, 1): 0.25},
    ),
    "honeycomb": (
        tr.hamiltonian("honeycomb", (4, 4), coupling=(1, 0.5, 0.8)),
        2.0,
        {(0, 1, (0, 0)): 1.0, (1, 0, (1, 0)): 0.5, (1, 0, (0, 1)): 0.8},
    ),
}


@pytest.mark.parametrize(("H", "temperature", "wanted"), CASES.values(), ids=CASES)
def test_each_direction_has_its_own_coupling(H, temperature, wanted):
    data = tr.sample(H, temperature, 2000, seed=1)
    found = infer_couplings(data)
    for label, estimate in found.couplings.items():
        assert abs(estimate.z_score(wanted.get(label, 0.0) / temperature)) < 4
    assert wanted.keys() <= found.couplings.keys()
    assert abs(found.field.z_score(float(H.field[0]) / temperature)) < 4


def _pseudo_likelihood(data, parameters):
    """Cost of a field and one coupling for each axis, in obvious arithmetic."""
    grid = data.spins().reshape(-1, *data.lattice.shape).astype(float)
    h, *couplings = parameters
    field = h + sum(
        J * (np.roll(grid, 1, axis) + np.roll(grid, -1, axis)) for axis, J in enumerate(couplings, 1)
    )
    return np.logaddexp(0, -2 * grid * field).sum()


def test_maximum_is_that_of_another_optimiser():
    H = tr.hamiltonian("square", (5, 5), field=0.2)
    data = tr.sample(H, 2.5, 200, seed=2)
    found = infer_couplings(data, model=H)
    wanted = minimize(lambda p: _pseudo_likelihood(data, p), np.zeros(3), tol=1e-10).x
    np.testing.assert_allclose(found.values, wanted, atol=1e-4)
    assert found.labels == (FIELD, (1, 0), (0, 1))


def test_products_of_three_spins_and_single_bonds():
    H = tr.hamiltonian("baxter-wu", (6, 6))
    found = infer_couplings(tr.sample(H, 2.5, 1000, seed=1), model=H)
    assert all(abs(estimate.z_score(1 / 2.5)) < 4 for estimate in found.couplings.values())
    glass = tr.hamiltonian("pm-j", (4, 4), seed=1)
    found = infer_couplings(tr.sample(glass, 2.0, 2000, seed=1), model=glass)
    scores = [
        estimate.z_score(J / 2)
        for estimate, J in zip(found.couplings.values(), glass.terms[0].couplings, strict=True)
    ]
    assert max(map(abs, scores)) < 4.5
    assert np.mean(np.square(scores)) < 2


def test_without_a_lattice_every_pair_has_its_own():
    H = tr.hamiltonian(bonds=[(0, 1, 1.0), (1, 2, -0.5), (2, 3, 0.25)])
    data = tr.sample(H, 1.0, 5000, seed=1)
    found = infer_couplings(data)
    true = {(0, 1): 1.0, (1, 2): -0.5, (2, 3): 0.25}
    assert len(found.couplings) == 6
    for label, estimate in found.couplings.items():
        assert abs(estimate.z_score(true.get(label, 0.0))) < 4


def test_bad_input_is_named():
    data = tr.sample(tr.Lattice((4, 4)), 3.0, 50, seed=1)
    with pytest.raises(InputError, match="shortest side"):
        infer_couplings(data, reach=2)
    with pytest.raises(InputError, match="whole number"):
        infer_couplings(data, reach=0)
    with pytest.raises(InputError, match="16 sites"):
        infer_couplings(data, model=tr.hamiltonian("square", (5, 5)))


@pytest.mark.slow
def test_errors_cover_the_truth_as_often_as_they_should():
    """Of 400 datasets the share within one error is that of a normal distribution, in each parameter."""
    H, temperature, n, size = tr.hamiltonian("square", (8, 8), field=0.1), 2.5, 400, 200
    pool = tr.sample(H, temperature, n * size, seed=1)
    truth = np.array([0.1, 1.0, 1.0]) / temperature
    found = [infer_couplings(pool[k * size : (k + 1) * size], model=H) for k in range(n)]
    scores = np.array([(one.values - truth) / one.errors for one in found])
    covered = (np.abs(scores) < 1).mean(axis=0)
    assert (np.abs(covered - 0.6827) < 4 * np.sqrt(0.6827 * 0.3173 / n)).all()
    assert (covered > 0.60).all()
    assert (covered < 0.76).all()
