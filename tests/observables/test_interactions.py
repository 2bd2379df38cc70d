"""Couplings read from machines: exact expansions, the Ising machine, and recovery of a known Hamiltonian."""

import math

import numpy as np
import pytest

from oracles.general_ising import energy_over_t, exact_average, heat_bath
from thermorbm import RBM, Dataset, Lattice, SymmetricRBM, train
from thermorbm.errors import InputError
from thermorbm.exact import ising_rbm
from thermorbm.observables import hamiltonian_energy, interactions, pair_estimates, temperature_estimate


def random_machine(shape, window, seed=1, scale=0.5):
    rng = np.random.default_rng(seed)
    return SymmetricRBM(rng.normal(size=(2, *window)) * scale, shape, 0.3, rng.normal(size=2) * 0.5)


def spins(n, width, seed=2):
    return np.random.default_rng(seed).choice([-1, 1], (n, width))


def energy_of(found, v):
    """The Hamiltonian summed up product by product."""
    grids = v.reshape(-1, *found.shape)
    axes = tuple(range(1, grids.ndim))
    total = np.full(len(v), -found.constant * v.shape[1])
    for product, coupling in found.couplings.items():
        factors = [np.roll(grids, [-x for x in place], axes) for place in product]
        total -= coupling * np.prod(factors, axis=0).reshape(len(v), -1).sum(axis=1)
    return total


@pytest.mark.parametrize(
    ("shape", "window"),
    [((7,), (3,)), ((5, 6), (2, 2)), ((4, 4), (1, 4)), ((2, 2), (2, 2)), ((3, 2), (2, 2))],
)
def test_products_of_small_windows_are_the_whole_energy(shape, window):
    """Windows of up to four sites have no larger products: nothing is left out, on tiny lattices too."""
    machine = random_machine(shape, window)
    v = spins(20, machine.n_visible)
    np.testing.assert_allclose(energy_of(interactions(machine), v), machine.visible_energy(v), rtol=1e-12)


@pytest.mark.parametrize("shape", [(8,), (6, 5), (4, 4, 4)], ids=str)
@pytest.mark.parametrize("temperature", [0.5, 2.25, 6.0])
def test_the_ising_machine_has_the_couplings_of_the_ising_model(shape, temperature):
    lattice = Lattice(shape)
    machine = ising_rbm(lattice, temperature)
    found = interactions(machine)
    assert found.nearest == pytest.approx(1 / temperature, rel=1e-12)
    expected = len(shape)
    neighbours = [value for value in found.of_order(2).values() if abs(value) > 1e-12]
    np.testing.assert_allclose(neighbours, [1 / temperature] * expected, rtol=1e-12)
    for order in (1, 3, 4):
        np.testing.assert_allclose(list(found.of_order(order).values()), 0, atol=1e-13)
    v = spins(9, lattice.n_sites)
    np.testing.assert_allclose(hamiltonian_energy(machine, v), lattice.energy(v), rtol=1e-10, atol=1e-9)
    assert temperature_estimate([machine]).value == pytest.approx(temperature, rel=1e-12)


def test_pairs_by_displacement():
    """Four products of a 2x2 window: neighbours along two axes, and two diagonals."""
    machine = random_machine((6, 6), (2, 2))
    found = interactions(machine)
    assert list(found.pairs) == [(0, 1), (1, 1)]
    second = found.of_order(2)
    assert found.nearest == pytest.approx((second[(0, 0), (0, 1)] + second[(0, 0), (1, 0)]) / 2)
    diagonals = second[(0, 0), (1, 1)] + second[(0, 0), (1, 5)]
    assert found.pairs[1, 1] == pytest.approx(diagonals / 2)


def test_errors_over_seeds():
    machines = [random_machine((6, 6), (2, 2), seed) for seed in range(4)]
    values = [interactions(machine).nearest for machine in machines]
    found = pair_estimates(machines)[0, 1]
    assert found.value == pytest.approx(np.mean(values))
    assert found.error == pytest.approx(np.std(values, ddof=1) / 2)
    assert math.isnan(pair_estimates(machines[:1])[0, 1].error)


