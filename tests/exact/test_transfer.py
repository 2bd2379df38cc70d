"""Partition functions spin by spin against enumeration and Kaufman."""

import networkx
import numpy as np
import pytest

import thermorbm as tr
from thermorbm import exact
from thermorbm.errors import InputError

KINDS = {
    "field": tr.hamiltonian("square", (3, 4), field=0.3),
    "open": tr.hamiltonian("square", (3, 4), open=True, field=-0.1),
    "triangular": tr.hamiltonian("triangular", (3, 4), coupling=-1),
    "kagome": tr.hamiltonian("kagome", (2, 2), coupling=-1, field=0.2),
    "j1j2": tr.hamiltonian("j1j2", (3, 4), coupling=(1, -0.5)),
    "baxter-wu": tr.hamiltonian("baxter-wu", (3, 4)),
    "plaquette": tr.hamiltonian("plaquette", (3, 4)),
    "pm-j": tr.hamiltonian("pm-j", (3, 4), seed=2),
    "sk": tr.hamiltonian("sk", 10, seed=1),
    "graph": tr.hamiltonian(graph=networkx.petersen_graph(), coupling=-1, field=np.linspace(-1, 1, 10)),
}


@pytest.mark.parametrize("H", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("temperature", [0.3, 2.0])
def test_equals_enumeration(H, temperature):
    found, states = exact.transfer_matrix(H, temperature), exact.boltzmann(H, temperature)
    wanted = states.thermodynamics
    for name in ("energy", "heat_capacity", "entropy", "free_energy"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9, abs=1e-9)
    magnetization = states.probabilities @ H.magnetization(states.states)
    assert found.magnetization == pytest.approx(magnetization, abs=1e-12)
    moments = exact.transfer_energies(H, temperature)
    distribution = exact.enumerated_energy_distribution(H, temperature)
    assert moments.mean == pytest.approx(distribution.mean, abs=1e-8)
    assert moments.variance == pytest.approx(distribution.variance, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("side", [4, 6])
def test_equals_kaufman(side):
    found, wanted = exact.transfer_matrix(tr.Lattice((side, side)), 2.25), exact.kaufman(side, 2.25)
    for name in ("energy", "heat_capacity", "entropy", "free_energy"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-11)


def test_long_strips_are_summed_across():
    H = tr.hamiltonian("square", (40, 5), open=(True, False))
    turned = tr.hamiltonian("square", (5, 40), open=(False, True))
    assert exact.transfer_width(H) == exact.transfer_width(turned) <= 7
    assert exact.transfer_matrix(H, 2.0).energy == pytest.approx(exact.transfer_matrix(turned, 2.0).energy)


def test_too_wide_is_refused():
    with pytest.raises(InputError, match="to keep at once"):
        exact.transfer_matrix(tr.Lattice((16, 16)), 2.0)
