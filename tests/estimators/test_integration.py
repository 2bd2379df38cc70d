"""Entropy by integration against Kaufman's solution, and both ends against each other in 3d."""

import numpy as np
import pytest

from thermorbm.errors import InputError
from thermorbm.estimators import (
    energy_averages,
    exact_hot_end,
    infinite_temperature,
    integrate_entropy,
    integration_grid,
    ordered_ground_state,
)
from thermorbm.exact import TC_2D, TC_3D, cubic_series, energy_distribution, kaufman
from thermorbm.lattice import Lattice
from thermorbm.samples import sample
from thermorbm.stats import Estimates

AT = np.array([1.5, 2.0, 2.2, 2.25, 2.269, 2.3, 2.4, 2.5, 3.0, 4.0])


def exactly(curve):
    return Estimates(curve, np.zeros_like(curve))


def kaufman_inputs(side, grid):
    exact = kaufman(side, grid)
    return exactly(exact.energy), exactly(exact.heat_capacity)


@pytest.mark.parametrize("side", [16, 64])
@pytest.mark.parametrize("n_points", [60, 80])
def test_sixty_points_integrate_to_a_part_in_a_hundred_thousand(side, n_points):
    grid = integration_grid(1.0, 20.0, TC_2D, n_points)
    found = integrate_entropy(
        grid, *kaufman_inputs(side, grid), infinite_temperature(2), ordered_ground_state(2, side**2), AT
    )
    truth = kaufman(side, AT).entropy
    np.testing.assert_allclose(found.from_infinity.values, truth, atol=2e-6)
    np.testing.assert_allclose(found.from_zero.values, truth, atol=1e-5)  # the tail below T = 1
    assert abs(found.mismatch.value) < 1e-5


def test_a_known_hot_end_replaces_infinity():
    grid = integration_grid(1.0, 5.0, TC_2D, 60)
    known = kaufman(32, 6.0)
    hot = exact_hot_end(6.0, known.energy, known.heat_capacity, known.entropy)
    found = integrate_entropy(grid, *kaufman_inputs(32, grid), hot, ordered_ground_state(2, 1024), [2.0, 5.5])
    np.testing.assert_allclose(found.combined.values, kaufman(32, [2.0, 5.5]).entropy, atol=1e-5)


def sampled_inputs(side, grid, n_samples, rng):
    """Energies drawn from the exact P(E): mean and variance with their true joint errors."""
    averages = []
    for temperature in grid:
        exact = energy_distribution(side, temperature)
        energies = rng.choice(exact.energies, p=exact.probabilities, size=n_samples)
        averages.append(energy_averages(energies, temperature, side**2))
    return Estimates.stack(a.energy for a in averages), Estimates.stack(a.heat_capacity for a in averages)


def test_sampled_energies_give_the_entropy_within_honest_errors():
    side, grid, rng = 32, integration_grid(1.0, 20.0, TC_2D, 64, 0.03), np.random.default_rng(1)
    truth, scores, mismatches = kaufman(side, AT).entropy, [], []
    for seed in range(12):
        found = integrate_entropy(
            grid,
            *sampled_inputs(side, grid, 4000, rng),
            infinite_temperature(2),
            ordered_ground_state(2, side**2),
            AT,
            seed=seed,
        )
        scores.append((found.combined.values - truth) / found.combined.errors)
        mismatches.append(found.mismatch.value / found.mismatch.error)
        assert (found.combined.errors <= found.from_infinity.errors * 1.05).all()
        assert (found.combined.errors <= found.from_zero.errors * 1.05).all()
    root_mean_square = np.sqrt(np.mean(np.square(scores)))
    assert root_mean_square == pytest.approx(1, abs=0.35)  # 12 x 10 correlated scores
    assert np.sqrt(np.mean(np.square(mismatches))) == pytest.approx(1, abs=4 / np.sqrt(24))


def test_fifty_thousand_samples_give_one_part_in_ten_thousand():
    """At the paper's size, N = 4096 and M = 50 000, with errors of that many samples."""
    side, grid = 64, integration_grid(1.0, 20.0, TC_2D, 64, 0.03)
    exact, n = kaufman(side, grid), 50_000
    errors = np.sqrt(grid**2 * exact.heat_capacity / (side**2 * n)), exact.heat_capacity * np.sqrt(2 / n)
    rng = np.random.default_rng(3)
    inputs = [
        Estimates(curve + error * rng.standard_normal(64), error)
        for curve, error in zip((exact.energy, exact.heat_capacity), errors, strict=True)
    ]
    found = integrate_entropy(grid, *inputs, infinite_temperature(2), ordered_ground_state(2, side**2), AT)
    assert found.combined.errors.max() < 1e-4
    score = (found.combined.values - kaufman(side, AT).entropy) / found.combined.errors
    assert np.abs(score).max() < 4


