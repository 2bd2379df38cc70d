"""What a user must know before relying on results: machines that diverged, several versions of programs."""

import json
import shutil
from dataclasses import replace

import pytest

from thermorbm.cli.study import _warn
from thermorbm.report.run import read_run
from thermorbm.report.sections.summary import write_warnings
from thermorbm.runner.rundir import RunDirectory, read_plan
from thermorbm.runner.store import read_reduced, write_reduced
from thermorbm.study.collect import collect
from thermorbm.study.results import read_results
from thermorbm.study.toml import load_study


@pytest.fixture
def directory(finished, tmp_path):
    shutil.copytree(finished.directory.path, tmp_path / "run")
    return RunDirectory(tmp_path / "run")


def collected(directory):
    return collect(load_study(directory.path / "study.toml"), read_plan(directory), directory)


def test_a_machine_that_diverged_is_told_first(directory, capsys):
    path = next((directory.path / "reduced" / "train").glob("*.h5"))
    before = read_reduced(path)
    values = {**before.values, "verdict": {**before.values["verdict"], "status": "diverged"}}
    write_reduced(path, replace(before, values=values))
    results = collected(directory)
    assert _warn(results) == 3
    assert "WARNING: training diverged: 2d " in capsys.readouterr().err
    assert "The training of 1 machines diverged" in write_warnings(read_run(directory.path))[0]


def test_versions_of_all_results_are_told(directory, capsys):
    path = next((directory.path / "reduced" / "train").glob("*.h5"))
    write_reduced(path, replace(read_reduced(path), versions={"torch": "1.0"}))
    results = collected(directory)
    assert results.versions["torch"].startswith("1.0, ")
    assert _warn(results) == 0
    assert "several versions made these results: torch 1.0, " in capsys.readouterr().err


def test_results_that_do_not_say_who_made_them_keep_what_was_known(directory, change_versions):
    for path in (directory.path / "reduced").rglob("*.h5"):
        write_reduced(path, replace(read_reduced(path), versions={}))
    change_versions(directory.results, "0.9")
    assert collected(directory).versions["torch"] == "0.9"
    assert read_results(directory.results).versions["torch"] == "0.9"


@pytest.fixture
def change_versions():
    def change(path, text):
        content = json.loads(path.read_text())
        content["versions"]["torch"] = text
        path.write_text(json.dumps(content))

    return change
