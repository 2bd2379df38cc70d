"""Studies from Python: run, read back, tables and figures."""

import copy
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import thermorbm as tr
from study_fixtures import TWO as STUDY
from thermorbm.errors import FileError, InputError, ThermorbmError
from thermorbm.runner.lock import locked
from thermorbm.runner.rundir import open_run, prepare
from thermorbm.storage import read_json

PAPER = Path(__file__).parents[1] / "results" / "paper"


@pytest.fixture(scope="module")
def run():
    return tr.load_run(PAPER)


def test_tables_hold_what_results_json_has(run):
    frame = run.to_dataframe("machines")
    machines = [machine for family in run.results.families for machine in family.machines]
    assert len(frame) == len(machines) > 100
    np.testing.assert_array_equal(frame["n_hidden"], [machine.n_hidden for machine in machines])
    stored = read_json(PAPER / "results.json")["families"][0]["machines"][0]["verdict"]["drift"]
    assert frame["verdict.drift"][0] == stored
    with pytest.raises(InputError, match="did you mean 'machines'"):
        run.to_dataframe("machine")


@pytest.mark.parametrize("content", [b'\xff\xfe\0"a,b\n1', b"", b'a,b\n1,2\n"3,4,5,6', b"a\n1,2\n1,2,3\n1\n"])
def test_tables_that_are_damaged(content, run, tmp_path):
    received = copy.copy(run)
    received.path = tmp_path
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "machines.csv").write_bytes(content)
    with pytest.raises(FileError, match=r"machines.csv: is not a table: .*; try: thermorbm report"):
        received.to_dataframe("machines")


def test_a_directory_in_the_place_of_a_table(run, tmp_path):
    received = copy.copy(run)
    received.path = tmp_path
    (tmp_path / "tables" / "machines.csv").mkdir(parents=True)
    with pytest.raises(FileError, match=r"machines.csv: cannot be read: Is a directory"):
        received.to_dataframe("machines")


def test_tables_as_xarray(run):
    labelled = run.to_xarray("critical_temperatures")
    assert dict(labelled.sizes) == {"row": len(run.to_dataframe("critical_temperatures"))}
    assert labelled.attrs["study"] == "paper"


def test_without_pandas_the_remedy_is_said(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ThermorbmError, match=r"pip install 'thermorbm\[tables\]'"):
        run.to_dataframe("machines")


def test_figures_by_name(run):
    for name in ("fig-8-2d", "fig-8", "critical-2d"):
        figure = run.figure(name)
        assert isinstance(figure, Figure)
        assert figure.axes
    with pytest.raises(InputError, match=r"figure must be one of .*fig-8, "):
        run.figure("fig-99")


def test_a_figure_has_a_name(run):
    with pytest.raises(InputError, match="figure must be one of"):
        run.figure(None)


def test_a_run_shows_itself(run):
    assert repr(run).startswith("StudyRun(paper, ")
    assert "machines" in run._repr_html_()


def test_what_is_not_a_finished_run(tmp_path):
    with pytest.raises(FileError, match="is not a run directory"):
        tr.load_run(tmp_path)
    directory = open_run(tmp_path / "x", "mine")
    prepare(directory, "", [])
    with pytest.raises(FileError, match="was stopped: 0 of 0 tasks are done; run it again"):
        tr.load_run(tmp_path / "x")
    with locked(directory.lock), pytest.raises(FileError, match="is under way: 0 of 0 tasks are done; wait"):
        tr.load_run(tmp_path / "x")


def test_a_study_runs_from_python(tmp_path):
    (tmp_path / "two.toml").write_text(STUDY)
    run = tr.run(tmp_path / "two.toml", out=tmp_path / "run", workers=1, progress=False)
    assert run.results.tasks.done == run.results.tasks.total
    assert len(run.to_dataframe("machines")) == 2
    assert tr.load_run(tmp_path / "run").results == run.results
    with pytest.raises(InputError, match="study must be one of"):
        tr.run("dsk", out=tmp_path / "run")
