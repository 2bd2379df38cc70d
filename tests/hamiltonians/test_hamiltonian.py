"""Hamiltonians against sums term by term, and against what is known of each lattice."""

import itertools
import math

import networkx
import numpy as np
import pytest

import thermorbm as tr
from oracles import products as oracle
from thermorbm.errors import InputError
from thermorbm.hamiltonians import NAMES, Hamiltonian, as_hamiltonian, order_overlaps

KINDS = {
    "square": tr.hamiltonian("square", (3, 4)),
    "antiferromagnet": tr.hamiltonian("square", (4, 3), coupling=-1),
    "anisotropic": tr.hamiltonian("cubic", (2, 2, 3), coupling=(1.0, 0.5, -0.25)),
    "triangular": tr.hamiltonian("triangular", (3, 3), coupling=-1),
    "honeycomb": tr.hamiltonian("honeycomb", (2, 3), field=0.3),
    "kagome": tr.hamiltonian("kagome", (2, 2), coupling=-1),
    "j1j2": tr.hamiltonian("j1j2", (3, 4), coupling=(1, -0.5)),
    "baxter-wu": tr.hamiltonian("baxter-wu", (3, 3)),
    "plaquette": tr.hamiltonian("plaquette", (3, 3)),
    "pm-j": tr.hamiltonian("pm-j", (3, 3), p=0.8, seed=1),
    "gaussian": tr.hamiltonian("gaussian", (3, 3), seed=1, field=0.1),
    "sk": tr.hamiltonian("sk", 8, seed=2),
    "open": tr.hamiltonian("square", (3, 4), open=(True, False), field=-0.5),
    "graph": tr.hamiltonian(graph=networkx.petersen_graph(), coupling=-1),
    "bonds": tr.hamiltonian(bonds=[(0, 1), (1, 2, 0.5), (2, 3, 0, -1.5), (0, 1, 2, 3, 0.25)]),
    "cell": tr.hamiltonian(shape=(2, 3), sites=2, bonds=[(0, 1, (0, 0), 1.0), (1, 0, (0, 1), -2.0)]),
    "random field": tr.hamiltonian("square", (2, 4), field=np.linspace(-1, 1, 8)),
}
every_kind = pytest.mark.parametrize("H", KINDS.values(), ids=KINDS)


def random_spins(H, n=30, seed=0):
    return 2 * np.random.default_rng(seed).integers(0, 2, (n, H.n_sites), dtype=np.int8) - 1


@every_kind
def test_energies_are_sums_term_by_term(H):
    v = random_spins(H)
    wanted = [oracle.energy(oracle.terms_of(H), H.field, row) for row in v]
    np.testing.assert_allclose(H.energy(v), wanted, atol=1e-12)
    np.testing.assert_allclose(H.magnetization(v), v.mean(axis=1))
    assert H.energy(v).dtype == (np.int64 if H.integral else np.float64)


@every_kind
def test_flip_costs_and_pseudo_entropy_are_those_of_explicit_flips(H):
    v = random_spins(H, 5)
    for row, costs, fields in zip(v, H.flip_costs(v), H.local_fields(v), strict=True):
        flipped = np.where(np.eye(H.n_sites, dtype=bool), -row, row)
        np.testing.assert_allclose(costs, H.energy(flipped) - H.energy(row), atol=1e-12)
        np.testing.assert_allclose(fields, costs * row / 2)
        conditionals = 1 / (1 + np.exp(-costs / 1.7))
        wanted = -np.log(conditionals).sum()
        np.testing.assert_allclose(H.pseudo_entropy(row, temperature=1.7), [wanted])


@every_kind
def test_frustrated_means_that_no_configuration_satisfies_all(H):
    satisfied = -sum(abs(J) for _, J in oracle.terms_of(H)) - np.abs(H.field).sum()
    lowest = oracle.lowest_energy(H)
    assert H.frustrated == (lowest > satisfied + 1e-9)
    if not H.frustrated:
        np.testing.assert_allclose(H.energy(H.ground_state), [lowest])


