"""What others' files declare is not believed: sizes, places, characters."""

import math
import os
import struct
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zipfile
import zlib

import h5py
import numpy as np
import pytest

from fuzz.mutations import seal
from thermorbm import RBM, Dataset, Hamiltonian, foreign, generate, hamiltonian, kernelcache
from thermorbm.checks import check_counts
from thermorbm.cli.console import say
from thermorbm.errors import FileError, InputError
from thermorbm.interchange import from_rbms
from thermorbm.shown import visible
from thermorbm.spinfiles import read_packed
from thermorbm.storage import MOST_JSON, check_readable, read_hdf5, read_json, write_hdf5
from thermorbm.study.sources import parameter_values


@pytest.fixture(autouse=True)
def quickly():
    began = time.process_time()
    yield
    assert time.process_time() - began < 10


def test_rows_that_are_only_declared(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("spins", (10**12, 16), np.int8, chunks=(1024, 16))
    with pytest.raises(FileError, match=r"declares an array of 16000000 MB .* at most 200 times its size"):
        read_packed(tmp_path / "x.h5", None, None)


def test_a_small_archive_of_a_large_array(tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("spins.npy", "w", force_zip64=True) as file,
    ):
        header = {"descr": "|i1", "fortran_order": False, "shape": (300 << 20, 1)}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(300):
            file.write(b"\1" * (1 << 20))
    with pytest.raises(FileError, match=r"declares an array of 315 MB .* at most 200 times its size"):
        read_packed(tmp_path / "x.npz", None, None)


def test_parameters_and_machines_of_others_have_the_same_limit(tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("values.npy", "w", force_zip64=True) as file,
    ):
        header = {"descr": "<f8", "fortran_order": False, "shape": (40 << 20,)}
        np.lib.format.write_array_header_1_0(file, header)  # what follows is not even looked at
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("values", (1 << 27,), np.float64, chunks=(1024,))
        file.create_dataset("update_1/weight_matrix", (1 << 14, 1 << 13), np.float64, chunks=(64, 64))
    for path in (tmp_path / "x.npz", tmp_path / "x.h5"):
        with pytest.raises(FileError, match="at most 200 times its size"):
            parameter_values(path, "values")
    with pytest.raises(FileError, match="at most 200 times its size"):
        from_rbms(tmp_path / "x.h5")


def with_large_chunks(group, name):
    """Four rows, in a chunk that would unfold to 320 MB."""
    group.create_dataset(name, (4, 16), np.int8, maxshape=(None, 16), chunks=(20 << 20, 16), compression=1)


def test_chunks_that_unfold_to_more_than_they_show(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        with_large_chunks(file, "spins")
    with pytest.raises(FileError, match="'spins' has chunks of more than 256 MB"):
        read_packed(tmp_path / "x.h5", None, None)


@pytest.mark.parametrize("packed", [True, False])
def test_headers_without_end(packed, tmp_path):
    """NumPy refuses them, but only after it has read them."""
    start, path = b"\x93NUMPY\2\0" + struct.pack("<I", 1 << 28), tmp_path / "x.npz"
    if packed:
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
            archive.open("spins.npy", "w", force_zip64=True) as file,
        ):
            file.write(start)
            for _ in range(256):
                file.write(b" " * (1 << 20))
    else:
        with open(path, "wb") as file:
            file.write(start)
            file.truncate(1 << 29)  # of which the disk holds nothing
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match="declares a header of 268435456 bytes, at most 65536 are read"):
            read_packed(path, None, None)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


def test_filters_that_unfold_to_more_than_they_keep(tmp_path, monkeypatch):
    """Chunks of 128 bytes, each twice compressed from 64 MB: a file of kilobytes would take for ever."""
    content = zlib.compress(zlib.compress(bytes(1 << 26), 1), 1)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        layout.set_chunk((8, 16))
        layout.set_deflate(1)
        layout.set_deflate(1)
        space = h5py.h5s.create_simple((1600, 16))
        array = h5py.h5d.create(file.id, b"spins", h5py.h5t.NATIVE_INT8, space, layout)
        for row in range(0, 1600, 8):
            array.write_direct_chunk((row, 0), content)
    monkeypatch.setattr(foreign, "LEAST_CPU_SECONDS", 1)
    with pytest.raises(FileError, match="it takes far more time than a file of its size should"):
        read_packed(tmp_path / "x.h5", None, None)


