"""Thermal averages against exact distributions."""

import numpy as np
import pytest

from thermorbm.errors import InputError
from thermorbm.estimators import energy_averages, magnetic_averages
from thermorbm.exact import boltzmann, energy_distribution, kaufman
from thermorbm.lattice import Lattice


def test_energy_and_heat_capacity_of_samples_of_the_exact_distribution():
    side, temperature, scores = 16, 2.3, []
    exact, truth = energy_distribution(side, temperature), kaufman(side, temperature)
    rng, n_trials = np.random.default_rng(1), 400
    for _ in range(n_trials):
        energies = rng.choice(exact.energies, p=exact.probabilities, size=4000)
        found = energy_averages(energies, temperature, side**2)
        scores.append((found.energy.z_score(truth.energy), found.heat_capacity.z_score(truth.heat_capacity)))
    assert (np.abs(np.mean(scores, axis=0)) < 4 / np.sqrt(n_trials)).all()
    np.testing.assert_allclose(np.std(scores, axis=0), 1, atol=4 / np.sqrt(2 * n_trials))


def test_magnetization_and_susceptibility_of_enumerated_states():
    lattice, temperature = Lattice((3, 4)), 2.5
    exact = boltzmann(lattice, temperature)
    m = lattice.magnetization(exact.states)
    drawn = np.random.default_rng(1).choice(m, p=exact.probabilities, size=50_000)
    found = magnetic_averages(drawn, temperature, 12)
    mean = exact.probabilities @ np.abs(m)
    assert abs(found.abs_magnetization.z_score(mean)) < 4
    variance = exact.probabilities @ m**2 - mean**2
    assert abs(found.susceptibility.z_score(12 * variance / temperature)) < 4


@pytest.mark.parametrize(
    "call",
    [
        lambda: energy_averages([1, 2, 3], 0.0, 4),
        lambda: energy_averages([1], 1.0, 4),
        lambda: magnetic_averages([0.1, 0.2], 1.0, 0),
    ],
)
def test_bad_input(call):
    with pytest.raises(InputError):
        call()
