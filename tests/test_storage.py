"""Files are whole or absent, and an altered file is never believed."""

import os
import signal
import stat
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import pytest

from thermorbm import storage
from thermorbm.errors import FileError
from thermorbm.storage import atomic_path, check_target, read_hdf5, write_hdf5

ARRAYS = {"spins": np.arange(60, dtype=np.uint8).reshape(20, 3), "w": np.linspace(0, 1, 5)}
METADATA = {"temperature": 2.25, "nothing": None, "list": [1, 2]}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "x.h5"
    write_hdf5(path, "dataset", ARRAYS, METADATA)
    return path


def assert_same(arrays, metadata):
    assert metadata == METADATA
    assert sorted(arrays) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_what_is_written_is_read(saved):
    assert_same(*read_hdf5(saved, "dataset"))


@pytest.mark.parametrize(
    "array", [np.float64(3.5), np.zeros((0, 4)), np.asfortranarray(np.eye(3)), np.arange(9)[::2]]
)
def test_arrays_of_any_layout_survive(tmp_path, array):
    write_hdf5(tmp_path / "x.h5", "rbm", {"a": np.asarray(array)}, {})
    np.testing.assert_array_equal(read_hdf5(tmp_path / "x.h5", "rbm")[0]["a"], array)


def test_writing_replaces_and_leaves_nothing_else(saved):
    write_hdf5(saved, "dataset", {}, {"new": True})
    assert read_hdf5(saved, "dataset") == ({}, {"new": True})
    assert os.listdir(saved.parent) == ["x.h5"]


def test_file_mode_follows_the_umask(saved):
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_failure_keeps_the_old_file_and_no_temporary_one(saved, failure):
    before = saved.read_bytes()
    expected = FileError if failure is OSError else failure
    with pytest.raises(expected), atomic_path(saved) as temporary:  # noqa: PT012
        temporary.write_bytes(b"half of the new fi")
        raise failure
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == ["x.h5"]


def test_metadata_that_is_not_json_leaves_no_file(tmp_path):
    with pytest.raises(TypeError):
        write_hdf5(tmp_path / "x.h5", "dataset", {}, {"a": object()})
    assert os.listdir(tmp_path) == []


def test_a_symbolic_link_stays_a_link(saved):
    link = saved.parent / "link.h5"
    link.symlink_to(saved)
    write_hdf5(link, "dataset", {}, {"new": True})
    assert link.is_symlink()
    assert read_hdf5(saved, "dataset")[1] == {"new": True}


DISK_FULL = """
import resource, sys
import numpy as np
from thermorbm.errors import FileError
from thermorbm.storage import write_hdf5
for limit in (0, 100, 2000, 2100, 5000, 6200, 50_000, 99_999):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write_hdf5(sys.argv[1], "dataset", {"spins": np.ones(100_000, np.uint8)}, {"a": "b" * 3000})
    except FileError as error:
        assert "cannot be written: File too large" in str(error), error
    else:
        raise AssertionError(f"no error at {limit}")
"""


