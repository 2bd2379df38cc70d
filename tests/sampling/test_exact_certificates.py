"""Samples of other Hamiltonians against transfer matrices and infinite lattices."""

from dataclasses import replace

import numpy as np
import pytest

import thermorbm as tr
from thermorbm import exact
from thermorbm.sampling.certificate import Certificate
from thermorbm.sampling.pilot import competing_sums
from thermorbm.sampling.sampler import exact_energies
from thermorbm.stats import jackknife, mean_estimate

STRIPS = {
    "field": (tr.hamiltonian("square", (6, 12), field=0.1, open=(True, False)), 2.2),
    "j1j2": (tr.hamiltonian("j1j2", (6, 12), coupling=(1, -0.4), open=(True, False)), 1.2),
    "open": (tr.hamiltonian("square", (10, 14), open=True), 2.4),
    "pm-j": (tr.hamiltonian("pm-j", (6, 10), seed=1), 0.7),
    "triangular antiferromagnet": (tr.hamiltonian("triangular", (6, 6), coupling=-1), 0.5),
}


@pytest.mark.parametrize(("H", "temperature"), STRIPS.values(), ids=STRIPS)
def test_energy_heat_capacity_and_magnetisation_are_the_transfer_matrix_s(H, temperature):
    n_samples = 10_000
    data, truth = tr.sample(H, temperature, n_samples, seed=3), exact.transfer_matrix(H, temperature)
    assert data.certificate.passed
    assert data.certificate.exact_energy == pytest.approx(truth.energy)
    energy = H.energy(data.spins()) / H.n_sites
    assert abs(mean_estimate(energy).z_score(truth.energy)) < 4
    assert abs(mean_estimate(H.magnetization(data.spins())).z_score(truth.magnetization)) < 4
    centred = energy - energy.mean()
    capacity = jackknife(
        np.stack([centred, centred**2], axis=1), lambda m: (m[1] - m[0] ** 2) * H.n_sites / temperature**2
    )
    assert abs(capacity.z_score(truth.heat_capacity)) < 4


@pytest.mark.parametrize(
    ("name", "coupling", "temperature", "function"),
    [
        ("triangular", 1, 4.5, exact.triangular),
        ("triangular", -1, 1.0, exact.triangular),
        ("triangular", -1, 0.5, exact.triangular),  # correlated further than the torus is wide
        ("honeycomb", 1, 2.0, exact.honeycomb),
        ("kagome", -1, 0.5, exact.kagome),
    ],
)
def test_large_lattices_are_compared_with_the_infinite_one(name, coupling, temperature, function):
    H = tr.hamiltonian(name, (12, 12), coupling=coupling)
    certificate = tr.sample(H, temperature, 4000, seed=1).certificate
    assert certificate.passed
    assert certificate.exact_energy == pytest.approx(function(temperature, coupling).energy)
    distance = abs(certificate.energy - certificate.exact_energy)
    assert distance < certificate.exact_allowance + 4 * certificate.energy_error
    assert 0 < certificate.exact_allowance < 0.1
    assert certificate.energy_histogram_p is None


def test_twenty_spins_that_all_see_each_other_are_enumerated():
    H = tr.hamiltonian("sk", 20, seed=1)
    certificate = tr.sample(H, 0.7, 2000, seed=1).certificate
    assert certificate.passed
    assert certificate.exact_energy == pytest.approx(exact.boltzmann(H, 0.7).thermodynamics.energy)
    assert certificate.energy_histogram_p is not None


def test_an_energy_beyond_the_allowance_fails():
    H = tr.hamiltonian("triangular", (12, 12), coupling=-1)
    truth = exact_energies(H, 1.0)
    error = np.sqrt(truth.variance / 4000)
    assert truth.z_score(truth.mean + 0.9 * truth.allowance, 4000) == 0
    assert truth.z_score(truth.mean + truth.allowance + 6 * error, 4000) == pytest.approx(6)


def test_certificates_from_before_the_allowance_are_read():
    certificate = tr.sample(tr.Lattice((4, 4)), 3.0, 100, seed=1).certificate
    stored = certificate.to_dict()
    del stored["exact_allowance"]
    assert Certificate.from_dict(stored) == replace(certificate, exact_allowance=0.0)


@pytest.mark.parametrize("p", [0.6, 0.8])
def test_energy_on_the_nishimori_line_averaged_over_disorder(p):
    """e = -2 tanh(1/T) at e^(2/T) = p/(1 - p), at every size, from transfer matrices."""
    temperature = 2 / np.log(p / (1 - p))
    energies = [
        exact.transfer_matrix(tr.hamiltonian("pm-j", (4, 4), p=p, seed=seed), temperature).energy
        for seed in range(200)
    ]
    assert abs(mean_estimate(np.array(energies)).z_score(-2 * np.tanh(1 / temperature))) < 4


def test_samples_that_do_not_fluctuate_are_weighed_by_the_exact_variance():
    """Of the kagome antiferromagnet at T = 0.3 one configuration in some thousands is excited."""
    H = tr.hamiltonian("kagome", (12, 12), coupling=-1.0)
    data = tr.sample(H, temperature=0.3, n_samples=500, seed=1, progress=False)
    assert np.ptp(H.energy(data)) == 0
    assert data.certificate.passed
    assert abs(data.certificate.energy_z) < 1


@pytest.mark.parametrize("seed", [1, 2])
def test_directions_that_are_alike_have_equal_shares_of_the_bonds(seed):
    """At T = 0.25 energy and |m| settle at once, and the shares of the three directions ten times later."""
    H = tr.hamiltonian("triangular", (24, 24), coupling=-1)
    data = tr.sample(H, 0.25, 2000, seed=seed, progress=False)
    sums = competing_sums(H)(data.packed)
    assert data.certificate.passed
    np.testing.assert_array_equal(sums.sum(axis=0), H.energy(data.spins()))
    for first, second in ((0, 1), (1, 2), (2, 0)):
        assert abs(mean_estimate((sums[first] - sums[second]).astype(float)).z_score(0)) < 4


def test_what_is_followed_beside_the_energy():
    """Sums of each kind of term add up to the energy; without competition, or kinds, there is nothing."""
    H = tr.hamiltonian("j1j2", (4, 4), coupling=(1, -0.75), open=(True, False))
    packed = tr.sample(H, 2.0, 50, seed=1, progress=False)
    sums = competing_sums(H)(packed.packed)
    couplings = np.array([product.coupling for product in H.products])
    np.testing.assert_allclose(-couplings @ sums, H.energy(packed.spins()), atol=1e-12)
    for model in (
        tr.hamiltonian("square", (4, 4)),
        tr.hamiltonian("square", (4, 4), coupling=-1, field=0.0),
        tr.hamiltonian("pm-j", (4, 4), p=0.5, seed=1),
    ):
        assert competing_sums(model) is None
