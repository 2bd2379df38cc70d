"""Kernels of any Hamiltonian against oracles, and every kind and method against all states of few spins."""

import math

import mpmath
import networkx
import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

import thermorbm as tr
from oracles import metropolis as oracle
from oracles.chi_squared import p_value, state_numbers
from oracles.products import terms_of
from thermorbm import exact
from thermorbm.errors import InputError
from thermorbm.hamiltonians.orders import ground_states
from thermorbm.sampling import schedule
from thermorbm.sampling.general_blocks import FieldBlock, MultispinBlock, block_kind, update_order
from thermorbm.sampling.metropolis import FIRST_BITS, REFUSAL_PROBABILITY
from thermorbm.sampling.registers import REPLICAS, WORDS
from thermorbm.sampling.tempering import TemperedBlock, temperature_ladder
from thermorbm.stats import autocorrelation_time

CELLS = [(0, 1, (0, 0), 1.0), (1, 0, (0, 1), -0.5), (0, 0, (1, 0), 0.75)]
KINDS = {
    "antiferromagnet": (tr.hamiltonian("square", (2, 4), coupling=-1), 2.0),
    "antiferromagnet, odd": (tr.hamiltonian("square", (3, 3), coupling=-1), 2.0),
    "twice as strong": (tr.hamiltonian("square", (3, 3), coupling=2), 5.0),
    "anisotropic": (tr.hamiltonian("square", (3, 3), coupling=(1.0, 0.5)), 2.0),
    "chain": (tr.hamiltonian("chain", 6, coupling=-0.5, field=0.3), 1.0),
    "cubic antiferromagnet": (tr.hamiltonian("cubic", (2, 2, 3), coupling=-1, field=0.5, open=True), 3.5),
    "anisotropic cubic": (tr.hamiltonian("cubic", (2, 2, 2), coupling=(1.0, -0.5, 0.25)), 3.0),
    "four dimensions": (tr.hamiltonian("hypercubic", (2, 2, 2, 2), coupling=0.5), 3.0),
    "triangular": (tr.hamiltonian("triangular", (3, 3)), 4.0),
    "three directions, open": (tr.hamiltonian("triangular", (3, 3), (1.0, -0.5, 0.25), open=True), 1.5),
    "triangular antiferromagnet": (tr.hamiltonian("triangular", (3, 3), coupling=-1), 1.0),
    "honeycomb": (tr.hamiltonian("honeycomb", (2, 2)), 1.8),
    "honeycomb in a field": (tr.hamiltonian("honeycomb", (2, 2), field=0.25), 1.8),
    "honeycomb antiferromagnet": (tr.hamiltonian("honeycomb", (2, 2), coupling=-1), 1.8),
    "kagome": (tr.hamiltonian("kagome", (2, 2), coupling=(1.0, 0.5, 0.25)), 2.0),
    "kagome antiferromagnet": (tr.hamiltonian("kagome", (2, 2), coupling=-1), 1.0),
    "field": (tr.hamiltonian("square", (3, 3), field=-0.2), 2.5),
    "cold in a weak field": (tr.hamiltonian("square", (3, 3), field=0.1), 1.6),
    "antiferromagnet in a field": (tr.hamiltonian("square", (2, 4), coupling=-1, field=1.5), 1.5),
    "j1j2": (tr.hamiltonian("j1j2", (3, 3), coupling=(1, -0.75)), 1.5),
    "three shells": (tr.hamiltonian("j1j2", (3, 3), coupling=(-1, -0.5, 0.25)), 1.5),
    "three shells in a field": (tr.hamiltonian("j1j2", (3, 3), (-1, -0.5, 0.25), field=0.3), 1.5),
    "baxter-wu": (tr.hamiltonian("baxter-wu", (3, 3)), 2.0),
    "baxter-wu in a field": (tr.hamiltonian("baxter-wu", (3, 3), coupling=(1, -0.5), field=0.4), 2.0),
    "plaquette": (tr.hamiltonian("plaquette", (3, 3)), 1.5),
    "plaquette of a cube": (tr.hamiltonian("plaquette", (2, 2, 2), coupling=0.5), 3.0),
    "pm-j": (tr.hamiltonian("pm-j", (3, 4), p=0.6, seed=4), 1.0),
    "pm-j in a field": (tr.hamiltonian("pm-j", (3, 3), p=0.5, seed=2, field=0.2), 1.0),
    "gaussian": (tr.hamiltonian("gaussian", (3, 3), seed=1), 1.0),
    "sk": (tr.hamiltonian("sk", 9, seed=1), 0.7),
    "open": (tr.hamiltonian("square", (3, 4), open=(True, False)), 2.0),
    "graph": (tr.hamiltonian(graph=networkx.petersen_graph(), coupling=-1), 1.5),
    "bonds": (tr.hamiltonian(bonds=[(0, 1), (1, 2, 0.5), (2, 3, 0, -1.5), (0, 1, 2, 3, 0.25), (4, 5)]), 1.0),
    "cells": (tr.hamiltonian(shape=(2, 2), sites=2, bonds=CELLS, field=0.25), 1.5),
    "random field": (tr.hamiltonian("square", (2, 4), field=np.linspace(-1, 1, 8)), 2.0),
}
every_kind = pytest.mark.parametrize(("H", "temperature"), KINDS.values(), ids=KINDS)


