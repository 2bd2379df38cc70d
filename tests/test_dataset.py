"""Datasets: packing, slices, files of ours and of users."""

import json
import os
from dataclasses import replace

import h5py
import numpy as np
import pytest
from hypothesis import given, strategies as st

import thermorbm.spinfiles
from thermorbm.dataset import Dataset, import_spins
from thermorbm.errors import FileError, InputError
from thermorbm.lattice import Lattice
from thermorbm.sampling.certificate import Certificate
from thermorbm.storage import read_hdf5, write_hdf5

LATTICE = Lattice((3, 5))  # 15 sites: one padding bit


def random_spins(n, n_sites=15, seed=0):
    return 2 * np.random.default_rng(seed).integers(0, 2, (n, n_sites), dtype=np.int8) - 1


def certificate(failures=()):
    numbers = {name: 1.5 for name in Certificate.__dataclass_fields__ if name != "failures"}
    return Certificate(**{**numbers, "energy_z": None}, failures=tuple(failures))


@pytest.fixture
def data():
    return Dataset.from_spins(random_spins(20), LATTICE, 2.25)


@given(st.integers(1, 40), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_unpacking_undoes_packing(n, n_sites, seed):
    v = random_spins(n, n_sites, seed)
    data = Dataset.from_spins(v)
    assert (len(data), data.n_sites, data.packed.shape) == (n, n_sites, (n, (n_sites + 7) // 8))
    assert data.spins().dtype == np.int8
    np.testing.assert_array_equal(data.spins(), v)


@given(st.lists(st.lists(st.booleans(), min_size=11, max_size=11), min_size=1, max_size=5))
def test_bit_i_of_a_row_is_site_i(rows):
    data = Dataset.from_spins(np.where(rows, 1, -1))
    for packed, row in zip(data.packed, rows, strict=True):
        number = int.from_bytes(packed.tobytes(), "little")
        assert number == sum(1 << i for i, up in enumerate(row) if up)


@pytest.mark.parametrize(
    "bounds", [(0, 3), (5, 20), (18, 40), (-3, None), (7, 7), (9, 2), (30, 40), (-50, 2)]
)
def test_spins_follow_the_rules_of_slices(data, bounds):
    np.testing.assert_array_equal(data.spins(*bounds), random_spins(20)[slice(*bounds)])
    assert data.spins(*bounds).shape[1] == 15


def test_blocks_cover_everything_once(data):
    np.testing.assert_array_equal(np.concatenate(list(data.blocks(7))), data.spins())
    assert [len(block) for block in data.blocks(7)] == [7, 7, 6]
    assert len(list(data.blocks())) == 1
    with pytest.raises(InputError, match="n_rows"):
        next(data.blocks(0))


def test_users_arrays_in_any_layout(monkeypatch):
    v = random_spins(6)
    monkeypatch.setattr(thermorbm.spinfiles, "BLOCK_SPINS", 30)
    for array in (v, v.tolist(), v.astype(float), np.asfortranarray(v), v.reshape(6, 3, 5)):
        np.testing.assert_array_equal(Dataset.from_spins(array, LATTICE).spins(), v)
    for array in (v > 0, (v > 0).astype(np.uint8), (v > 0).astype(float)):
        np.testing.assert_array_equal(Dataset.from_spins(array, LATTICE, binary=True).spins(), v)


@pytest.mark.parametrize(
    ("v", "named"),
    [
        (np.tile([-1.0, 0.0, 1.0], (2, 5)), "must be .1 or -1, got 0.0"),
        (np.full((2, 15), np.nan), "got nan"),
        (np.full((2, 15), 255, dtype=np.uint8), "got 255"),
        (np.full((2, 15), 0.5), "got 0.5"),
        (np.ones((2, 16)), r"\(n, 15\), got \(2, 16\); or \(n, 3, 5\)"),
        (np.ones((2, 5, 3)), r"got \(2, 5, 3\)"),
        (np.ones((3, 5)), r"got \(3, 5\)"),
        (np.ones(15), r"got \(15,\)"),
        (np.ones((0, 15)), "non-empty"),
        (1, r"got \(\)"),
        ([["1"] * 15], "numbers"),
        (np.ones((2, 15), dtype=complex), "numbers"),
        (np.full((2, 15), None), "numbers"),
    ],
)
def test_users_arrays_that_are_not_configurations(v, named):
    with pytest.raises(InputError, match=named):
        Dataset.from_spins(v, LATTICE)


def test_without_a_lattice_the_array_must_be_flat():
    with pytest.raises(InputError, match="give the lattice"):
        Dataset.from_spins(np.ones((2, 3, 5)))
    assert Dataset.from_spins(np.ones((2, 15))).lattice is None


@pytest.mark.parametrize("temperature", [0, -1.0, np.nan, np.inf, "2.25", True, [2.0]])
def test_bad_temperatures(temperature):
    with pytest.raises(InputError, match="temperature must be a finite number > 0"):
        Dataset.from_spins(random_spins(2), LATTICE, temperature)


@pytest.mark.parametrize(
    ("packed", "n_sites"),
    [
        (np.full((2, 2), 128, np.uint8), 15),  # a padding bit is set
        (np.zeros((2, 3), np.uint8), 15),
        (np.zeros((0, 2), np.uint8), 15),
        (np.zeros(2, np.uint8), 15),
        (np.zeros((2, 2), np.int8), 15),
        ([[0, 0]], 15),
        (np.zeros((2, 2), np.uint8), 14),  # the lattice has 15
        (np.zeros((2, 2), np.uint8), -1),
        (np.zeros((2, 2), np.uint8), 15.0),
    ],
)
def test_bad_packed_arrays(packed, n_sites):
    with pytest.raises(InputError, match=r"packed|n_sites"):
        Dataset(packed, LATTICE, n_sites=n_sites)


def test_sites_must_be_known():
    with pytest.raises(InputError, match="n_sites"):
        Dataset(np.zeros((2, 2), np.uint8))


def test_a_dataset_is_read_only_and_leaves_the_callers_array_alone():
    packed = np.zeros((2, 2), np.uint8)
    data = Dataset(packed, LATTICE)
    with pytest.raises(ValueError, match="read-only"):
        data.packed[0, 0] = 1
    packed[0, 0] = 1
    with pytest.raises(AttributeError):
        data.temperature = 3.0


def test_chosen_configurations_drop_the_certificate():
    v = random_spins(20)
    whole = Dataset(Dataset.from_spins(v).packed, LATTICE, 2.25, {"seed": 1}, certificate())
    odd = np.arange(20) % 2 == 1
    for part, chosen in [(whole.select([4, 0, -1]), v[[4, 0, -1]]), (whole.select(odd), v[odd])]:
        np.testing.assert_array_equal(part.spins(), chosen)
        assert part.certificate is None
        assert (part.lattice, part.temperature) == (LATTICE, 2.25)
        assert part.provenance == {"seed": 1, "subset": f"{len(chosen)} of 20 samples"}


@pytest.mark.parametrize("indices", [[20], [-21], [0.5], [], [[1]], "a", [True]])
def test_bad_indices(data, indices):
    with pytest.raises(InputError, match=r"indices|subset"):
        data.select(indices)


def test_slices_keep_the_certificate_and_say_that_it_is_that_of_the_whole(tmp_path):
    v = random_spins(20)
    whole = Dataset(Dataset.from_spins(v).packed, LATTICE, 2.25, {"seed": 1}, certificate())
    part = whole[3:9]
    np.testing.assert_array_equal(part.spins(), v[3:9])
    assert part.certificate == whole.certificate
    assert part.provenance["subset"].startswith("6 of 20 samples; the certificate is that of all")
    part.save(tmp_path / "part.h5")
    assert Dataset.load(tmp_path / "part.h5").provenance == part.provenance


def test_bad_slices(data):
    for bad in ("3", 1.0, True, None, (1, 2)):
        with pytest.raises(InputError, match="a whole number or a slice"):
            data[bad]
    with pytest.raises(IndexError, match="20 is not among the 20"):
        data[20]
    with pytest.raises(InputError, match="one or more samples"):
        data[5:5]


def test_concatenation_lists_its_parts(data):
    other = Dataset.from_spins(random_spins(4, seed=1), LATTICE, 3.0)
    union = Dataset.concatenate([data, other])
    np.testing.assert_array_equal(union.spins(), np.concatenate([data.spins(), other.spins()]))
    assert union.temperature is None
    assert [part["temperature"] for part in union.provenance["parts"]] == [2.25, 3.0]
    assert Dataset.concatenate([data, data]).temperature == 2.25
    for bad in ([], [data, Dataset.from_spins(random_spins(4))]):
        with pytest.raises(InputError, match="parts"):
            Dataset.concatenate(bad)


@pytest.mark.parametrize("lattice", [LATTICE, None])
@pytest.mark.parametrize("temperature", [2.25, None])
def test_files_round_trip(tmp_path, lattice, temperature):
    packed = Dataset.from_spins(random_spins(20)).packed
    saved = Dataset(packed, lattice, temperature, {"seed": 1, "a": [None]}, certificate(["bad"]), 15)
    saved.save(tmp_path / "d.h5")
    loaded = Dataset.load(str(tmp_path / "d.h5"))
    np.testing.assert_array_equal(loaded.packed, packed)
    for name in ("lattice", "temperature", "provenance", "certificate", "n_sites"):
        assert getattr(loaded, name) == getattr(saved, name)


def test_provenance_that_cannot_be_stored(tmp_path):
    data = Dataset.from_spins(random_spins(2), provenance={"seed": np.int64(3)})
    with pytest.raises(InputError, match="provenance"):
        data.save(tmp_path / "d.h5")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [3, 4]},
        {"shape": [1, 15]},
        {"shape": "3x5"},
        {"shape": 7},
        {"n_sites": 14},
        {"n_sites": None},
        {"n_sites": "15"},
        {"temperature": -1.0},
        {"temperature": "2.25"},
        {"temperature": float("nan")},
        {"provenance": None},
        {"certificate": {"passed": True}},
        {"certificate": "yes"},
    ],
)
def test_files_with_inconsistent_metadata(tmp_path, data, change):
    data.save(tmp_path / "d.h5")
    arrays, metadata = read_hdf5(tmp_path / "d.h5", "dataset")
    write_hdf5(tmp_path / "d.h5", "dataset", arrays, {**metadata, **change})
    with pytest.raises(FileError, match=r"d\.h5: is not a valid dataset"):
        Dataset.load(tmp_path / "d.h5")