@every_kind
def test_symmetries_leave_every_energy_as_it_is(H):
    v = random_spins(H)
    for flip in H.symmetries:
        np.testing.assert_allclose(H.energy(v * flip), H.energy(v), atol=1e-12)
    assert H.has_global_flip == np.allclose(H.energy(-v), H.energy(v))
    if H.has_global_flip:
        assert (H.symmetries[0] == -1).all()


@every_kind
def test_survives_its_dictionary(H):
    again = Hamiltonian.from_dict(H.to_dict(), H.n_sites)
    assert again == H
    assert hash(again) == hash(H)
    assert (again.name, again.options, again.uniform) == (H.name, H.options, H.uniform)


def test_different_ones_are_not_equal():
    assert len(set(KINDS.values())) == len(KINDS)
    assert tr.hamiltonian("pm-j", (3, 3), seed=1) != tr.hamiltonian("pm-j", (3, 3), seed=2)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 2), (2, 3, 4), (2, 2, 2, 2)])
def test_a_lattice_stands_for_its_ferromagnet(shape):
    lattice = tr.Lattice(shape)
    H = as_hamiltonian(lattice)
    v = random_spins(lattice)
    np.testing.assert_array_equal(H.energy(v), lattice.energy(v))
    assert H.plain == (lattice, 1.0)
    assert tr.hamiltonian("hypercubic", shape) == H
    assert H.lattice == lattice


@pytest.mark.parametrize(
    ("name", "sites", "coordination"),
    [("triangular", 36, 6), ("honeycomb", 72, 3), ("kagome", 108, 4), ("square", 36, 4), ("cubic", 216, 6)],
)
def test_every_site_has_its_neighbours_once(name, sites, coordination):
    H = tr.hamiltonian(name, (6,) * (3 if name == "cubic" else 2))
    graph = networkx.Graph(H.terms[0].sites.tolist())
    assert H.n_sites == graph.number_of_nodes() == sites
    assert {degree for _, degree in graph.degree} == {coordination}
    assert networkx.is_connected(graph)


@pytest.mark.parametrize(
    ("name", "triangles"), [("triangular", 2 * 36), ("honeycomb", 0), ("kagome", 2 * 36)]
)
def test_triangles_per_cell(name, triangles):
    graph = networkx.Graph(tr.hamiltonian(name, (6, 6)).terms[0].sites.tolist())
    assert sum(networkx.triangles(graph).values()) // 3 == triangles


def test_baxter_wu_has_the_triangles_of_the_triangular_lattice():
    pairs = {frozenset(pair) for pair in tr.hamiltonian("triangular", (5, 5)).terms[0].sites.tolist()}
    triples = {frozenset(t) for t in tr.hamiltonian("baxter-wu", (5, 5)).terms[0].sites.tolist()}
    assert len(triples) == 50
    assert all(frozenset(pair) in pairs for triple in triples for pair in itertools.combinations(triple, 2))


def test_what_is_frustrated_bipartite_and_plain():
    assert not tr.hamiltonian("square", (4, 4), coupling=-1).frustrated
    assert tr.hamiltonian("square", (4, 5), coupling=-1).frustrated
    assert not tr.hamiltonian("honeycomb", (3, 3), coupling=-1).frustrated
    assert tr.hamiltonian("square", (4, 4)).bipartite
    assert not tr.hamiltonian("square", (4, 5)).bipartite
    assert not tr.hamiltonian("triangular", (4, 4)).bipartite
    assert tr.hamiltonian("square", (4, 4), coupling=-1).plain == (tr.Lattice((4, 4)), -1.0)
    assert tr.hamiltonian("square", (4, 4), coupling=(1, 2)).plain is None
    assert tr.hamiltonian("square", (4, 4), open=True).plain is None
    assert tr.hamiltonian("square", (4, 4), field=0.1).plain is None
    field = tr.hamiltonian("square", (4, 4), field=-0.1)
    assert (field.ground_state == -1).all()
    assert tr.hamiltonian("square", (4, 4), coupling=-1, field=0.1).frustrated
    assert [tr.hamiltonian(name, (4, 4)).uniform for name in ("square", "pm-j")] == [True, False]