def _spins(block, n_sites):
    bits = np.unpackbits(block.packed(), axis=1, count=n_sites, bitorder="little")
    return 2 * bits.astype(np.int8) - 1


def _acceptance(temperature):
    def threshold(cost):
        with mpmath.workdps(60):
            ratio = mpmath.exp(-mpmath.mpf(cost) / mpmath.mpf(temperature))
            return int(mpmath.floor(ratio * (1 - mpmath.mpf(REFUSAL_PROBABILITY)) * 2**64))

    return threshold


@pytest.mark.parametrize(
    "name", ["triangular", "honeycomb in a field", "j1j2", "baxter-wu", "plaquette", "pm-j", "open", "graph"]
)
def test_multispin_sweep_equals_the_oracle_bit_for_bit(name):
    H, temperature = KINDS[name]
    block = MultispinBlock(H, temperature, SeedSequence(3), np.arange(REPLICAS) % 2 == 0)
    spins = _spins(block, H.n_sites).tolist()
    generators = [oracle.Xoroshiro(*block._generator[:, word]) for word in range(WORDS)]
    block.advance(2)
    acceptance = _acceptance(temperature)
    for _ in range(2):
        oracle.sweep_terms(
            spins, terms_of(H), H.field, acceptance, generators, update_order(H).tolist(), FIRST_BITS
        )
    np.testing.assert_array_equal(_spins(block, H.n_sites), spins)


@every_kind
def test_measurements_are_those_of_the_hamiltonian(H, temperature):
    for kind in (MultispinBlock, FieldBlock) if block_kind(H)[0] is MultispinBlock else (FieldBlock,):
        block = kind(H, temperature, SeedSequence(1), np.arange(kind.n_chains) % 2 == 0)
        block.advance(3)
        energy, magnetization = block.measure()
        spins = _spins(block, H.n_sites)
        np.testing.assert_allclose(energy, H.energy(spins), atol=1e-12)
        several = kind is MultispinBlock and len(ground_states(H)) > 1
        patterns = ground_states(H) if several else np.ones((1, H.n_sites))
        overlaps = np.abs(spins @ patterns.T).max(axis=1)
        np.testing.assert_array_equal(np.abs(magnetization), overlaps)
        if not several:
            np.testing.assert_array_equal(magnetization, spins.sum(axis=1))


def test_few_couplings_are_multispin_coded_and_many_are_not():
    multispin = {name for name, (H, _) in KINDS.items() if block_kind(H)[0] is MultispinBlock}
    assert set(KINDS) - multispin == {"three shells", "three shells in a field", "gaussian", "sk"}


def _probabilities(H, temperature):
    ensemble = exact.boltzmann(H, temperature)
    placed = np.empty(2**H.n_sites)
    placed[state_numbers(ensemble.states)] = ensemble.probabilities
    return placed


def _methods(H):
    clusters = H.largest_order == 2 and not H.has_field and not H.frustrated
    return ("metropolis", "tempering", *(("swendsen-wang", "wolff") if clusters else ()))


CASES = [
    pytest.param(H, T, method, id=f"{name}-{method}")
    for name, (H, T) in KINDS.items()
    for method in _methods(H)
]


