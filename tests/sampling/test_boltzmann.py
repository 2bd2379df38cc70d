"""Every method samples the Boltzmann distribution: all states of tiny lattices, energies of larger ones."""

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from oracles.chi_squared import p_value, state_numbers
from thermorbm import Lattice, exact, sample
from thermorbm.sampling.blocks import ClusterBlock, MetropolisBlock
from thermorbm.stats import jackknife, mean_estimate

METHODS = ("metropolis", "swendsen-wang", "wolff")
LOW, HIGH = 1.8, 4.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("temperature", [LOW, HIGH])
@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 2, 3), (4, 4)])
def test_all_states_are_visited_as_often_as_they_should(shape, temperature, method):
    lattice = Lattice(shape)
    n_samples = 60_000 if lattice.n_sites < 16 else 400_000
    data = sample(lattice, temperature, n_samples, seed=7, method=method)
    counts = np.bincount(state_numbers(data.spins(0, len(data))), minlength=2**lattice.n_sites)
    assert p_value(counts, _state_probabilities(lattice, temperature)) > 1e-3


def _state_probabilities(lattice, temperature):
    """Probability of each state, at the place of the state's number."""
    ensemble = exact.boltzmann(lattice, temperature)
    placed = np.empty(2**lattice.n_sites)
    placed[state_numbers(exact.enumerate_states(lattice))] = ensemble.probabilities
    return placed


def _put(block, spins):
    """Overwrites the chains' configurations. spins: (n_chains, n_sites) of +-1."""
    if isinstance(block, ClusterBlock):
        block._spins[:] = spins
    else:
        bits = np.packbits((spins > 0).T, axis=1, bitorder="little")
        block._state[:-1] = np.ascontiguousarray(bits).view("<u8")


@pytest.mark.parametrize("kind", ["metropolis", "swendsen-wang", "wolff"])
def test_the_exact_distribution_stays(kind):
    """Chains that start exactly at the target stay there after 1, 4 and 16 sweeps."""
    lattice, temperature, rng = Lattice((3, 3)), 2.2, default_rng(11)
    states, target = exact.enumerate_states(lattice), _state_probabilities(lattice, temperature)
    probabilities = target[state_numbers(states)]
    size = MetropolisBlock.n_chains if kind == "metropolis" else ClusterBlock.n_chains
    counts = {sweeps: np.zeros(2**lattice.n_sites) for sweeps in (1, 4, 16)}
    for seed in SeedSequence(5).spawn(60_000 // size):
        cold = np.zeros(size, np.bool_)
        if kind == "metropolis":
            block = MetropolisBlock(lattice, temperature, seed, cold)
        else:
            block = ClusterBlock(lattice, temperature, seed, cold, 3 if kind == "wolff" else None)
        _put(block, states[rng.choice(len(states), size, p=probabilities)])
        done = 0
        for sweeps in counts:
            block.advance(sweeps - done)
            done = sweeps
            spins = np.unpackbits(block.packed(), axis=1, count=lattice.n_sites, bitorder="little")
            np.add.at(counts[sweeps], state_numbers(2 * spins.astype(np.int8) - 1), 1)
    for sweeps in counts:
        assert p_value(counts[sweeps], target) > 1e-3, f"after {sweeps} sweeps"


@pytest.mark.parametrize(
    ("side", "temperature", "method"),
    [
        (16, 1.5, "metropolis"),
        (16, 2.269, "metropolis"),
        (32, 2.0, "metropolis"),
        (32, 2.5, "metropolis"),
        (64, 3.0, "metropolis"),
        (15, 2.4, "metropolis"),
        (24, 2.269, "swendsen-wang"),
        (16, 3.0, "swendsen-wang"),
        (24, 2.269, "wolff"),
        (17, 2.0, "wolff"),
    ],
)
def test_energy_and_heat_capacity_are_kaufmans(side, temperature, method):
    lattice = Lattice((side, side))
    n_samples = 20_000 if method == "metropolis" else 4_000
    data = sample(lattice, temperature, n_samples, seed=3, method=method)
    assert data.certificate.passed
    energy = lattice.energy(data.spins(0, n_samples)).astype(float)
    truth = exact.kaufman(side, temperature)
    assert abs(mean_estimate(energy / lattice.n_sites).z_score(truth.energy)) < 4
    centred = energy - energy.mean()
    capacity = jackknife(
        np.stack([centred, centred**2], axis=1),
        lambda m: (m[1] - m[0] ** 2) / (temperature**2 * lattice.n_sites),
    )
    assert abs(capacity.z_score(truth.heat_capacity)) < 4


@pytest.mark.parametrize("temperature", [5.0, 5.5, 6.0])
def test_three_dimensions_follow_the_high_temperature_series(temperature):
    lattice = Lattice((24, 24, 24))
    data = sample(lattice, temperature, 4_000, seed=2)
    energy = np.concatenate([lattice.energy(data.spins(k, k + 500)) for k in range(0, 4_000, 500)])
    truth = exact.cubic_series(temperature).energy
    assert abs(mean_estimate(energy / lattice.n_sites).z_score(truth)) < 4


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.25, 0.75, 1.5, 2.0, 2.25, 2.5, 3.25, 4.0])
def test_paper_size_energies_over_many_seeds(temperature):
    """z-scores of 12 datasets at L = 64 add up as they should, and P(E) p-values are not all small."""
    certificates = [sample(Lattice((64, 64)), temperature, 10_000, seed=s).certificate for s in range(12)]
    assert all(c.passed for c in certificates)
    assert abs(sum(c.energy_z for c in certificates)) / np.sqrt(12) < 4
    p_values = [c.energy_histogram_p for c in certificates if c.energy_histogram_p is not None]
    assert not p_values or max(p_values) > 0.1