@pytest.mark.parametrize("missing", ["shape", "n_sites", "temperature", "provenance", "certificate"])
def test_files_with_missing_metadata(tmp_path, data, missing):
    data.save(tmp_path / "d.h5")
    arrays, metadata = read_hdf5(tmp_path / "d.h5", "dataset")
    del metadata[missing]
    write_hdf5(tmp_path / "d.h5", "dataset", arrays, metadata)
    with pytest.raises(FileError, match=missing):
        Dataset.load(tmp_path / "d.h5")


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"spins": np.full((2, 2), 255, np.uint8)},
        {"spins": np.zeros((2, 2))},
        {"spins": np.zeros(2, np.uint8)},
    ],
)
def test_files_with_inconsistent_arrays(tmp_path, data, arrays):
    data.save(tmp_path / "d.h5")
    metadata = read_hdf5(tmp_path / "d.h5", "dataset")[1]
    write_hdf5(tmp_path / "d.h5", "dataset", arrays, metadata)
    with pytest.raises(FileError, match=r"d\.h5: is not a valid dataset"):
        Dataset.load(tmp_path / "d.h5")


def test_metadata_that_is_not_a_table(tmp_path):
    write_hdf5(tmp_path / "d.h5", "dataset", {}, [1, 2])
    with pytest.raises(FileError, match="is not laid out like a file of thermorbm"):
        Dataset.load(tmp_path / "d.h5")