@pytest.mark.parametrize(("H", "temperature", "method"), CASES)
def test_all_states_are_visited_as_often_as_they_should(H, temperature, method):
    n_samples = 20_000 if method in ("swendsen-wang", "wolff") else 40_000
    data = tr.sample(H, temperature, n_samples, seed=7, method=method)
    counts = np.bincount(state_numbers(data.spins(0, len(data))), minlength=2**H.n_sites)
    assert p_value(counts, _probabilities(H, temperature)) > 1e-3
    assert data.certificate.passed
    assert data.hamiltonian == H
    np.testing.assert_allclose(H.energy(data.spins()).mean() / H.n_sites, data.certificate.energy, atol=1e-9)


@pytest.mark.parametrize("name", ["j1j2", "sk"])
def test_the_exact_distribution_stays_under_tempering(name):
    """Ladders that start exactly at their targets, at every rung, stay there."""
    H, temperature = KINDS[name]
    states, rng = exact.enumerate_states(H), default_rng(2)
    ladder = temperature_ladder(H, [temperature], SeedSequence(1))[:3]
    targets = [_probabilities(H, T) for T in ladder]
    counts = np.zeros((3, 2**H.n_sites))
    kind = block_kind(H)[0]
    for seed in SeedSequence(5).spawn(40_000 // kind.n_chains):
        block = TemperedBlock(H, ladder, ladder[:1], seed, np.zeros(kind.n_chains, np.bool_))
        for rung, target in zip(block.rungs, targets, strict=True):
            chosen = states[rng.choice(len(states), kind.n_chains, p=target[state_numbers(states)])]
            _put(rung, chosen)
        block.advance(5)
        for row, rung in enumerate(block.rungs):
            np.add.at(counts[row], state_numbers(_spins(rung, H.n_sites)), 1)
    for row, target in zip(counts, targets, strict=True):
        assert p_value(row, target) > 1e-3


def _put(block, spins):
    if isinstance(block, FieldBlock):
        block._spins[:-1] = spins.T
    else:
        bits = np.packbits((spins > 0).T, axis=1, bitorder="little")
        block._state[:-2] = np.ascontiguousarray(bits).view("<u8")


def test_neighbouring_rungs_swap_often():
    H = tr.hamiltonian("pm-j", (8, 8), seed=1)
    ladder = temperature_ladder(H, [0.5], SeedSequence(1))
    assert ladder == sorted(ladder)
    assert ladder[0] == 0.5
    block = TemperedBlock(H, ladder, ladder[:1], SeedSequence(2), np.ones(REPLICAS, np.bool_))
    block.advance(200)
    energies = [rung.measure()[0] for rung in block.rungs]
    for k in range(len(ladder) - 1):
        gain = (1 / ladder[k] - 1 / ladder[k + 1]) * (energies[k] - energies[k + 1])
        assert np.exp(np.minimum(gain, 0)).mean() > 0.25


@pytest.mark.parametrize("name", ["triangular antiferromagnet", "sk"])
def test_temperatures_that_share_a_ladder_have_each_its_own_distribution(name):
    H, coldest = KINDS[name]
    wanted = [1.4 * coldest, coldest, 1.1 * coldest, 50.0]  # the last one is too hot to need a ladder
    series = tr.sample(H, temperatures=wanted, n_samples=40_000, seed=3, progress=False)
    assert list(series.temperatures) == sorted(wanted)
    for data in series:
        counts = np.bincount(state_numbers(data.spins()), minlength=2**H.n_sites)
        assert p_value(counts, _probabilities(H, data.temperature)) > 1e-3
        assert data.certificate.passed
        assert data.provenance.get("ladder") == (wanted[:3] if data.temperature < 50 else None)


def test_every_wanted_temperature_is_a_rung_and_is_measured():
    H = tr.hamiltonian("pm-j", (8, 8), seed=1)
    wanted = [1.5, 0.5, 0.52]
    ladder = temperature_ladder(H, wanted, SeedSequence(1))
    assert ladder == sorted(set(ladder))
    assert set(wanted) < set(ladder)
    block = TemperedBlock(H, ladder, wanted, SeedSequence(2), np.ones(REPLICAS, np.bool_))
    block.advance(20)
    energies = block.measure()[0].reshape(3, REPLICAS)
    for row, T in zip(energies, wanted, strict=True):
        np.testing.assert_array_equal(row, block.rungs[ladder.index(T)].measure()[0])
    spins = np.unpackbits(block.packed(), axis=1, bitorder="little")[:, : H.n_sites] * 2.0 - 1
    np.testing.assert_array_equal(H.energy(spins), energies.ravel())


def test_what_wanders_along_a_ladder_is_seen_in_the_sum_over_its_temperatures():
    """Two temperatures pass a slow chain to and fro: each by itself forgets it sooner than their sum."""
    rng, n = default_rng(1), 4000
    slow = np.zeros((n, 64))
    for k in range(1, n):
        slow[k] = 0.98 * slow[k - 1] + rng.normal(size=64)
    place = rng.integers(0, 2, (n, 64))
    noise = rng.normal(size=(n, 64)) * slow.std()
    levels = [np.stack([np.where(place == k, slow, noise)] * 2) for k in (0, 1)]
    taus = [autocorrelation_time(row[0]) for row in (*levels, schedule._summed(levels))]
    assert taus[2] > 1.5 * max(taus[:2])


def test_chains_in_different_ground_states_of_baxter_wu_agree():
    """Single flips hardly ever go from one of the four to another, where the magnetisation is -1/3 or 1."""
    data = tr.sample(tr.hamiltonian("baxter-wu", (12, 12)), 2.1, 1000, seed=1)
    assert data.certificate.passed
    assert data.certificate.tau_abs_magnetization < 30
    m = np.abs(data.spins().mean(axis=1))
    assert (m < 0.5).mean() == pytest.approx(0.75, abs=5 * math.sqrt(0.75 * 0.25 / 1000))


@pytest.mark.parametrize("method", ["metropolis", "tempering"])
def test_same_seed_same_bits_whatever_the_threads(method):
    H = tr.hamiltonian("triangular", (6, 6), coupling=-1)
    one, two = (tr.sample(H, 1.0, 2000, seed=5, method=method, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.packed, two.packed)
    assert one.provenance["method"] == method


@pytest.mark.parametrize(
    ("H", "word"),
    [
        (tr.hamiltonian("triangular", (3, 3), coupling=-1), "percolate"),
        (tr.hamiltonian("square", (4, 4), field=0.1), "ghost spin"),
        (tr.hamiltonian("baxter-wu", (3, 3)), "three or four spins"),
    ],
)
@pytest.mark.parametrize("method", ["swendsen-wang", "wolff"])
def test_clusters_are_refused_with_the_reason(H, word, method):
    with pytest.raises(InputError, match=word):
        tr.sample(H, 2.0, 10, method=method)


def test_single_flips_are_tempered_where_terms_compete_or_a_phase_lasts_against_the_field():
    wanted = {"tempering": ["triangular antiferromagnet", "pm-j", "cold in a weak field", "random field"],
              "metropolis": ["antiferromagnet", "triangular", "baxter-wu", "open"]}  # fmt: skip
    for method, names in wanted.items():
        for name in names:
            data = tr.sample(*KINDS[name], 100, seed=1)
            assert data.provenance["method"] == method


def test_a_sign_is_not_asked_for_where_the_field_chooses_it():
    with pytest.raises(InputError, match="no global flip"):
        tr.sample(tr.hamiltonian("square", (4, 4), field=0.1), 2.0, 10, sector="positive")


def test_sublattice_magnetisation_of_an_antiferromagnet_can_be_chosen():
    H = tr.hamiltonian("square", (8, 8), coupling=-1)
    staggered = tr.sample(H, 1.5, 1000, seed=1, sector="positive").spins() @ H.ground_state
    assert (staggered >= 0).all()


def test_data_keep_their_hamiltonian(tmp_path):
    H = tr.hamiltonian("pm-j", (4, 5), seed=3)
    data = tr.sample(H, 2.0, 100, seed=1)
    data.save(tmp_path / "d.h5")
    again = tr.Dataset.load(tmp_path / "d.h5")
    assert again.hamiltonian == H
    assert again[:10].hamiltonian == H
    assert tr.Dataset.concatenate([data, again]).hamiltonian == H
    other = tr.sample(tr.hamiltonian("pm-j", (4, 5), seed=4), 2.0, 100, seed=1)
    assert tr.Dataset.concatenate([data, other]).hamiltonian is None


def test_cells_of_several_sites_are_laid_out_as_they_are():
    H = tr.hamiltonian("kagome", (3, 4))
    data = tr.sample(H, 3.0, 50, seed=1)
    assert data.n_sites == 36
    assert data.lattice is None
    cells = data.spins().reshape(50, 3, 4, 3)
    again = tr.Dataset.from_spins(cells, hamiltonian=H)
    np.testing.assert_array_equal(again.packed, data.packed)
    with pytest.raises(InputError, match="sites"):
        tr.Dataset.from_spins(np.ones((5, 12)), hamiltonian=H)