def test_a_full_disk_is_an_error_and_not_a_crash(saved):
    """HDF5 itself ends the process with a segmentation fault some time after a failed write."""
    before = saved.read_bytes()
    done = subprocess.run([sys.executable, "-c", DISK_FULL, saved], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == ["x.h5"]


@pytest.fixture
def plain_interrupts():
    """Python's own answer to Ctrl-C: libraries that other tests import put theirs in its place."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("plain_interrupts")
@pytest.mark.parametrize("method", ["write", "truncate"])
def test_a_signal_waits_until_hdf5_is_done(method, saved, monkeypatch):
    """What it raised inside the library came out as an AttributeError."""
    original = getattr(storage._PatientFile, method)

    def signalled(self, *arguments):
        signal.raise_signal(signal.SIGINT)
        return original(self, *arguments)

    before = saved.read_bytes()
    monkeypatch.setattr(storage._PatientFile, method, signalled)
    with pytest.raises(KeyboardInterrupt):
        write_hdf5(saved, "dataset", {"a": np.arange(1000)}, {})
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_targets_that_cannot_be_written(tmp_path, saved):
    for target, problem in [
        (tmp_path / "no" / "x.h5", "does not exist"),
        (tmp_path, "is a directory"),
        ("/dev/null", "not a regular file"),
        (saved / "x.h5", "does not exist"),
        ("", "is a directory"),
    ]:
        with pytest.raises(FileError, match=problem):
            check_target(target)
        with pytest.raises(FileError, match=problem):
            write_hdf5(target, "dataset", {}, {})
    assert os.listdir(tmp_path) == ["x.h5"]


def test_an_existing_target_needs_permission_to_be_replaced(saved):
    check_target(saved)
    with pytest.raises(FileError, match="exists already"):
        check_target(saved, overwrite=False)


def test_a_directory_without_write_permission(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(FileError, match="Permission denied; choose another directory"):
        check_target(tmp_path / "x.h5")


def test_a_temporary_file_that_cannot_be_made(tmp_path, monkeypatch):
    def refuse(**_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(FileError, match="cannot be written: Read-only file system"):
        write_hdf5(tmp_path / "x.h5", "dataset", {}, {})


def test_the_wrong_kind_is_named(saved):
    with pytest.raises(FileError, match="is a dataset file; a rbm file is wanted"):
        read_hdf5(saved, "rbm")


def test_files_that_are_not_ours(tmp_path):
    with h5py.File(tmp_path / "foreign.h5", "w") as file:
        file["spins"] = np.ones((3, 4))
    with h5py.File(tmp_path / "block.h5", "w", userblock_size=512) as file:
        file["spins"] = np.ones((3, 4))
    (tmp_path / "text.h5").write_text("not HDF5 at all")
    (tmp_path / "empty.h5").write_bytes(b"")
    for name in os.listdir(tmp_path):
        with pytest.raises(FileError, match="is not a file of thermorbm"):
            read_hdf5(tmp_path / name, "dataset")
    with pytest.raises(FileError, match="No such file"):
        read_hdf5(tmp_path / "absent.h5", "dataset")
    with pytest.raises(FileError, match="Is a directory"):
        read_hdf5(tmp_path, "dataset")
    with pytest.raises(FileError, match="is not the name of a file"):
        read_hdf5("a\0b", "dataset")


def test_other_programs_can_read_our_files(saved):
    assert h5py.is_hdf5(saved)
    with h5py.File(saved) as file:
        np.testing.assert_array_equal(file["arrays/spins"], ARRAYS["spins"])
    assert saved.read_bytes().startswith(b"thermorbm 1 dataset sha256 ")


def test_a_newer_format_is_named(saved):
    saved.write_bytes(saved.read_bytes().replace(b"thermorbm 1 ", b"thermorbm 99 ").replace(b"\0", b"", 1))
    with pytest.raises(FileError, match="format version 99, this program reads 1"):
        read_hdf5(saved, "dataset")


def test_a_kind_cannot_be_forged(saved):
    saved.write_bytes(saved.read_bytes().replace(b" dataset ", b" machine "))
    with pytest.raises(FileError, match="checksum"):
        read_hdf5(saved, "machine")


def test_a_sealed_file_of_another_layout(tmp_path, monkeypatch):
    monkeypatch.setattr(h5py.Group, "create_group", lambda group, _: group)
    write_hdf5(tmp_path / "x.h5", "dataset", {}, {})
    with pytest.raises(FileError, match="is not laid out like"):
        read_hdf5(tmp_path / "x.h5", "dataset")


def test_a_file_changed_by_another_program_is_refused(saved):
    with h5py.File(saved, "r+") as file:
        file["arrays/extra"] = np.ones(3)
    with pytest.raises(FileError, match="checksum"):
        read_hdf5(saved, "dataset")


def test_a_file_cut_short_or_made_longer_is_refused(saved):
    whole = saved.read_bytes()
    for length in [*range(0, 600, 7), *range(600, len(whole), 61), len(whole) - 1]:
        saved.write_bytes(whole[:length])
        with pytest.raises(FileError):
            read_hdf5(saved, "dataset")
    saved.write_bytes(whole + b"\0")
    with pytest.raises(FileError):
        read_hdf5(saved, "dataset")


def test_every_altered_byte_is_noticed(saved):
    """Given such files HDF5 itself may believe them, or end the process with a segmentation fault."""
    whole = saved.read_bytes()
    rng = np.random.default_rng(0)
    for position in range(len(whole)):
        altered = bytearray(whole)
        altered[position] ^= int(rng.integers(1, 256))
        saved.write_bytes(altered)
        with pytest.raises(FileError):
            read_hdf5(saved, "dataset")


def test_a_file_that_somebody_reads_is_replaced_when_it_is_free(saved, monkeypatch):
    """Windows does not replace an open file: most are free again in a moment; one that is not is named."""
    replace, refusals = os.replace, iter([True, True, False])

    def busy(source, target):
        if next(refusals, True):
            raise PermissionError(13, "Permission denied", str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", busy)
    write_hdf5(saved, "dataset", {"new": np.ones(2)}, {})
    assert list(read_hdf5(saved, "dataset")[0]) == ["new"]
    with pytest.raises(FileError, match="cannot be written: Permission denied"):
        write_hdf5(saved, "dataset", ARRAYS, {})
    assert os.listdir(saved.parent) == [saved.name]