def test_an_altered_file_is_refused(tmp_path, data):
    data.save(tmp_path / "d.h5")
    content = (tmp_path / "d.h5").read_bytes()
    at = content.index(data.packed.tobytes())
    (tmp_path / "d.h5").write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    with pytest.raises(FileError, match="checksum"):
        Dataset.load(tmp_path / "d.h5")


def test_export_to_npy_and_npz(tmp_path, data, monkeypatch):
    monkeypatch.setattr("thermorbm.dataset.BLOCK_SPINS", 45)
    data.export(tmp_path / "v.npy")
    data.export(tmp_path / "v.npz")
    exported = np.load(tmp_path / "v.npy", allow_pickle=False)
    assert exported.dtype == np.int8
    np.testing.assert_array_equal(exported, data.spins())
    with np.load(tmp_path / "v.npz", allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["spins"], data.spins())
        assert archive["temperature"] == 2.25
        assert archive["shape"].tolist() == [3, 5]
    Dataset.from_spins(random_spins(2)).export(tmp_path / "u.npz")
    with np.load(tmp_path / "u.npz") as archive:
        assert archive.files == ["spins"]


def test_export_under_another_name(tmp_path, data):
    with pytest.raises(FileError, match=r"end it in \.npy or \.npz"):
        data.export(tmp_path / "v.txt")
    with pytest.raises(FileError, match="does not exist"):
        data.export(tmp_path / "no" / "v.npy")
    assert os.listdir(tmp_path) == []