ALONG, DOWN = ((0, 0), (0, 1)), ((0, 0), (1, 0))
DIAGONALS = ((0, 0), (1, 1)), ((0, 0), (1, -1))
PLAQUETTE = ((0, 0), (0, 1), (1, 0), (1, 1))


@pytest.mark.parametrize("product", [DIAGONALS[0], PLAQUETTE])
def test_the_slow_sampler_samples_its_model(product):
    couplings = {ALONG: 0.3, DOWN: 0.3, DIAGONALS[0]: 0.15, PLAQUETTE: -0.2}
    drawn = heat_bath((3, 3), couplings, 4000, 30, seed=1)
    factors = [np.roll(drawn, [-x for x in r], (1, 2)) for r in product]
    averages = np.prod(factors, axis=0).reshape(len(drawn), -1).mean(axis=1)
    error = averages.std() / math.sqrt(len(drawn))
    assert abs(averages.mean() - exact_average((3, 3), couplings, product)) < 4 * error


def learned(couplings, shape):
    """Machines of three seeds, and the grids that they were trained on."""
    drawn = np.concatenate([heat_bath(shape, couplings, 2000, 25, seed) for seed in (1, 2)])
    data = Dataset.from_spins(drawn.reshape(len(drawn), -1), Lattice(shape))
    options = {"model": "symmetric", "filters": 4, "kernel": 3, "zero_bias": True, "threads": 1}
    return [train(data, seed=seed, **options).rbm for seed in (1, 2, 3)], drawn


def test_recovery_of_a_diagonal_coupling():
    """Samples of a model with neighbours 0.2 and diagonals 0.1: both come back, all else vanishes."""
    couplings = {ALONG: 0.2, DOWN: 0.2, **dict.fromkeys(DIAGONALS, 0.1)}
    machines, drawn = learned(couplings, (10, 10))
    found = pair_estimates(machines)
    # The data determine a coupling to about 1 / sqrt(2 n_spins); training adds noise that seeds show.
    for r, expected in {(0, 1): 0.2, (1, 1): 0.1, (0, 2): 0.0, (1, 2): 0.0, (2, 2): 0.0}.items():
        error = math.hypot(found[r].error, 1 / math.sqrt(2 * drawn.size))
        assert error < 0.004
        assert abs(found[r].value - expected) < 5 * error, r
    v = drawn[:200]
    energies = hamiltonian_energy(machines[0], v.reshape(200, -1)) * interactions(machines[0]).nearest
    assert np.corrcoef(energies, energy_over_t(v, couplings))[0, 1] > 0.999


def test_recovery_of_a_coupling_of_four_spins():
    """The prior holds such couplings at 0 until data speak for them; then it takes 1 % at 0.1."""
    machines, drawn = learned({ALONG: 0.2, DOWN: 0.2, PLAQUETTE: 0.1}, (10, 10))
    for found, expected in (
        ([interactions(machine).nearest for machine in machines], 0.2),
        ([interactions(machine).of_order(4)[PLAQUETTE] for machine in machines], 0.1),
    ):
        error = math.hypot(np.std(found, ddof=1) / math.sqrt(3), 1 / math.sqrt(drawn.size))
        assert error < 0.004
        assert abs(np.mean(found) - expected) < 5 * error + 0.01 * expected


def test_bad_input():
    with pytest.raises(InputError, match="machine must be a symmetric machine, got 'RBM'"):
        interactions(RBM(np.zeros((2, 3)), np.zeros(3), np.zeros(2)))
    with pytest.raises(
        InputError, match=r"window must be of at most 16 sites, got \(5, 5\); train a smaller"
    ):
        interactions(random_machine((6, 6), (5, 5)))
    with pytest.raises(InputError, match="window must be two or more sites wide"):
        _ = interactions(random_machine((6, 6), (1, 1))).nearest
