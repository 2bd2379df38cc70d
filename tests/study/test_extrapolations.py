"""Lattices of several sides joined: what a study may say, its task, and rows from known peaks."""

from dataclasses import replace

import pytest

from thermorbm.errors import FileError
from thermorbm.exact import TC_2D
from thermorbm.records import as_plain, from_plain
from thermorbm.report.run import Missing, Run
from thermorbm.report.sections.extrapolation import extrapolation_tables, figures
from thermorbm.report.style import our_style
from thermorbm.runner.store import Reduced
from thermorbm.study.lattices import extrapolation
from thermorbm.study.plan import plan_study
from thermorbm.study.results import Extrapolation, Results, StudyInfo, TaskCounts, Timings
from thermorbm.study.spec import Control
from thermorbm.study.steps import STEPS
from thermorbm.study.toml import find_study, load_study

SIDES = (16, 32, 64)
HEAD = 'name = "s"\n'
FAMILY = (
    '[[family]]\nname = "L{0}"\nshape = [{0}, {0}]\ntemperatures = [2.0, 3.0]\nsamples = 9\nhidden = [2]\n'
)
JOIN = '[[extrapolation]]\nname = "2d"\nfamilies = ["L4", "L8"]\nnu = 1\n'
TWO = FAMILY.format(4) + FAMILY.format(8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TWO + JOIN.replace('"L4", ', ""), "extrapolation.2d.families must be two or more names of families"),
        (TWO + JOIN.replace('"L4"', '"L8"'), "extrapolation.2d.families must be all different"),
        (TWO + JOIN.replace("nu = 1", ""), "extrapolation.2d.nu must be the exponent"),
        (TWO + JOIN.replace("nu = 1", "nu = 0"), "extrapolation.2d.nu must be a number > 0"),
        (TWO + JOIN.replace("nu = 1", "mu = 1"), "did you mean 'nu'?"),
        (TWO + JOIN.replace('"L4"', '"L5"'), "families must be one of L4, L8, got 'L5'"),
        (TWO + JOIN + JOIN, "extrapolation names must be all different"),
        (TWO.replace("[8, 8]", "[8, 9]") + JOIN, "families must be cubic lattices"),
        (TWO.replace("[8, 8]", "[8, 8, 8]") + JOIN, "families must be lattices of one dimension"),
        (TWO.replace("[8, 8]", "[4, 4]") + JOIN, "sides must be all different"),
        (FAMILY.format(4) + FAMILY.format(8).replace("[2]", "[2, 3]") + JOIN, "numbers of sizes"),
        (FAMILY.format(4) + FAMILY.format(8) + 'parts = ["thermal"]\n' + JOIN, "with the part 'critical'"),
    ],
)
def test_mistakes(write_study, text, message):
    with pytest.raises(FileError) as caught:
        load_study(write_study(HEAD + text))
    assert message in str(caught.value)


def test_the_task_joins_all_estimates_of_its_families(write_study):
    text = HEAD + TWO + FAMILY.format(6) + JOIN
    tasks = plan_study(load_study(write_study(text))).tasks
    (joined,) = (task for task in tasks.values() if task.parameters.get("what") == "extrapolation")
    assert joined.labels == {"family": None, "extrapolation": "2d"}
    assert joined.parameters["sides"] == [4, 8]
    names = [tasks[item].name for item in joined.inputs]
    assert names == [
        f"L{side}-{what}" for side in (4, 8) for what in ("thermodynamics", "indicators-main-h2")
    ]
    without = plan_study(load_study(write_study(HEAD + TWO))).tasks
    assert set(without) < set(tasks)


def test_the_fine_grids_of_paper_plus():
    study = load_study(find_study("paper-plus"))
    for family in study.families:
        steps = [b - a for a, b in zip(family.temperatures, family.temperatures[1:], strict=False)]
        assert max(steps) <= 0.05 + 1e-9
        assert family.variants[0].seeds == 3
    ends = {f.name: (f.temperatures[0], f.temperatures[-1]) for f in study.families}
    for name, critical in (("2d-L64", TC_2D), ("3d-L16", 4.5115)):
        assert ends[name][0] <= 0.9 * critical
        assert ends[name][1] >= 1.1 * critical
    assert study.extrapolations[0].families == ("2d-L16", "2d-L32", "2d-L64")


