"""`thermorbm report`."""

import shutil

from thermorbm.cli import run


def test_makes_the_report_again(copied_run, quick_figures, capsys):
    (copied_run / "results.json").unlink()  # as in a directory whose run was killed
    assert run(["report", str(copied_run), "--workers", "1"]) == 0
    assert capsys.readouterr().out.strip() == str(copied_run / "report.html")
    assert (copied_run / "report.html").stat().st_size > 100_000
    assert (copied_run / "results.json").exists()


def test_of_a_run_that_is_not_finished(copied_run, quick_figures, capsys):
    shutil.rmtree(copied_run / "reduced" / "estimate")
    shutil.rmtree(copied_run / "reduced" / "observe")
    assert run(["report", str(copied_run), "--workers", "1"]) == 0
    page = (copied_run / "report.html").read_text(encoding="utf-8")
    assert "tasks are not done yet" in page
    assert "the report failed" not in page


def test_of_results_alone(copied_run, quick_figures):
    for name in ("plan.json", "study.toml"):
        (copied_run / name).unlink()
    shutil.rmtree(copied_run / "reduced")
    assert run(["report", str(copied_run), "--workers", "1"]) == 0


def test_something_else_is_refused(tmp_path, capsys):
    assert run(["report", str(tmp_path)]) == 2
    assert "is not a run directory" in capsys.readouterr().err
    assert run(["report", str(tmp_path / "absent")]) == 2


def test_no_workers(copied_run, capsys):
    assert run(["report", str(copied_run), "--workers", "0"]) == 2
    assert "workers must be a whole number >= 1, got 0" in capsys.readouterr().err


def test_run_ends_with_the_report(finished_run, copied_run, quick_figures, capsys):
    study = finished_run.parent / "study.toml"
    assert run(["run", str(study), "--out", str(copied_run), "--workers", "1"]) == 0
    out = capsys.readouterr().out
    assert "critical temperature;" in out
    assert out.splitlines()[-1] == f"report: {copied_run / 'report.html'}"