def test_symmetries_of_products_of_spins():
    assert len(tr.hamiltonian("baxter-wu", (6, 6)).symmetries) == 2  # two of three sublattices
    assert len(tr.hamiltonian("baxter-wu", (4, 6)).symmetries) == 0
    flips = tr.hamiltonian("plaquette", (4, 4)).symmetries
    group = {
        tuple(np.prod(np.where(np.array(chosen)[:, None], flips, 1), axis=0).tolist())
        for chosen in itertools.product((0, 1), repeat=len(flips))
    }
    assert len(group) == 2**7  # rows and columns, one of which follows from the others


def test_sherrington_kirkpatrick_has_variance_one_over_n():
    H = tr.hamiltonian("sk", 200, seed=3)
    couplings = H.terms[0].couplings
    assert len(couplings) == 200 * 199 // 2
    error = math.sqrt(2 / len(couplings))
    assert abs(couplings.var() * 200 - 1) < 4 * error
    assert tr.hamiltonian("sk", 200, seed=3) == H
    assert tr.hamiltonian("sk", 200, seed=4) != H


def test_share_of_ferromagnetic_bonds():
    couplings = tr.hamiltonian("pm-j", (60, 60), p=0.8, seed=1).terms[0].couplings
    assert set(couplings.tolist()) == {1.0, -1.0}
    assert abs((couplings > 0).mean() - 0.8) < 4 * math.sqrt(0.16 / len(couplings))


def test_open_edges_leave_bonds_out():
    H = tr.hamiltonian("square", (4, 5), open=True)
    assert len(H.terms[0]) == 3 * 5 + 4 * 4
    assert not H.uniform


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"name": "triangle", "shape": (4, 4)}, "did you mean 'triangular'"),
        ({"name": "square"}, "shape"),
        ({"name": "square", "shape": (4, 4, 4)}, "2 sides"),
        ({"name": "square", "shape": (4, 4), "coupling": math.nan}, "finite"),
        ({"name": "square", "shape": (4, 4), "coupling": (1, 2, 3)}, "one for each axis"),
        ({"name": "square", "shape": (4, 4), "field": math.inf}, "finite"),
        ({"name": "square", "shape": (4, 4), "field": [1, 2]}, "each of the 16 sites"),
        ({"name": "square", "shape": (4, 4), "p": 0.5}, "p must be left out for 'square'"),
        ({"name": "square", "shape": (4, 4), "open": (True,)}, "one for each axis"),
        ({"name": "square", "shape": (4, 4), "open": 2}, "one for each axis"),
        ({"name": "sk", "shape": 10, "p": 0.5}, "p must be left out for 'sk'"),
        ({"name": "sk", "shape": 10, "open": True}, "open must be left out for 'sk'"),
        ({"name": "gaussian", "shape": (4, 4), "p": 0.5}, "p must be left out for 'gaussian'"),
        ({"name": "pm-j", "shape": (4, 4), "sites": 2}, "sites must be left out for 'pm-j'"),
        ({"graph": networkx.path_graph(3), "shape": (3,)}, "shape must be left out for 'a graph'"),
        ({"bonds": [(0, 1)], "open": True}, "open must be left out for 'bonds without a shape'"),
        ({"bonds": [(0, 1)], "seed": 1}, "seed must be left out for 'a graph or bonds'"),
        ({"bonds": 5}, "a row of sites and a coupling"),
        ({"bonds": [5], "shape": (3, 3)}, "a row of sites and a coupling"),
        ({"name": "j1j2", "shape": (4, 4)}, "each shell"),
        ({"name": "j1j2", "shape": (2, 4), "coupling": (1, 1, 1)}, "larger than its own bonds"),
        ({"name": "pm-j", "shape": (4, 4), "p": 1.5}, "in \\[0, 1\\]"),
        ({"name": "sk", "shape": 10, "seed": -1}, "seed"),
        ({"name": "plaquette", "shape": (4,)}, "two or more sides"),
        ({"bonds": [(0, 0)]}, "different sites"),
        ({"bonds": [(0, 5)], "sites": 3}, "sites 0 to 2"),
        ({"bonds": [(0, -1)]}, "sites 0 to"),
        ({"bonds": [(0, 1, math.inf)]}, "finite"),
        ({"bonds": [(0, 1.5)]}, "site numbers"),
        ({"bonds": []}, "one or more rows"),
        ({"bonds": [(0, 1, (0, 1, 0), 1.0)], "shape": (3, 3), "sites": 2}, "one for each axis"),
        ({"bonds": [(0, 2, (0, 1), 1.0)], "shape": (3, 3), "sites": 2}, "0 to 1 of a cell"),
        ({"graph": 5}, "nodes and edges"),
    ],
)
def test_bad_input_is_named(arguments, word):
    with pytest.raises(InputError, match=word):
        tr.hamiltonian(**arguments)