@pytest.mark.parametrize("both", [True, False])
def test_a_hamiltonian_that_is_only_declared(both, tmp_path):
    """A few bytes name one of 10^12 sites, which are not made before they are compared with the spins."""
    model = hamiltonian("triangular", (4, 4))
    spins = np.ones((3, 16), np.int8)
    Dataset.from_spins(spins, temperature=2.0, hamiltonian=model).save(tmp_path / "x.h5")
    arrays, metadata = read_hdf5(tmp_path / "x.h5", "dataset")
    metadata["hamiltonian"] |= {
        "n_sites": 10**12,
        "grid": metadata["hamiltonian"]["grid"] | {"shape": [10**6] * 2},
    }
    metadata |= {"n_sites": 10**12, "shape": [10**6] * 2} if both else {}
    write_hdf5(tmp_path / "x.h5", "dataset", arrays, metadata)
    with pytest.raises(
        FileError, match=r"is not a valid dataset: (hamiltonian must be one of 16 sites|lattice shape must)"
    ):
        Dataset.load(tmp_path / "x.h5")


@pytest.mark.parametrize(
    "change",
    [
        {"field": 10**400},
        {"field": math.nan},
        {"grid": {"shape": [4, 4], "n_cell": 1, "open": []}},
        {"products": [{"points": [[0, [0, 0]], [16, [0, 0]]], "coupling": 1.0}]},  # no such site
        {"products": [{"points": [[0, [0, 0]], [0, [10**30, 0]]], "coupling": 1.0}]},
        {"products": [{"points": [[0, [0, 0]], [math.inf, [0, 1]]], "coupling": 1.0}]},
        {"products": [{"points": [[0, [0, 0]], [0, [0, 1]]], "coupling": math.inf}]},
        {"products": [{"points": [[0, [0, 0]]], "coupling": 1.0}]},
        {"products": [{"points": [[0, [0, 0]], [0, [0, 1]]], "coupling": 1.0}] * (1 << 21 | 1)},
    ],
)
def test_a_hamiltonian_that_is_forged(change):
    """Compiled kernels would go to its sites without asking, and a short file may ask for any memory."""
    stored = hamiltonian("triangular", (4, 4)).to_dict()
    assert Hamiltonian.from_dict(stored, 16) == hamiltonian("triangular", (4, 4))
    with pytest.raises(InputError):
        Hamiltonian.from_dict(stored | change, 16)


def test_a_machine_names_no_hamiltonian_of_another_size():
    noted = {"data": {}, "hamiltonian": hamiltonian("square", (4, 4)).to_dict() | {"n_sites": 10**12}}
    with pytest.raises(InputError, match="hamiltonian must be one of 4 sites, got '1000000000000 sites'"):
        generate(RBM(np.zeros((2, 4)), np.zeros(4), np.zeros(2), provenance=noted), 5, "random")


