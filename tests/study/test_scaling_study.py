"""Finite-size scaling in studies: what a study may say, its task, its results, its figures and its table."""

from dataclasses import replace

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import FileError
from thermorbm.exact import TC_2D
from thermorbm.records import from_plain
from thermorbm.report.run import Missing, Run
from thermorbm.report.section import Gap
from thermorbm.report.sections import scaling as section
from thermorbm.report.style import our_style
from thermorbm.runner.store import Reduced
from thermorbm.study.lattices import scaling
from thermorbm.study.plan import plan_study
from thermorbm.study.result_curves import Scaling
from thermorbm.study.results import Results, StudyInfo, TaskCounts, Timings
from thermorbm.study.reweighted import sample_arrays
from thermorbm.study.spec import Control
from thermorbm.study.toml import find_study, load_study

SIDES = (4, 6, 10)
HEAD = 'name = "s"\n'
FAMILY = '[[family]]\nname = "L{0}"\nshape = [{0}, {0}]\ntemperatures = {1}\nsamples = 9\nheld_out = 2\n'
JOIN = '[[scaling]]\nname = "2d"\nfamilies = ["L4", "L6", "L10"]\nomega = 1.75\n'
TEMPERATURES = {side: [round(TC_2D * (1 + x / side), 4) for x in (-0.5, 0.0, 0.5)] for side in SIDES}
THREE = "".join(FAMILY.format(side, TEMPERATURES[side]) for side in SIDES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (THREE + JOIN.replace('"L4", ', ""), "scaling.2d.families must be three or more names of families"),
        (THREE + JOIN.replace('"L4"', '"L6"'), "scaling.2d.families must be all different"),
        (THREE + JOIN.replace("omega = 1.75", ""), "scaling.2d.omega must be the exponent of corrections"),
        (THREE + JOIN.replace("1.75", "0"), "scaling.2d.omega must be a number > 0"),
        (THREE + JOIN.replace("omega", "omgea"), "did you mean 'omega'?"),
        (THREE + JOIN.replace('"L4"', '"L5"'), "families must be one of L4, L6, L10, got 'L5'"),
        (THREE + JOIN + JOIN, "scaling names must be all different"),
        (THREE.replace("[6, 6]", "[6, 7]") + JOIN, "families must be cubic lattices of the Ising model"),
        (THREE.replace("[6, 6]", "[6, 6, 6]") + JOIN, "families must be lattices of one dimension"),
        (THREE.replace("[6, 6]", "[4, 4]") + JOIN, "sides must be all different"),
        (THREE + 'parts = ["critical"]\n' + JOIN, "with the part 'thermal'"),
        (THREE.replace(str(TEMPERATURES[6]), "[2.2]") + JOIN, "at two or more temperatures"),
    ],
)
def test_mistakes(write_study, text, message):
    with pytest.raises(FileError) as caught:
        load_study(write_study(HEAD + text))
    assert message in str(caught.value)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    path = tmp_path_factory.mktemp("scaling") / "s.toml"
    path.write_text(HEAD + THREE + JOIN)
    tasks = plan_study(load_study(path)).tasks
    path.write_text(HEAD + THREE)
    assert set(plan_study(load_study(path)).tasks) < set(tasks)  # other tasks keep their names
    (joined,) = (each for each in tasks.values() if each.kind == "scaling")
    measured = [tasks[item] for item in joined.inputs]
    assert {each.kind for each in measured} == {"measure"}
    assert len(measured) == 9
    return joined, measured


def results_of(measured, n_samples):
    for k, each in enumerate(measured):
        side = int(each.labels["family"].removeprefix("L"))
        data = tr.sample((side, side), each.labels["value"], n_samples, seed=k, threads=1)
        yield Reduced(each, {}, sample_arrays(data), {}, {})


@pytest.fixture(scope="module")
def product(task):
    joined, measured = task
    return scaling(joined, list(results_of(measured, 4000)))


