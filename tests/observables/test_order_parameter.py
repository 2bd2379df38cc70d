"""What stands in the place of m; energies and pseudo-entropies of Hamiltonians other than the ferromagnet."""

import math

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.observables import (
    configuration_series,
    mere_order,
    order_kind,
    order_parameters,
    pseudo_entropies,
    total_energies,
)
from thermorbm.reading.configurations import averages, exact_values, thermal_averages
from thermorbm.stats import mean_estimate

FRUSTRATED = tr.hamiltonian("triangular", (6, 6), coupling=-1)
STAGGERED = tr.hamiltonian("square", (6, 6), coupling=-1)


def configurations(H, spins, temperature=2.0):
    return tr.Dataset.from_spins(spins, temperature=temperature, hamiltonian=H)


def random_spins(n, n_sites, seed=0):
    return 2 * np.random.default_rng(seed).integers(0, 2, (n, n_sites), dtype=np.int8) - 1


def test_which_order_parameter():
    kinds = {
        "magnetisation": [
            None,
            tr.hamiltonian("square", (6, 6)),
            tr.hamiltonian("square", (6, 6), field=-0.1),
        ],
        "overlap with the ground state": [STAGGERED, tr.hamiltonian("honeycomb", (3, 3), coupling=-1)],
        "leading principal component": [FRUSTRATED, tr.hamiltonian("pm-j", (4, 4), seed=1)],
    }
    for wanted, models in kinds.items():
        assert [order_kind(model) for model in models] == [wanted] * len(models)


def test_of_ferromagnets_it_is_the_magnetisation():
    spins = random_spins(50, 36)
    for data in (tr.Dataset.from_spins(spins), configurations(tr.hamiltonian("triangular", (6, 6)), spins)):
        np.testing.assert_array_equal(order_parameters(data), configuration_series(data).magnetization)


def test_of_antiferromagnets_it_is_the_sublattice_magnetisation():
    rows, columns = np.indices((6, 6))
    pattern = np.where((rows + columns) % 2, -1, 1).ravel()
    spins = random_spins(50, 36)
    wanted = (spins * pattern).mean(axis=1)
    np.testing.assert_allclose(np.abs(order_parameters(configurations(STAGGERED, spins))), np.abs(wanted))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_the_leading_component_finds_a_hidden_pattern_and_no_order_in_noise(share):
    """A pattern or its reverse with a share of turned spins: <|q|> is 1 - 2 share, in noise that of one
    random direction, sqrt(2 / pi N). Found on the same half as it is applied to, noise would seem ordered.
    """
    rng = np.random.default_rng(5)
    n, N = 2000, 36
    pattern, signs = rng.choice([-1, 1], N), rng.choice([-1, 1], (n, 1))
    spins = (pattern * signs * np.where(rng.random((n, N)) < share, -1, 1)).astype(np.int8)
    found = mean_estimate(np.abs(order_parameters(configurations(FRUSTRATED, spins))))
    wanted = math.sqrt(2 / (math.pi * N)) if share == 0.5 else 1 - 2 * share
    # The direction itself is known to about 1 / sqrt(n).
    assert abs(found.value - wanted) < 4 * found.error + 2 / n + (0.005 if share == 0.5 else 0)


def test_energies_and_pseudo_entropies_are_those_of_the_hamiltonian():
    for H in (FRUSTRATED, STAGGERED, tr.hamiltonian("kagome", (3, 4), coupling=-1, field=0.3)):
        data = configurations(H, random_spins(30, H.n_sites), 1.7)
        np.testing.assert_array_equal(total_energies(data), H.energy(data.spins()))
        np.testing.assert_allclose(pseudo_entropies(data), H.pseudo_entropy(data.spins(), 1.7))
        np.testing.assert_allclose(
            pseudo_entropies(data, 3.0), H.pseudo_entropy(data.spins(), temperature=3.0)
        )


def test_a_lattice_alone_is_still_its_ferromagnet():
    spins = random_spins(30, 36)
    plain = tr.Dataset.from_spins(spins, (6, 6), 1.7)
    named = configurations(tr.hamiltonian("square", (6, 6)), spins, 1.7)
    assert averages(plain) == averages(named)
    assert thermal_averages(plain) == thermal_averages(named)
    np.testing.assert_array_equal(pseudo_entropies(plain), pseudo_entropies(named))


def test_mere_order_follows_the_sublattices():
    spins = np.where(np.random.default_rng(3).random((40, 36)) < 0.9, 1, -1).astype(np.int8)
    wanted = mere_order(tr.Dataset.from_spins(spins))
    turned = spins * STAGGERED.ground_state
    np.testing.assert_allclose(mere_order(configurations(STAGGERED, turned)), wanted)
    assert mere_order(tr.Dataset.from_spins(turned)).mean() > wanted.mean() + 10


@pytest.mark.parametrize(
    ("H", "source"),
    [
        (tr.hamiltonian("square", (4, 4)), "kaufman"),
        (tr.hamiltonian("square", (4, 4), coupling=-2), "kaufman"),
        (tr.hamiltonian("square", (3, 5), coupling=-1), "transfer matrix"),
        (tr.hamiltonian("triangular", (4, 4), coupling=-1, field=0.2), "transfer matrix"),
        (tr.hamiltonian("pm-j", (4, 4), seed=2), "transfer matrix"),
    ],
)
def test_exact_values_of_the_same_lattice(H, source):
    values = exact_values(H, 1.9)
    assert values.source == source
    assert values.is_of_this_lattice
    wanted = tr.exact.transfer_matrix(H, 1.9)
    numbers = (values.energy_per_spin, values.heat_capacity_per_spin, values.entropy_per_spin)
    np.testing.assert_allclose(numbers, (wanted.energy, wanted.heat_capacity, wanted.entropy), rtol=1e-9)
    assert values.free_energy_per_spin == pytest.approx(wanted.free_energy)


def test_exact_values_of_infinite_lattices_and_of_none():
    values = exact_values(tr.hamiltonian("kagome", (12, 12), coupling=-1), 0.5)
    assert (values.source, values.is_of_this_lattice) == ("infinite", False)
    assert values.entropy_per_spin == pytest.approx(tr.exact.kagome(0.5, -1.0).entropy)
    assert exact_values(tr.hamiltonian("j1j2", (16, 16), coupling=(1, -0.4)), 1.0) is None
    assert exact_values(tr.Lattice((4, 6)), 2.0) is None  # plain families are as they were