def test_a_failing_export_leaves_nothing(tmp_path, data, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Dataset, "spins", fail)
    for name in ("v.npy", "v.npz"):
        with pytest.raises(FileError, match="No space left on device"):
            data.export(tmp_path / name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "convert", [lambda v: v, lambda v: (v > 0).astype(int), lambda v: v > 0, lambda v: 1.0 * v]
)
def test_import_of_every_kind_of_file(tmp_path, convert, monkeypatch):
    monkeypatch.setattr(thermorbm.spinfiles, "BLOCK_SPINS", 45)
    v = random_spins(20)
    array = convert(v).reshape(20, 3, 5)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "b.npz", v=array, temperature=2.25, shape=(3, 5))
    with h5py.File(tmp_path / "c.hdf5", "w") as file:
        file["group/v"], file["energies"] = array.reshape(20, 15), np.ones(20)
    files = [tmp_path / name for name in ("a.npy", "b.npz", "c.hdf5")]
    data = import_spins(files, LATTICE, 2.25)
    np.testing.assert_array_equal(data.spins(), np.concatenate([v, v, v]))
    assert (data.lattice, data.temperature, data.certificate) == (LATTICE, 2.25, None)
    assert json.loads(json.dumps(dict(data.provenance)))["files"] == [str(path) for path in files]


def test_an_export_can_be_imported(tmp_path, data):
    for name in ("v.npy", "v.npz"):
        data.export(tmp_path / name)
        np.testing.assert_array_equal(import_spins([tmp_path / name], LATTICE, 2.25).packed, data.packed)


def test_configurations_all_up_can_be_imported(tmp_path):
    np.save(tmp_path / "v.npy", np.ones((4, 15)))
    assert (import_spins([tmp_path / "v.npy"], LATTICE, 0.5).spins() == 1).all()


def test_one_of_several_arrays_must_be_named(tmp_path):
    v = random_spins(4)
    np.savez(tmp_path / "v.npz", train=v, test=-v)
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file["train"], file["test"] = v, -v
    for path in (tmp_path / "v.npz", tmp_path / "v.h5"):
        with pytest.raises(FileError, match=r"several arrays.*--array; arrays found: .*train \(4, 15\)"):
            import_spins([path], LATTICE, 2.25)
        with pytest.raises(FileError, match="holds no array 'tset'; arrays found: "):
            import_spins([path], LATTICE, 2.25, array="tset")
        np.testing.assert_array_equal(import_spins([path], LATTICE, 2.25, array="test").spins(), -v)


def test_no_array_that_fits(tmp_path):
    np.savez(tmp_path / "v.npz", a=np.ones((2, 4)), b=np.ones(3))
    with pytest.raises(FileError, match=r"no array fits .*a \(2, 4\), b \(3,\)"):
        import_spins([tmp_path / "v.npz"], LATTICE, 2.25)
    np.savez(tmp_path / "v.npz", a=np.ones((2, 4)))
    with pytest.raises(FileError, match=r"got \(2, 4\)"):
        import_spins([tmp_path / "v.npz"], LATTICE, 2.25)
    with h5py.File(tmp_path / "empty.h5", "w"):
        pass
    with pytest.raises(FileError, match="arrays found: none"):
        import_spins([tmp_path / "empty.h5"], LATTICE, 2.25)


