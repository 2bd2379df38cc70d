"""kill -9 at many random moments, and at every write: the same command goes on to the same results."""

import subprocess
import sys
from pathlib import Path

import pytest

from thermorbm.study.toml import find_study

# A study without machines: whole runs in tenths of a second.
THERMAL = """
name = "thermal"
[[family]]
name = "2d"
shape = [4, 4]
temperatures = [2.0, 3.0]
samples = 256
parts = ["thermal"]
"""


def kill(study, place, kills):
    script = Path(__file__).with_name("killing.py")
    done = subprocess.run(
        [sys.executable, str(script), str(study), str(place), str(kills)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def check(place, results):
    broken = list(place.glob("broken-*"))
    assert broken
    for path in broken:
        assert results(path) == results(place / "whole")
        assert not list(path.rglob(".*.tmp"))
        assert not list(path.glob("cache/checkpoints/*"))


def test_twenty_kills(small_file, tmp_path, results):
    kill(small_file, tmp_path, 20)
    check(tmp_path, results)


@pytest.mark.slow
def test_a_hundred_kills_of_tiny(tmp_path, results):
    kill(find_study("tiny"), tmp_path, 100)
    check(tmp_path, results)


@pytest.mark.slow
def test_a_kill_at_every_step_of_every_write(tmp_path, results):
    (tmp_path / "thermal.toml").write_text(THERMAL)
    n_kills = int(kill(tmp_path / "thermal.toml", tmp_path, "every"))
    assert n_kills > 60
    assert len(list(tmp_path.glob("broken-*"))) == n_kills + 1
    check(tmp_path, results)