def estimate(value, error=1e-3):
    return {"value": value, "error": error}


def critical(indicator, value, kind="heat_capacity", problem=None):
    found = None if value is None else estimate(value)
    return {"indicator": indicator, "feature": "peak", "kind": kind, "estimate": found, "problem": problem}


def family_results(side):
    """What the estimates of one family say: peaks on a line that ends at T_c, and one that is not found."""
    shape, x = [side, side], 1 / side
    known = {
        "targets": {
            "heat_capacity": {**estimate(TC_2D + 0.8 * x, 0.0), "source": "kaufman"},
            "susceptibility": None,
        },
        "critical": [critical("heat_capacity_per_spin", TC_2D + 0.8 * x)],
    }
    machines = [
        critical("visible_energy_variance_per_spin", TC_2D + 0.4 * x),
        critical(f"correlation_r{side // 16}", TC_2D + 2 * x, "susceptibility"),
        critical(f"correlation_r{side // 8}", 2.1, "susceptibility", "at an end" if side == 16 else None),
        *([critical("correlation_r32", 2.2, "susceptibility")] if side == 64 else []),
    ]
    labels = {"group": "main", "union": False, "n_hidden": side * side // 16}
    for what, labels_of, values in (
        ("thermodynamics", {}, known), ("indicators", labels, {"critical": machines})
    ):  # fmt: skip
        yield Reduced(STEPS["estimate"].task(what, {"what": what, "shape": shape}, labels=labels_of), values)


@pytest.fixture(scope="module")
def joined():
    results = [result for side in SIDES for result in family_results(side)]
    parameters = {"what": "extrapolation", "nu": 1.0, "sides": list(SIDES)}
    task = STEPS["estimate"].task("x", parameters, labels={"extrapolation": "2d"})
    return extrapolation(task, results)


def test_rows_end_at_tc(joined):
    rows = {row.indicator: row for row in joined.rows}
    assert list(rows) == [
        "target_heat_capacity", "heat_capacity_per_spin", "visible_energy_variance_per_spin",
        "correlation_L/16", "correlation_L/8",
    ]  # fmt: skip
    assert joined.infinite == TC_2D
    for name in list(rows)[:4]:
        assert rows[name].estimate.value == pytest.approx(TC_2D, abs=1e-9)
        assert abs(rows[name].relative_to_infinite) < 1e-9
    machine = rows["visible_energy_variance_per_spin"]
    assert machine.variant == "main"
    assert [machine.points[str(side)].n_hidden for side in SIDES] == [16, 64, 256]
    expected = (TC_2D + 0.4 / 32) / (TC_2D + 0.8 / 32) - 1
    assert machine.points["32"].relative_to_target == pytest.approx(expected)


def test_a_peak_that_is_missing_on_one_lattice(joined):
    row = next(row for row in joined.rows if row.indicator == "correlation_L/8")
    assert row.estimate is None
    assert row.problem == "peaks must be found on all 3 lattices, got 2"


def test_figure_and_table(joined, tmp_path):
    study = StudyInfo("s", "S", 1, "single", Control())
    timings = Timings("here", "processor", 0.0, {})
    assert from_plain(Extrapolation, as_plain(joined)) == joined
    run = Run(tmp_path, Results(study, {}, (), (joined,), TaskCounts(0, 0), timings))
    with our_style():
        (chart,) = figures(run)
    assert len(chart.panels) == 2
    assert "nearest to the known value is" in chart.caption
    (table,) = extrapolation_tables(run)
    assert len(table.rows) == 5
    assert table.rows[-1][-3:] == ["none", "–", "–"]
    assert all(len(row) == len(table.columns) for row in table.rows)
    with pytest.raises(Missing):
        figures(replace(run, results=replace(run.results, extrapolations=())))