def test_configurations_that_do_not_fit_are_refused():
    H = tr.hamiltonian("honeycomb", (3, 3))
    with pytest.raises(InputError, match="2 sites"):
        H.energy(np.ones((4, 9)))
    with pytest.raises(InputError, match=r"\+1 or -1"):
        H.energy(np.zeros((1, 18)))
    with pytest.raises(InputError, match="temperature"):
        H.pseudo_entropy(np.ones((1, 18)), temperature=0)
    with pytest.raises(
        InputError, match=r"shape \(n, 18\), got \(4, 3, 3\); or \(n, 3, 3, 2\); cells of 2 sites"
    ):
        tr.Dataset.from_spins(np.ones((4, 3, 3)), hamiltonian=H)


def test_all_names_are_made():
    for name in NAMES:
        shape = {"chain": (6,), "cubic": (3, 3, 3), "sk": (6,)}.get(name, (4, 4))
        coupling = (1, 0.5) if name == "j1j2" else 1.0
        assert tr.hamiltonian(name, shape, coupling=coupling).name == name


def test_order_is_the_overlap_with_the_nearest_ground_state():
    """Baxter-Wu: all up, or up on one of three sublattices and down on two."""
    H = tr.hamiltonian("baxter-wu", (3, 6))
    total = np.indices((3, 6)).sum(axis=0).ravel()
    states = np.array([np.ones(18)] + [np.where(total % 3 == k, 1, -1) for k in range(3)], np.int8)
    assert (H.energy(states) == H.energy(states[:1])).all()
    turned = states.copy()
    turned[:, 4] *= -1
    packed = tr.Dataset.from_spins(np.concatenate([states, turned]), hamiltonian=H).packed
    np.testing.assert_allclose(order_overlaps(H, packed), [1] * 4 + [1 - 2 / 18] * 4)


def test_order_of_an_antiferromagnet_is_staggered_and_that_of_competing_terms_the_magnetisation():
    v = np.random.default_rng(1).choice([-1, 1], (20, 36))
    square, triangular = (tr.hamiltonian(name, (6, 6), coupling=-1) for name in ("square", "triangular"))
    packed = tr.Dataset.from_spins(v).packed
    staggered = np.abs(v @ square.ground_state) / 36
    np.testing.assert_allclose(np.abs(order_overlaps(square, packed)), staggered)
    np.testing.assert_allclose(order_overlaps(triangular, packed), v.mean(axis=1))


@pytest.mark.parametrize("option", ["coupling", "field"])
@pytest.mark.parametrize("value", ["strong", [[1.0], [1.0, 2.0]], {}])
def test_words_are_no_couplings(option, value):
    with pytest.raises(InputError, match=f"{option} must be a finite number, or several"):
        tr.hamiltonian("square", (4, 4), **{option: value})