def test_groups_in_groups(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file
        for _ in range(200):
            group = group.create_group("g")
    with pytest.raises(FileError, match="it has groups nested more than 64 deep"):
        read_packed(tmp_path / "x.h5", None, None)


def test_a_machine_of_small_numbers_is_counted_as_it_will_be(tmp_path):
    """256 MB of bytes that are not there would become 2 GB."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("update_0/params")
        group.create_dataset("weight_matrix", (16000, 16000), np.int8, chunks=(1000, 1000))
        group["vbias"] = group["hbias"] = np.zeros(16000)
    with pytest.raises(FileError, match=r"declares an array of 2048 MB .* at most 200 times its size"):
        from_rbms(tmp_path / "x.h5")


def test_names_without_end(tmp_path):
    np.savez(tmp_path / "x.npz", **{f"array{i}": np.zeros(3) for i in range(300)})
    with pytest.raises(FileError) as error:
        read_packed(tmp_path / "x.npz", None, None)
    assert len(str(error.value).removeprefix(str(tmp_path))) < 600


def test_json_beyond_any_of_ours(tmp_path):
    with open(tmp_path / "results.json", "wb") as file:
        file.truncate(MOST_JSON + 1)
    with pytest.raises(FileError, match="has more than 256 MB"):
        read_json(tmp_path / "results.json")


def test_other_arrays_of_an_archive_are_not_read(tmp_path, monkeypatch):
    spins = np.ones((4, 6), np.int8)
    np.savez(tmp_path / "x.npz", spins=spins, notes=np.array([object()]), more=np.zeros(3))
    assert read_packed(tmp_path / "x.npz", None, "spins")[1] == 6


@pytest.mark.parametrize("kind", ["virtual", "external"])
def test_arrays_that_lie_in_other_files(kind, tmp_path):
    (tmp_path / "secret").write_bytes(b"\1" * 64)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        if kind == "external":
            file.create_dataset("spins", (4, 16), np.int8, external=[(str(tmp_path / "secret"), 0, 64)])
        else:
            layout = h5py.VirtualLayout((4, 16), np.int8)
            layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "spins", (4, 16))
            file.create_virtual_dataset("spins", layout)
    with pytest.raises(FileError, match="the content of 'spins' lies in other files"):
        read_packed(tmp_path / "x.h5", None, None)


def test_links_to_other_files(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["spins"] = np.ones((4, 16), np.int8)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["spins"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "spins")
    with pytest.raises(FileError, match="no array"):
        read_packed(tmp_path / "x.h5", None, None)


def test_pipes_and_devices(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
        with pytest.raises(FileError, match="is not a regular file"):
            check_readable(path)


def test_lists_without_end():
    with pytest.raises(InputError, match="at most 10000 values, got '100000 values'"):
        check_counts("hidden", range(1, 100_001))


def test_characters_that_steer_a_terminal(capsys):
    say("evil \x1b[2J\x07 name \u202e")
    assert capsys.readouterr().err == "evil \\x1b[2J\\x07 name \\u202e\n"
    assert visible("T = 2.25 ± 0.01, L̃") == "T = 2.25 ± 0.01, L̃"


def test_kernels_are_kept_where_this_user_alone_writes(tmp_path, monkeypatch):
    monkeypatch.delenv(kernelcache.VARIABLE, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    writable, missing = tmp_path / "home", tmp_path / "none"
    writable.mkdir()
    kernelcache.provide_cache(package=writable)
    kernelcache.provide_cache(package=missing, home=writable)
    assert kernelcache.VARIABLE not in os.environ
    monkeypatch.setattr(kernelcache, "_is_writable", lambda place: False)
    kernelcache.provide_cache()
    place = tmp_path / f"thermorbm-kernels-{os.getuid()}"
    assert os.environ[kernelcache.VARIABLE] == str(place)
    assert place.stat().st_mode & 0o777 == 0o700
    place.chmod(0o777)  # as if somebody else could write
    monkeypatch.delenv(kernelcache.VARIABLE)
    kernelcache.provide_cache()
    assert os.environ[kernelcache.VARIABLE] != str(place)
    monkeypatch.delenv(kernelcache.VARIABLE)


def test_kernels_have_a_place_before_numba_looks_for_one(tmp_path):
    """As where neither the package nor a home can be written; root may write everywhere."""
    code = "import os; os.access = lambda *_: False; import thermorbm; print(os.environ['NUMBA_CACHE_DIR'])"
    surroundings = {name: text for name, text in os.environ.items() if name != kernelcache.VARIABLE}
    said = subprocess.check_output(
        [sys.executable, "-c", code], env={**surroundings, "TMPDIR": str(tmp_path)}, text=True
    )
    assert said.strip() == str(tmp_path / f"thermorbm-kernels-{os.getuid()}")


def forge(path, change):
    """A well-sealed file of ours in which `change` has altered the HDF5 inside."""
    write_hdf5(path, "text", {"x": np.arange(3)}, {})
    with h5py.File(path, "r+") as file:
        change(file)
    seal(path, "text")


@pytest.mark.parametrize("kind", ["link", "soft link", "virtual", "external", "declared", "chunks", "texts"])
def test_files_of_ours_hold_their_arrays_themselves(kind, tmp_path):
    (tmp_path / "secret").write_bytes(b"\1" * 64)
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["x"] = np.ones((4, 16), np.int8)

    def change(file):
        arrays = file["arrays"]
        layout = h5py.VirtualLayout((4, 16), np.int8)
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "x", (4, 16))
        match kind:
            case "link":
                arrays["y"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "x")
            case "soft link":
                arrays["y"] = h5py.SoftLink("/metadata")
            case "virtual":
                arrays.create_virtual_dataset("y", layout)
            case "external":
                arrays.create_dataset("y", (64,), np.int8, external=[(str(tmp_path / "secret"), 0, 64)])
            case "chunks":
                with_large_chunks(arrays, "y")
            case "texts":
                arrays.create_dataset("y", data=["a text of any length"], dtype=h5py.string_dtype())
            case _:
                arrays.create_dataset("y", (1 << 24,), np.int8)  # which memory would have room for

    forge(tmp_path / "x.h5", change)
    with pytest.raises(FileError, match="is not laid out like a file of thermorbm"):
        read_hdf5(tmp_path / "x.h5", "text")


def test_forging_itself_changes_nothing(tmp_path):
    forge(tmp_path / "x.h5", lambda file: None)
    assert read_hdf5(tmp_path / "x.h5", "text")[0]["x"].tolist() == [0, 1, 2]
