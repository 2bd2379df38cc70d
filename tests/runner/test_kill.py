"""kill -9 at many random moments: the same command goes on, and ends with the same results."""

import subprocess
import sys
from pathlib import Path

import pytest

from thermorbm.study.toml import find_study


def kill(study, place, n_kills):
    script = Path(__file__).with_name("killing.py")
    done = subprocess.run(
        [sys.executable, str(script), str(study), str(place), str(n_kills)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


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
