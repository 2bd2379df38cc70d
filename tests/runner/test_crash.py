"""Runners and workers that are stopped at any moment: nothing is lost, and the result is the same."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from thermorbm.runner.lock import locked
from thermorbm.runner.rundir import open_run
from thermorbm.study.toml import find_study

# So many temperatures that a signal comes before the end; no machines, so that it begins at once.
LONG = """
name = "long"
[[family]]
name = "2d"
shape = [16, 16]
temperatures = {from = 2.0, to = 2.5, count = 500}
samples = 2000
parts = ["thermal"]
"""
COMMAND = [sys.executable, "-m", "thermorbm", "run", "--no-report"]


def start(study, out, *options):
    return subprocess.Popen(
        [*COMMAND, str(study), "--out", str(out), "--workers", "2", *options],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # ignored where nohup runs the tests
    )


def worker_pids(out):
    """Worker processes of that run directory, by their command lines."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode().split("\0")
        except OSError:
            continue
        if "thermorbm.runner.worker" in words and str(out) in words:
            found.append(int(entry.parent.name))
    return found


def wait_until(condition, seconds=300.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def finish(study, out):
    """Runs to the end and gives what was said."""
    with start(study, out) as runner:
        said = runner.communicate(timeout=300)[1]
    assert runner.returncode == 0, said
    return said


def kill_some_times(study, out, times):
    """Kills the runner after each of these times, in seconds; workers must go with it."""
    for seconds in times:
        with start(study, out) as runner:
            try:
                runner.wait(seconds)
            except subprocess.TimeoutExpired:
                runner.kill()
            runner.communicate()
        wait_until(lambda: not worker_pids(out), 10)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_a_killed_runner_continues_and_ends_with_the_same_results(finished, small_file, tmp_path, results):
    kill_some_times(small_file, tmp_path / "run", [random.Random(1).uniform(3, 7)])
    finish(small_file, tmp_path / "run")
    assert results(tmp_path / "run") == results(finished.directory.path)
    assert not list((tmp_path / "run").rglob(".*.tmp"))


@pytest.mark.slow
def test_tiny_survives_many_kills(tmp_path, results):
    study = find_study("tiny")
    finish(study, tmp_path / "whole")
    draw = random.Random(2)
    kill_some_times(study, tmp_path / "broken", [draw.uniform(0.5, 10) for _ in range(20)])
    finish(study, tmp_path / "broken")
    assert results(tmp_path / "broken") == results(tmp_path / "whole")


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended on request"),
        (signal.SIGHUP, 143, "ended on request"),
    ],
)
def test_a_signal_ends_the_run_in_good_order(tmp_path, number, code, words):
    study, out = tmp_path / "long.toml", tmp_path / "run"
    study.write_text(LONG)
    with start(study, out) as runner:
        wait_until(lambda: list(out.glob("reduced/*/*.h5")) or runner.poll() is not None)
        runner.send_signal(number)
        said = runner.communicate(timeout=300)[1]
    assert runner.returncode == code
    assert f"{words}; to continue: thermorbm run {study} --out {out}\n" in said
    assert "Traceback" not in said
    wait_until(lambda: not worker_pids(out), 10)
    assert not list(out.rglob(".*.tmp"))
    assert (out / "lock").read_text() == ""


# One machine that takes minutes.
TRAINING = """
name = "training"
precision = "fp32"
[[family]]
name = "2d"
shape = [4, 4]
temperatures = [2.0]
samples = 400
hidden = [4]
parts = ["weights"]
changes = {batch_size = 4, epochs = 10000, least_updates = 0}
"""


def test_when_wall_time_is_near_a_training_writes_a_checkpoint(tmp_path):
    study, out = tmp_path / "training.toml", tmp_path / "run"
    study.write_text(TRAINING)

    def is_training():
        return (out / "state.json").exists() and any(
            task["fraction"] > 0 for task in json.loads((out / "state.json").read_text())["running"]
        )

    with start(study, out) as runner:
        wait_until(lambda: is_training() or runner.poll() is not None)
        before = {path.name: path.read_bytes() for path in out.glob("cache/checkpoints/*.h5")}
        runner.send_signal(signal.SIGUSR1)
        said = runner.communicate(timeout=300)[1]
    assert runner.returncode == 143, said
    (checkpoint,) = out.glob("cache/checkpoints/*.h5")
    assert before.get(checkpoint.name) != checkpoint.read_bytes()
    assert "going on from the checkpoint the next time" in next(out.glob("logs/train/*.log")).read_text()


@pytest.mark.slow
def test_a_killed_worker_does_not_stop_the_study(finished, small_file, tmp_path, results):
    out = tmp_path / "run"
    with start(small_file, out) as runner:
        wait_until(lambda: list(out.glob("logs/train/*.log")))
        os.kill(worker_pids(out)[0], signal.SIGKILL)
        said = runner.communicate(timeout=300)[1]
    assert runner.returncode == 0
    assert results(out) == results(finished.directory.path)
    assert "was ended by signal SIGKILL" in said


def test_a_second_runner_is_refused(small_file, tmp_path):
    out = open_run(tmp_path / "run", "small")
    with locked(out.lock), start(small_file, out.path) as second:
        said = second.communicate(timeout=300)[1]
    assert second.returncode == 2
    assert f"error: {out.path}: is in use by another runner, pid {os.getpid()} on " in said
    assert len(said.splitlines()) == 1
