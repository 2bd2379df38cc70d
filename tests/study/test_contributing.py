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

FIGURE = '''

@SECTION.family_figure("new", "New", "Hidden activity")
def draw_activity(family: FamilyView) -> Chart:
    """<|m_h|> against the control parameter."""
    curves: list[Series] = []
    for index, item in enumerate(family.results.indicators_of()):
        curves += curve_series(size_label(item.n_hidden), points(item.curves.get("hidden_activity")), index)
    if not curves:
        raise Missing("it was not measured")
    label = Label(QUANTITIES["hidden_activity"].axis)
    panel = control_panel(family, family.title, label, curves)
    return curves_chart(Markup("How ordered hidden layers are."), [panel])


@SECTION.claim("hidden-activity", "New", r"$\\langle|m_h|\\rangle$ is between 0 and 1.")
def activity_is_a_fraction(family: FamilyView) -> Ruling:
    """It is, at every temperature."""
    item = need(next(iter(family.results.indicators_of()), None), NO_HIDDEN)
    curve = need(points(item.curves.get("hidden_activity")) or None, NO_HIDDEN)
    return decide(all(0 < value < 1 for _, value, _ in curve), "{} values", len(curve))
'''
IMPORT = "from thermorbm.study.quantities import QUANTITIES\nfrom thermorbm.study.results import Hidden\n"


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
    section = package / "report" / "sections" / "hidden.py"
    text = section.read_text() + FIGURE
    section.write_text(text.replace("from thermorbm.study.results import Hidden\n", IMPORT))
    (place / "study.toml").write_text(STUDY)
    environment = {**os.environ, "PYTHONPATH": str(place / "src")}
    command = [sys.executable, "-m", "thermorbm", "run", "study.toml", "--out", "run", "--workers", "1"]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    command = [sys.executable, "-m", "thermorbm", "critical", "run"]
    table = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=True)
    assert "|m_h|" in table.stdout
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
    assert "⟨|<i>m</i><sub>h</sub>|⟩" in page  # in the table of T_c
    assert (contributed / "figures" / "new-2d.svg").exists()
    with open(contributed / "tables" / "claims.csv", newline="") as file:
        (row,) = (row for row in csv.DictReader(file) if row["id"] == "hidden-activity")
    assert (row["family"], row["measured"]) == ("2d", "6 values")
