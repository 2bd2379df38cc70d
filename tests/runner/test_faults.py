"""Disks that are full or cannot be written: a clear message, nothing lost, and the same command goes on."""

import errno
import json
import resource
import subprocess
import sys
import tempfile

import pytest

from thermorbm.errors import FileError
from thermorbm.runner.progress import read_status
from thermorbm.runner.rundir import existing_run
from thermorbm.study.run import run_study

# Configurations of 200 kB; everything else is smaller.
THERMAL = """
name = "thermal"
[[family]]
name = "2d"
shape = [4, 4]
temperatures = [3.0]
samples = 100_000
parts = ["thermal"]
"""
LIMIT = 100_000
COMMAND = [sys.executable, "-m", "thermorbm", "run", "--no-report", "--workers", "1"]


def run(study, out, limit=resource.RLIM_INFINITY):
    """The command, with no file larger than `limit` bytes, as on a disk that is nearly full."""
    return subprocess.run(
        [*COMMAND, str(study), "--out", str(out)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)),
    )


def test_a_full_disk_fails_the_task_and_the_same_command_goes_on(tmp_path):
    study, out = tmp_path / "thermal.toml", tmp_path / "run"
    study.write_text(THERMAL)
    full = run(study, out, LIMIT)
    assert full.returncode == 1, full.stderr
    assert "sample/2d-T3: FAILED: " in full.stderr
    assert "cannot be written: File too large" in full.stderr
    assert "Traceback" not in full.stderr
    assert not list(out.rglob(".*.tmp"))
    status = read_status(existing_run(out))
    assert (status.counts["failed"], status.counts["done"]) == (1, 0)
    assert "File too large" in status.last_error
    assert run(study, out).returncode == 0
    assert json.loads((out / "results.json").read_text())["tasks"]["done"] == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_cannot_be_written_is_told_in_one_line(
    small_file, tmp_path, recorder, monkeypatch, number
):
    made = tempfile.mkstemp

    def refuse(**options):
        if "plan.json" in options["prefix"]:
            raise OSError(number, "the disk says no")
        return made(**options)

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(FileError, match=r"plan\.json: cannot be written: the disk says no"):
        run_study(small_file, tmp_path / "run", recorder)
    assert not list((tmp_path / "run").rglob(".*.tmp"))
    assert (tmp_path / "run" / "lock").read_text() == ""