def test_too_coarse_a_grid_is_not_made_worse_by_pooling():
    grid = integration_grid(1.0, 20.0, TC_2D, 24)
    energy, heat = kaufman_inputs(64, grid)
    tiny = Estimates(energy.values, np.full(24, 1e-6))
    ends = infinite_temperature(2), ordered_ground_state(2, 4096)
    pooled = integrate_entropy(grid, tiny, heat, *ends, grid).from_infinity.values
    plain = integrate_entropy(grid, energy, heat, *ends, grid).from_infinity.values
    np.testing.assert_allclose(pooled, plain, atol=2e-5)


@pytest.mark.slow
def test_both_ends_agree_in_3d():
    """16^3 from T = 1.5 to the series at T = 6.5, 64 temperatures: they meet within errors, below 1e-4."""
    lattice, grid = Lattice((16, 16, 16)), integration_grid(1.5, 6.0, TC_3D, 64, 0.03)
    averages = []
    for k, temperature in enumerate(grid):
        data = sample(lattice, temperature, 40_000, seed=k)
        energies = np.concatenate([lattice.energy(block) for block in data.blocks()])
        averages.append(energy_averages(energies, temperature, lattice.n_sites))
    series = cubic_series(6.5)
    at = [2.5, 4.0, 4.25, 4.5, 4.6, 4.75, 5.5, 6.0]
    found = integrate_entropy(
        grid,
        Estimates.stack(a.energy for a in averages),
        Estimates.stack(a.heat_capacity for a in averages),
        exact_hot_end(6.5, series.energy, series.heat_capacity, series.entropy),
        ordered_ground_state(3, lattice.n_sites),
        at,
    )
    assert abs(found.mismatch.z_score(0)) < 4
    assert found.mismatch.error < 1e-4
    assert found.combined.errors.max() < 1e-4
    infinite = cubic_series([5.5, 6.0]).entropy
    score = (found.combined.values[-2:] - infinite) / np.hypot(found.combined.errors[-2:], 1e-6)
    assert np.abs(score).max() < 4


def test_no_temperatures_still_give_the_mismatch():
    grid = integration_grid(1.0, 20.0, TC_2D, 60)
    ends = infinite_temperature(2), ordered_ground_state(2, 256)
    found = integrate_entropy(grid, *kaufman_inputs(16, grid), *ends, at=[])
    assert found.combined.values.shape == (0,)
    assert abs(found.mismatch.value) < 1e-5


def test_grid_is_densest_at_the_transition():
    grid = integration_grid(1.0, 20.0, TC_2D, 60)
    assert len(grid) == 60
    assert grid[0] == pytest.approx(1)
    assert grid[-1] == pytest.approx(20)
    steps = np.diff(1 / grid)
    assert abs(grid[np.argmin(-steps)] - TC_2D) < 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"temperatures": [1.0, 2.0, 3.0]}, "four or more"),
        ({"temperatures": [1.0, 3.0, 2.0, 4.0]}, "ascending"),
        ({"energies": exactly(np.ones(3))}, "energies must be one per temperature, 4"),
        ({"hot": exact_hot_end(3.0, -1, 1, 0.5)}, "hot end must be beta below 0.25"),
        ({"at": [0.5]}, "temperature must be from 1.0 up to the hot end"),
    ],
)
def test_bad_input(change, message):
    given = {
        "temperatures": [1.0, 2.0, 3.0, 4.0],
        "energies": exactly(np.ones(4)),
        "heat_capacities": exactly(np.ones(4)),
        "hot": infinite_temperature(2),
        "cold": ordered_ground_state(2, 16),
    }
    with pytest.raises(InputError, match=message):
        integrate_entropy(**{**given, **change})


def test_bad_grid():
    with pytest.raises(InputError, match="0 < coldest < critical < hottest"):
        integration_grid(3.0, 20.0, TC_2D, 60)