@pytest.mark.parametrize(
    ("values", "named"),
    [([-1, 0, 1], "got"), ([1, 2, 1], "got 2"), ([1.0, np.nan, -1.0], "got nan"), ([1, 0, 255], "got 255")],
)
def test_imported_values_must_be_of_one_alphabet(tmp_path, values, named):
    np.save(tmp_path / "v.npy", np.tile(values, (4, 5)))
    with pytest.raises(FileError, match=rf"v\.npy: spins must be .* {named}"):
        import_spins([tmp_path / "v.npy"], LATTICE, 2.25)


def test_an_alphabet_that_changes_later_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(thermorbm.spinfiles, "BLOCK_SPINS", 15)
    v = random_spins(10)
    np.save(tmp_path / "v.npy", np.concatenate([v, v > 0]))
    with pytest.raises(FileError, match="or -1, got 0"):
        import_spins([tmp_path / "v.npy"], LATTICE, 2.25)


def test_files_that_cannot_be_imported(tmp_path, data):
    np.save(tmp_path / "objects.npy", np.array([None, 1]), allow_pickle=True)
    np.savez(tmp_path / "objects.npz", np.array([None, 1]), allow_pickle=True)
    np.save(tmp_path / "empty.npy", np.ones((0, 15)))
    np.save(tmp_path / "whole.npy", data.spins())
    (tmp_path / "cut.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:-5])
    np.savez(tmp_path / "whole.npz", data.spins())
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:-5])
    (tmp_path / "text.csv").write_text("1,-1,1")
    (tmp_path / "nothing.npy").write_bytes(b"")
    data.save(tmp_path / "ours.h5")
    with h5py.File(tmp_path / "cut.h5", "w") as file:
        file["v"] = data.spins()
    (tmp_path / "cut.h5").write_bytes((tmp_path / "cut.h5").read_bytes()[:-5])
    names = ["objects.npy", "objects.npz", "empty.npy", "cut.npy", "cut.npz", "text.csv", "nothing.npy"]
    for name in [*names, "ours.h5", "cut.h5", "absent.npy", "."]:
        with pytest.raises(FileError, match=str(tmp_path / name).replace(".", r"\.")):
            import_spins([tmp_path / name], LATTICE, 2.25)
    with pytest.raises(FileError, match="file of thermorbm already; use it as it is"):
        import_spins([tmp_path / "ours.h5"], LATTICE, 2.25)


def test_files_must_agree(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 4)))
    np.save(tmp_path / "b.npy", np.ones((2, 5)))
    with pytest.raises(InputError, match="configurations of one size"):
        import_spins([tmp_path / "a.npy", tmp_path / "b.npy"], None, None)
    with pytest.raises(InputError, match="one or more files"):
        import_spins([], LATTICE, 2.25)


def test_repr_is_short(data):
    assert repr(data) == "Dataset(20 samples, lattice 3x5, temperature 2.25)"
    assert repr(Dataset.from_spins(random_spins(2))).startswith(
        "Dataset(2 samples, 15 sites, geometry unknown"
    )


def test_rows_that_are_held_out_are_remembered(tmp_path):
    data = replace(Dataset.from_spins(np.ones((5, 4), np.int8)), n_held_out=2)
    data.save(tmp_path / "d.h5")
    assert Dataset.load(tmp_path / "d.h5").n_held_out == 2
    assert data[:3].n_held_out == 0
    arrays, metadata = read_hdf5(tmp_path / "d.h5", "dataset")  # as files before had it
    del metadata["n_held_out"]
    metadata["provenance"]["held_out"] = 3
    write_hdf5(tmp_path / "old.h5", "dataset", arrays, metadata)
    assert Dataset.load(tmp_path / "old.h5").n_held_out == 3
    for wrong in (6, -1, "2"):
        with pytest.raises(InputError, match="n_held_out must be"):
            replace(data, n_held_out=wrong)