def as_run(path, product):
    """With the curves of all families, whose own peaks are left out."""
    item = from_plain(
        Scaling, {"name": "2d", "file": "reduced/scaling/x.h5", **product.values, "families": []}
    )
    study, timings = StudyInfo("s", "", 1, "fp32", Control()), Timings("", "", 0.0, {})
    results = Results(study, {}, (), (), TaskCounts(0, 0), timings, scalings=(item,))
    return Run(path, results, {"reduced/scaling/x.h5": product.arrays})


def test_three_small_lattices_tell_tc_and_exponents(product, tmp_path):
    (item,) = as_run(tmp_path, product).results.scalings
    assert item.problem is None
    assert item.sides == SIDES
    known = item.known
    for name in ("temperature", "nu", "binder", "gamma_over_nu"):
        measured = getattr(item.fit, name)
        assert 0 < measured.error < 0.2 * getattr(known, name)
    # Of sides this small the corrections are not those of the fit: T_c within 2 %, nu within 10 %.
    assert item.fit.temperature.value == pytest.approx(TC_2D, rel=0.02)
    assert item.fit.nu.value == pytest.approx(1, rel=0.1)
    assert [crossing.sides for crossing in item.crossings] == [(4, 6), (6, 10)]


def test_the_curves_of_the_arrays_are_those_of_the_samples(product):
    for side in SIDES:
        t, order = product.arrays[f"L{side}.temperature"], product.arrays[f"L{side}.order"]
        assert t[[0, -1]].tolist() == [TEMPERATURES[side][0], TEMPERATURES[side][-1]]
        square = product.arrays[f"L{side}.square"]
        assert (square >= side**2 * order**2).all()
        assert (np.diff(order) < 0).all()
        assert (product.arrays[f"L{side}.square.errors"] > 0).all()


def test_the_same_samples_give_the_same_bits(task, product):
    joined, measured = task
    again = scaling(joined, list(results_of(measured, 4000)))
    assert again.values == product.values


def test_figures_and_table(product, tmp_path):
    run = as_run(tmp_path, product)
    with our_style():
        drawn = [result for figure in section.SECTION.figures for result in figure.attempts(run)]
    charts = [chart for result in drawn for chart in result]
    assert [chart.id for chart in charts] == ["binder-2d", "sides-2d", "collapse-2d"]
    assert [len(chart.panels) for chart in charts] == [2, 2, 3]
    (table,) = section.scaling_tables(run)
    assert len(table.rows) == len(section.ROWS) + 2
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_curves_that_do_not_cross_say_why_there_is_no_fit(task, tmp_path):
    joined, measured = task
    whole = {"samples.magnetization": np.ones(200, dtype=np.int16)}  # ordered, whatever the energies
    ordered = [replace(each, arrays={**each.arrays, **whole}) for each in results_of(measured, 200)]
    product = scaling(joined, ordered)
    assert "fit" not in product.values
    run = as_run(tmp_path, product)
    assert section.scaling_tables(run) == []
    with pytest.raises(Missing, match=run.results.scalings[0].problem[:20]):
        section.draw_binder(run)


def test_a_study_without_scaling_leaves_the_section_out(tmp_path):
    study, timings = StudyInfo("s", "", 1, "fp32", Control()), Timings("", "", 0.0, {})
    run = Run(tmp_path, Results(study, {}, (), (), TaskCounts(0, 0), timings))
    results = [result for figure in section.SECTION.figures for result in figure.attempts(run)]
    assert all(isinstance(result, Gap) and not result.is_failure for result in results)
    assert section.scaling_tables(run) == []


def test_the_built_in_study():
    study = load_study(find_study("scaling"))
    sides = {item.name: [int(name.split("L")[1]) for name in item.families] for item in study.scalings}
    assert sides == {"2d": [8, 16, 32, 64, 128], "3d": [6, 8, 10, 12, 16, 20]}
    assert not any(family.variants for family in study.families)
