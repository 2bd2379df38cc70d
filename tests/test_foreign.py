"""Users' HDF5 files: whatever is wrong with one, this process lives on and the next file is read."""

import os
import signal

import h5py
import numpy as np
import pytest

from thermorbm import foreign
from thermorbm.errors import FileError
from thermorbm.foreign import Reader, foreign_arrays, is_hdf5


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["a/spins"] = np.arange(12, dtype=np.int16).reshape(4, 3)
        file["names"] = ["x", "y"]
        file["flags"] = np.array([True, False])
        file["empty"] = h5py.Empty("f4")
        file["point"] = 3.5
    return path


def test_arrays_are_listed_and_read_row_by_row(path):
    with foreign_arrays(path) as arrays:
        assert set(arrays) == {"a/spins", "names", "flags", "point"}
        spins = arrays["a/spins"]
        assert (spins.shape, spins.dtype) == ((4, 3), np.dtype(np.int16))
        np.testing.assert_array_equal(spins[1:3], [[3, 4, 5], [6, 7, 8]])
        np.testing.assert_array_equal(spins[2:99], [[6, 7, 8], [9, 10, 11]])
        assert arrays["flags"][:].tolist() == [True, False]
        assert arrays["names"].dtype == object


def test_the_signature_tells(path, tmp_path):
    assert is_hdf5(path)
    with h5py.File(tmp_path / "block.h5", "w", userblock_size=1024):
        pass
    assert is_hdf5(tmp_path / "block.h5")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_bytes(b"x" * 5000)
    assert not is_hdf5(tmp_path / "empty")
    assert not is_hdf5(tmp_path / "text")


def test_one_process_serves_many_files_and_survives_bad_ones(path, tmp_path):
    bad = tmp_path / "bad.h5"
    bad.write_bytes(path.read_bytes()[:700])
    with foreign_arrays(path):
        pass
    reader = Reader._idle
    with pytest.raises(FileError, match=r"bad\.h5: cannot be read as HDF5: Unable to"), foreign_arrays(bad):
        pass
    with pytest.raises(KeyError), foreign_arrays(path) as arrays:
        arrays["absent"]
    with foreign_arrays(path) as arrays:
        assert arrays["flags"][:].tolist() == [True, False]
    assert Reader._idle is reader


def test_a_crash_of_the_library_is_an_error_in_one_line(path):
    with pytest.raises(FileError, match=r"cannot be read as HDF5: the library crashed on it \(SIGSEGV\)"):  # noqa: SIM117, PT012
        with foreign_arrays(path) as arrays:
            server = arrays["flags"].reader._child.process.pid
            (served,) = map(int, _children(server))
            os.kill(served, signal.SIGSEGV)
            arrays["flags"][:]
    with foreign_arrays(path) as arrays:
        assert len(arrays) == 4


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()


def test_a_library_that_does_not_come_back_is_given_up(path, monkeypatch):
    with foreign_arrays(path):
        pass
    reader = Reader._idle
    monkeypatch.setattr(foreign, "PATIENCE_SECONDS", 0.2)
    os.kill(reader._child.process.pid, signal.SIGSTOP)
    with pytest.raises(FileError, match="does not come back"), foreign_arrays(path):
        pass
    assert reader._child.process.returncode == -signal.SIGKILL
    monkeypatch.undo()
    with foreign_arrays(path) as arrays:
        assert len(arrays) == 4


def test_an_interruption_does_not_shift_the_answers(path, monkeypatch):
    """In a notebook the next file would be answered with what was meant for the one before."""
    if (other := Reader.idle()) is not None:
        other.end()
    reader = Reader._idle = Reader()
    send = reader._child.send

    def interrupted(request):
        send(request)
        if "read" in request:
            raise KeyboardInterrupt

    monkeypatch.setattr(reader._child, "send", interrupted)
    with pytest.raises(KeyboardInterrupt), foreign_arrays(path) as arrays:
        arrays["a/spins"][:]
    with foreign_arrays(path) as arrays:
        assert arrays["flags"][:].tolist() == [True, False]
