"""The commands run and status: exit codes, one-line errors, JSON alone on stdout."""

import json
import shutil
from pathlib import Path

import pytest

from thermorbm.cli import run as command


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(capsys, *arguments):
    assert command([*arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    return err


def test_bad_commands(capsys, small_file, tmp_path):
    assert "study must be one of desk, frustrated, paper" in refused(capsys, "run", "dask")
    assert "did you mean 'desk'?" in refused(capsys, "run", "dask")
    assert "absent.toml: does not exist; to write a commented study there" in refused(
        capsys, "run", "absent.toml"
    )
    assert "this is a directory" in refused(capsys, "run", str(tmp_path))
    assert "Missing argument 'STUDY'" in refused(capsys, "run")
    small = str(small_file)
    assert "workers must be a whole number >= 1, got 0" in refused(capsys, "run", small, "--workers", "0")
    assert "'two' is not a whole number" in refused(capsys, "run", small, "--workers", "two")
    assert "cannot be written: Not a directory" in refused(capsys, "run", small, "--out", f"{small}/run")
    assert "is not a run directory" in refused(capsys, "status", ".")
    (tmp_path / "bad.toml").write_text('name = "x"\nsede = 1\n')
    assert "bad.toml: key must be one of" in refused(capsys, "run", "bad.toml")
    (tmp_path / "bad.toml").write_text(small_file.read_text().replace("epochs", "epoch"))
    assert "bad.toml: family.2d.variant.main must be trained by" in refused(
        capsys, "run", "bad.toml", "--out", "x"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.toml", "small.toml"]


def test_another_studys_directory_is_refused(capsys, finished, small_file):
    shutil.copytree(finished.directory.path, "run")
    small_file.write_text(small_file.read_text().replace('"small"', '"other"'))
    assert "holds the study 'small', not 'other'" in refused(capsys, "run", str(small_file), "--out", "run")


def test_a_finished_study_ends_at_once_with_success(capsys, finished, small_file):
    shutil.copytree(finished.directory.path, "runs/small")
    assert command(["run", str(small_file), "--no-report"]) == 0
    err = capsys.readouterr().err
    assert "nothing to do: all 26 tasks were done before; results in runs/small" in err


def test_a_report_that_is_up_to_date_is_not_drawn_again(capsys, finished, small_file, monkeypatch):
    from thermorbm.cli import study as module

    shutil.copytree(finished.directory.path, "runs/small")
    (Path("runs/small") / "figures").mkdir(exist_ok=True)
    Path("runs/small/report.html").write_text("drawn before")
    monkeypatch.setattr(module, "make_report", lambda path, workers: path / "drawn again")
    assert command(["run", str(small_file)]) == 0
    out, err = capsys.readouterr()
    assert "the report is up to date; to draw it again: thermorbm report runs/small" in err
    assert out.splitlines()[-1] == "report: runs/small/report.html"
    results = Path("runs/small/results.json")
    results.write_text(results.read_text().replace('"Small', '"Another'))
    assert command(["run", str(small_file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "report: runs/small/drawn again"


def test_all_critical_temperatures_on_demand(capsys, finished, small_file):
    """The end of a run names the command, and the table has what was sought, found or not."""
    shutil.copytree(finished.directory.path, "runs/small")
    assert command(["run", str(small_file), "--no-report"]) == 0
    assert "indicators give a T_c; all of them: thermorbm critical runs/small" in capsys.readouterr().err
    assert command(["critical", "runs/small"]) == 0
    out = capsys.readouterr().out
    rows = [row for family in finished.results.families for row in family.critical_temperatures]
    sought = [row for row in rows if row.is_shown and row.was_sought]
    assert len([line for line in out.splitlines() if "│ 2d" in line]) == len(sought)
    assert command(["critical", "runs/small", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["critical_temperatures"]) == len(sought)
    assert "is not a run directory" in refused(capsys, "critical", ".")


def test_a_failed_certificate_is_code_3(capsys, finished, small_file, monkeypatch):
    from thermorbm.study.results import Results

    shutil.copytree(finished.directory.path, "runs/small")
    monkeypatch.setattr(Results, "not_certified", ["2d at 2.0"])
    assert command(["run", str(small_file), "--no-report"]) == 3
    assert "certificate did NOT pass: 2d at 2.0" in capsys.readouterr().err


def test_status_in_words_and_as_json(capsys, finished):
    path = str(finished.directory.path)
    assert command(["status", path]) == 0
    out = capsys.readouterr().out
    assert "small: 26 done" in out
    assert command(["status", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["counts"]["done"] == 26
    assert found["eta_seconds"] is None
    assert found["runner"] is None


@pytest.mark.parametrize("width", ["10", "40", "200"])
def test_status_begins_with_one_line_at_any_width(capsys, finished, monkeypatch, width):
    shutil.copytree(finished.directory.path, "run")
    for path in sorted(Path("run/reduced").rglob("*.h5"))[:3]:
        path.unlink()
    monkeypatch.setenv("COLUMNS", width)
    assert command(["status", "run"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "small: 23 done, 3 pending"


def test_status_tells_a_failure(capsys, finished):
    shutil.copytree(finished.directory.path, "run")
    from thermorbm.runner.rundir import RunDirectory, read_plan
    from thermorbm.storage import write_json

    directory = RunDirectory(finished.directory.path.__class__("run"))
    task_id = next(iter(read_plan(directory)))
    directory.reduced(task_id).unlink()
    write_json(directory.failure(task_id), {"error": "too hot"})
    assert command(["status", "run"]) == 1
    out = capsys.readouterr().out
    assert f"failed: {task_id}: too hot" in out
    assert command(["status", "run", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["last_error"] == "too hot"


def test_exit_codes_are_in_the_help(capsys):
    assert command(["run", "--help"]) == 0
    assert "143  ended by SIGTERM" in capsys.readouterr().out
