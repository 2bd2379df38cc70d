"""The first recipe of CONTRIBUTING.md, followed in a copy of the package: a new observable in three files."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import thermorbm

STUDY = """\
name = "contributed"

[[family]]
name = "2d"
shape = [4, 4]
temperatures = [1.5, 2.0, 2.5, 3.0, 3.5, 4.0]
samples = 256
held_out = 64
hidden = [4]
parts = ["thermal", "hidden", "critical"]

[family.changes]
epochs = 2
least_updates = 0
"""

OBSERVABLE = '''

def hidden_activity(machine: Machine, data: Dataset, seed: int) -> Estimate:
    """<|m_h|> over configurations, with its standard error."""
    return mean_estimate(np.abs(hidden_encoding(machine, data, seed).magnetization))
'''

MEASURE = """def _hidden_activity(machine: Any, held_out: Any, seed: int) -> Estimate:
    from thermorbm.observables.hidden import hidden_activity

    return hidden_activity(machine, held_out, seed)


_ENTRIES = ("""

ENTRY = r"""
    Quantity(
        "hidden_activity", r"$\langle|m_h|\rangle$", "|m_h|", Observation, measure=_hidden_activity,
        in_summary=True, mark=PEAK, target=SUSCEPTIBILITY,
    ),"""


@pytest.fixture(scope="module")
def contributed(tmp_path_factory) -> Path:
    """A run directory of a study that a copy of the package with the new observable has run."""
    place = tmp_path_factory.mktemp("contributed")
    package = place / "src" / "thermorbm"
    shutil.copytree(Path(thermorbm.__file__).parent, package)
    with open(package / "observables" / "hidden.py", "a") as file:
        file.write(OBSERVABLE)
    quantities = package / "study" / "quantities.py"
    text = quantities.read_text()
    assert text.count("_ENTRIES = (") == 1
    quantities.write_text(text.replace("_ENTRIES = (", MEASURE + ENTRY))
    (place / "study.toml").write_text(STUDY)
    environment = {**os.environ, "PYTHONPATH": str(place / "src")}
    command = [sys.executable, "-m", "thermorbm", "run", "study.toml", "--out", "run", "--workers", "1"]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "|m_h|" in done.stdout
    return place / "run"


def test_it_is_in_the_results(contributed):
    family = json.loads((contributed / "results.json").read_text())["families"][0]
    measured = [machine["observations"][0]["measured"]["hidden_activity"] for machine in family["machines"]]
    assert all(0 < estimate["value"] < 1 and estimate["error"] > 0 for estimate in measured)
    curve = family["indicators"][0]["curves"]["hidden_activity"]
    assert curve["values"] == [estimate["value"] for estimate in measured]
    (row,) = (row for row in family["critical_temperatures"] if row["indicator"] == "hidden_activity")
    assert (row["feature"], row["kind"]) == ("peak", "susceptibility")


@pytest.mark.parametrize(
    ("table", "column"),
    [("observations", "measured.hidden_activity"), ("summary", "hidden_activity")],
)
def test_it_is_in_the_tables(contributed, table, column):
    with open(contributed / "tables" / f"{table}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert all(float(row[column]) > 0 and float(row[f"{column}_error"]) > 0 for row in rows)


def test_it_is_in_the_report(contributed):
    page = (contributed / "report.html").read_text()
    assert "⟨|<i>m</i><sub>h</sub>|⟩" in page or "hidden activity" in page
