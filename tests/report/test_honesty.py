"""Headline numbers of a study are found again from fresh seeds, and forged ones are not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import thermorbm as tr
from thermorbm.report.page import build
from thermorbm.report.publish import publish

ROOT = Path(__file__).parents[2]
STUDY = """
name = "small"
seed = 3

[[family]]
name = "2d"
shape = [16, 16]
temperatures = [1.5, 2.0, 2.5, 3.0]
samples = 4000
parts = ["thermal", "entropy", "critical"]

[family.energies]
coldest = 0.5
hottest = 40.0
points = 40
samples = 2000

[[family.variant]]
name = "symmetric"
filters = [2]
kernel = 3
zero_bias = true
"""


def recomputed(path):
    command = [sys.executable, ROOT / "tools" / "honesty.py", path, "2d", "--seed", "5"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_headline_numbers_are_found_again_from_fresh_seeds(tmp_path):
    (tmp_path / "small.toml").write_text(STUDY)
    run = tr.run(tmp_path / "small.toml", out=tmp_path / "run", workers=1, progress=False)
    build(run.path, 1)
    publish(run.path, tmp_path / "published")
    honest = recomputed(tmp_path / "published")
    assert honest.returncode == 0, honest.stdout + honest.stderr
    assert honest.stdout.count("\n") == 12  # ten numbers below a head
    _forge(run.path / "results.json")
    forged = recomputed(run.path)
    assert (forged.returncode, forged.stdout.count("\n")) == (1, 12), forged.stderr


def _forge(path):
    """Moves the peak of the heat capacity by two per cent."""
    results = json.loads(path.read_text())
    rows = results["families"][0]["critical_temperatures"]
    (row,) = [row for row in rows if row["indicator"] == "heat_capacity_per_spin"]
    row["estimate"]["value"] *= 1.02
    path.write_text(json.dumps(results))
