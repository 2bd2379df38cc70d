"""The C locale without UTF-8 mode, as in cron jobs and bare containers."""

import os
import subprocess
import sys

import pytest

PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
STUDY = 'name = "small"\ntitle = "Müller – ± 2"\n[[family]]\nname = "2d"\nshape = [4, 4]\n'


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "thermorbm", *map(str, arguments)],
        env={**os.environ, **PLAIN},
        capture_output=True,
    )


def test_a_study_with_letters_beyond_ascii_is_kept(tmp_path):
    """Up to its first task: what is written before that is the study, the plan and the results."""
    study = tmp_path / "small.toml"
    text = STUDY + 'temperatures = [2.0]\nsamples = 64\nheld_out = 16\nparts = ["thermal"]\n'
    study.write_text(text, encoding="utf-8")
    done = command("run", study, "--out", tmp_path / "run", "--workers", "1", "--no-report")
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    assert (tmp_path / "run" / "study.toml").read_text(encoding="utf-8") == text
    assert command("status", tmp_path / "run").returncode == 0


@pytest.mark.parametrize("name", ["männchen.h5", "\udcff.h5"])
def test_names_of_files_are_shown_somehow(name):
    done = command("info", name)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


def test_what_a_terminal_cannot_show_is_replaced(tmp_path):
    text = STUDY + 'temperatures = [2.0]\nsamples = 64\nheld_out = 16\nparts = ["thermal"]\n'
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    done = command("info", tmp_path / "small.toml")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"M?ller" in done.stdout
