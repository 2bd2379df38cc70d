"""The lattice against bond-by-bond sums."""

import numpy as np
import pytest

import thermorbm.lattice
from oracles import ising
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice

SHAPES = [(2,), (7,), (2, 2), (4, 4), (3, 5), (2, 6), (3, 3, 3), (2, 3, 4), (2, 3, 2, 4), (2, 2, 2, 2)]


def random_spins(lattice, n, seed=0):
    return 2 * np.random.default_rng(seed).integers(0, 2, (n, lattice.n_sites), dtype=np.int8) - 1


@pytest.mark.parametrize("shape", SHAPES)
def test_energy_and_magnetization_match_sums_bond_by_bond(shape):
    lattice = Lattice(shape)
    v = random_spins(lattice, 20)
    assert lattice.energy(v).tolist() == [ising.energy(shape, row) for row in v]
    np.testing.assert_allclose(lattice.magnetization(v), [ising.magnetization(row) for row in v], rtol=1e-15)


@pytest.mark.parametrize("shape", [*SHAPES, (64,), (65,), (200,), (8, 8), (7, 130), (64, 64), (6, 6, 6)])
def test_energy_of_packed_spins_matches_sums_bond_by_bond(shape):
    lattice = Lattice(shape)
    v = random_spins(lattice, 20)
    packed = np.packbits(v > 0, axis=1, bitorder="little")
    assert lattice.energy_of_packed(packed).tolist() == [ising.energy(shape, row) for row in v]
    assert lattice.energy_of_packed(packed[:0]).tolist() == []


def test_energy_of_packed_spins_in_several_blocks(monkeypatch):
    monkeypatch.setattr(thermorbm.lattice, "BLOCK_SPINS", 200)
    lattice = Lattice((5, 7))
    v = random_spins(lattice, 23)
    packed = np.packbits(v > 0, axis=1, bitorder="little")
    np.testing.assert_array_equal(lattice.energy_of_packed(packed), lattice.energy(v))


@pytest.mark.parametrize(
    "wrong", [np.zeros((3, 2), np.uint8), np.zeros((3, 1), np.int8), np.zeros(1, np.uint8)]
)
def test_packed_spins_of_another_lattice_are_refused(wrong):
    with pytest.raises(InputError, match=r"packed configurations.*shape \(n, 1\)"):
        Lattice((2, 4)).energy_of_packed(wrong)


@pytest.mark.parametrize("shape", SHAPES)
def test_ordered_configurations_have_energy_minus_d_n(shape):
    lattice = Lattice(shape)
    ordered = np.stack([np.ones(lattice.n_sites), -np.ones(lattice.n_sites)])
    assert lattice.n_bonds == len(shape) * lattice.n_sites
    assert lattice.energy(ordered).tolist() == [-lattice.n_bonds] * 2
    assert lattice.magnetization(ordered).tolist() == [1.0, -1.0]


def test_both_bonds_of_a_pair_count_at_side_two():
    assert Lattice((2,)).energy([1, -1]).tolist() == [2]
    assert Lattice((2, 2)).energy([1, -1, -1, 1]).tolist() == [8]


@pytest.mark.parametrize("shape", SHAPES)
def test_flip_costs_are_energy_differences_of_explicit_flips(shape):
    lattice = Lattice(shape)
    v = random_spins(lattice, 1, seed=1)
    flipped = np.repeat(v, lattice.n_sites, axis=0)
    np.fill_diagonal(flipped, -v)
    n_broken = (v[0][lattice.neighbours] != v[0][:, None]).sum(axis=1)
    assert lattice.flip_costs.shape == (2 * lattice.dimension + 1,)
    np.testing.assert_array_equal(lattice.flip_costs[n_broken], lattice.energy(flipped) - lattice.energy(v))


@pytest.mark.parametrize("shape", SHAPES)
def test_neighbours_are_mutual(shape):
    lattice = Lattice(shape)
    up, down = lattice.neighbours[:, 0::2], lattice.neighbours[:, 1::2]
    sites = np.arange(lattice.n_sites)
    for axis in range(lattice.dimension):
        np.testing.assert_array_equal(down[up[:, axis], axis], sites)


def test_energy_of_broken_bonds_is_the_energy():
    lattice = Lattice((3, 4))
    v = random_spins(lattice, 5)
    up = lattice.neighbours[:, 0::2]
    n_broken = (v[:, up] != v[:, :, None]).sum(axis=(1, 2))
    np.testing.assert_array_equal(lattice.energy_of_broken_bonds(n_broken), lattice.energy(v))


def test_results_do_not_depend_on_the_block_size(monkeypatch):
    lattice = Lattice((4, 4))
    v = random_spins(lattice, 50)
    whole = lattice.energy(v), lattice.magnetization(v)
    monkeypatch.setattr(thermorbm.lattice, "BLOCK_SPINS", 7 * 16)
    np.testing.assert_array_equal(lattice.energy(v), whole[0])
    np.testing.assert_array_equal(lattice.magnetization(v), whole[1])


def test_one_configuration_and_none_at_all():
    lattice = Lattice((2, 3))
    assert lattice.energy(np.ones(6)).shape == (1,)
    assert lattice.energy(np.ones((0, 6))).shape == (0,)
    assert lattice.magnetization(np.ones((0, 6))).shape == (0,)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64])
def test_any_number_type_of_spins_will_do(dtype):
    lattice = Lattice((3, 3))
    v = random_spins(lattice, 4)
    np.testing.assert_array_equal(lattice.energy(v.astype(dtype)), lattice.energy(v))


@pytest.mark.parametrize(
    ("v", "named"),
    [
        (np.zeros((2, 4)), "0.0"),
        (np.full((2, 4), np.nan), "nan"),
        (np.full((2, 4), 255, dtype=np.uint8), "255"),
        (np.full((2, 4), 127, dtype=np.int8), "127"),
        (np.ones((2, 5)), r"\(2, 5\)"),
        (np.ones((1, 2, 4)), r"\(1, 2, 4\)"),
        (1.0, r"\(\)"),
    ],
)
def test_bad_configurations_are_refused_by_name(v, named):
    for observable in (Lattice((2, 2)).energy, Lattice((2, 2)).magnetization):
        with pytest.raises(InputError, match=named):
            observable(v)


@pytest.mark.parametrize(
    "shape", [(), (1, 4), (4, 0), (-3, 4), (4.0, 4), (True, 4), ("4", 4), None, 4.0, 1, "4x4", True]
)
def test_bad_shapes_are_refused(shape):
    with pytest.raises(InputError, match="lattice"):
        Lattice(shape)


def test_equal_shapes_make_equal_lattices():
    lattice = Lattice((3, 4))
    assert lattice == Lattice([np.int64(3), 4]) == Lattice(np.array([3, 4])) == Lattice.parse("3x4")
    assert hash(lattice) == hash(Lattice([3, 4]))
    assert Lattice(5) == Lattice(np.int32(5)) == Lattice((5,))
    assert lattice != Lattice((4, 3))


@pytest.mark.parametrize("text", ["5", "64x64", "3x4x5"])
def test_shapes_are_written_and_read(text):
    assert str(Lattice.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["", "x", "64x", "x64", "64,64", "64 64", "6.5x4", "ax4", "--4x4", "٤x٤", "4" * 5000]
)
def test_malformed_shapes_are_refused(text):
    with pytest.raises(InputError, match="for example 64x64"):
        Lattice.parse(text)


def test_a_written_side_below_two_is_refused():
    with pytest.raises(InputError, match="side must be a whole number >= 2, got -4"):
        Lattice.parse("-4x4")
