"""Run directories and their lock."""

import io
import json
import os
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from thermorbm.errors import FileError
from thermorbm.runner import lock as lock_module
from thermorbm.runner.lock import locked, owner
from thermorbm.runner.rundir import clear, existing_run, open_run, prepare
from thermorbm.runner.store import Reduced, damage, read_reduced, write_reduced
from thermorbm.storage import read_json, write_json
from thermorbm.study.steps import STEPS

TASK = STEPS["measure"].task("x", {"thermal": True}, labels={"family": "f"})


def test_a_directory_belongs_to_one_study(tmp_path):
    directory = open_run(tmp_path / "runs" / "run", "one")  # runs is made too
    assert open_run(tmp_path / "runs" / "run", "one") == directory
    with pytest.raises(FileError, match=r"run: holds the study 'one', not 'two'; name another with --out"):
        open_run(tmp_path / "runs" / "run", "two")


def test_other_directories_are_refused(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("precious")
    with pytest.raises(FileError, match="is not empty and not a run directory"):
        open_run(tmp_path / "full", "one")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        open_run(tmp_path / "file", "one")
    with pytest.raises(FileError, match="is not a run directory"):
        existing_run(tmp_path / "full")
    (tmp_path / "full" / "run.json").write_text('{"format": 99, "study": "one"}')
    with pytest.raises(FileError, match="has format 99, this program reads 1"):
        open_run(tmp_path / "full", "one")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_place_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="cannot be written: Permission denied"):
        open_run(tmp_path / "run", "one")
    tmp_path.chmod(0o700)


def test_fresh_keeps_what_is_not_ours(tmp_path):
    directory = open_run(tmp_path / "run", "one")
    prepare(directory, 'name = "one"', [TASK])
    (directory.path / "notes.txt").write_text("precious")
    write_reduced(directory.reduced(TASK.id), Reduced(TASK, {}))
    clear(directory)
    assert sorted(path.name for path in directory.path.iterdir()) == ["notes.txt", "run.json", "study.toml"]


def test_leftovers_of_killed_writers_are_removed(tmp_path):
    directory = open_run(tmp_path / "run", "one")
    prepare(directory, "", [TASK])
    leftover = directory.reduced(TASK.id).with_name(".x.h5.abc.tmp")
    leftover.write_text("half")
    prepare(directory, "", [TASK])
    assert not leftover.exists()


def test_reduced_results_come_back_and_damage_is_seen(tmp_path):
    directory = open_run(tmp_path / "run", "one")
    prepare(directory, "", [TASK])
    path = directory.reduced(TASK.id)
    assert damage(directory, TASK) == ""
    values = {"a": {"value": 1.5, "error": np.float64(0.5)}, "list": (1, 2), "nan": float("nan")}
    write_reduced(path, Reduced(TASK, values, {"curve.x": np.arange(3)}, {"seconds": 1.0}))
    assert damage(directory, TASK) is None
    found = read_reduced(path)
    assert found.task == TASK
    assert found.values["a"] == {"value": 1.5, "error": 0.5}
    assert found.values["list"] == [1, 2]
    assert np.isnan(found.values["nan"])
    np.testing.assert_array_equal(found.arrays["curve.x"], [0, 1, 2])
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    assert "truncated or altered" in damage(directory, TASK)
    path.write_bytes(whole[:-10] + bytes([whole[-10] ^ 1]) + whole[-9:])
    assert "truncated or altered" in damage(directory, TASK)
    path.write_bytes(b"")
    assert damage(directory, TASK)


def test_json_is_strict_and_whole(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"a": float("nan"), "b": [float("inf"), 1.0], 3: (1,)})
    assert json.loads(path.read_text()) == {"a": None, "b": [None, 1.0], "3": [1]}
    path.write_text('{"a": 1')
    with pytest.raises(FileError, match="truncated or altered"):
        read_json(path)
    path.write_text("[1]")
    with pytest.raises(FileError, match="is not a JSON object"):
        read_json(path)


def test_a_second_runner_is_refused_and_told_who_holds_the_lock(tmp_path):
    path = tmp_path / "lock"
    with locked(path):
        held_by = f"in use by another runner, pid {os.getpid()} on {socket.gethostname()}"
        with pytest.raises(FileError, match=held_by), locked(path):
            pass
        assert owner(path) == {"pid": os.getpid(), "host": socket.gethostname()}
    assert owner(path) is None
    with locked(path):
        pass


HOLD = """
import sys, time
from pathlib import Path
from thermorbm.runner.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_lock_of_a_killed_runner_is_free_again(tmp_path):
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        assert owner(path)["pid"] == holder.pid
        with pytest.raises(FileError, match=f"pid {holder.pid} on"), locked(path):
            pass
        holder.kill()
    assert str(holder.pid) in path.read_text()  # left behind
    assert owner(path) is None
    with locked(path):
        pass


def test_a_lock_of_another_computer_counts_while_it_is_fresh(tmp_path, monkeypatch):
    path = tmp_path / "lock"
    path.write_text('{"pid": 12, "host": "elsewhere"}')
    with pytest.raises(FileError, match="pid 12 on elsewhere"), locked(path):
        pass
    old = time.time() - 2 * lock_module.SILENCE_SECONDS
    os.utime(path, (old, old))
    with locked(path) as lock:
        monkeypatch.setattr(lock_module, "BEAT_SECONDS", 0.0)
        os.utime(path, (old, old))
        lock.beat()
        assert time.time() - path.stat().st_mtime < 60


def test_a_lock_from_before_the_clock_was_set_back_is_nobodys(tmp_path):
    path = tmp_path / "lock"
    path.write_text('{"pid": 12, "host": "elsewhere"}')
    future = time.time() + 3 * lock_module.SILENCE_SECONDS
    os.utime(path, (future, future))
    with locked(path):
        pass


def test_a_lock_that_was_cut_off_is_nobodys(tmp_path):
    path = tmp_path / "lock"
    path.write_text('{"pid": 1')
    with locked(path):
        pass


def test_a_lock_is_read_where_its_first_byte_cannot_be(tmp_path):
    """As on Windows, where others may not read what is locked: the byte is a blank."""

    class Locked(io.StringIO):
        def read(self, size=-1):
            if self.tell() == 0:
                raise PermissionError(13, "Permission denied")
            return super().read(size)

    path = tmp_path / "lock"
    with locked(path):
        file = Locked(path.read_text())
        assert lock_module._read(file) == owner(path) == {"pid": os.getpid(), "host": socket.gethostname()}
