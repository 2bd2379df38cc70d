"""`thermorbm bench`: a table, or JSON alone on stdout."""

import json
import time

import pytest

import thermorbm.trials
from thermorbm.cli import run
from thermorbm.sampling.blocks import MetropolisBlock
from thermorbm.trials import CASES, HIDDEN_SIZES, SamplingSpeed, TrainingSpeed, sampling_speed, training_speed


@pytest.fixture
def quick(monkeypatch):
    """Speeds from two sweeps instead of hundreds."""
    monkeypatch.setattr(
        thermorbm.trials, "sampling_speed", lambda shape, t: sampling_speed(shape, t, n_sweeps=2, repeats=1)
    )


@pytest.mark.usefixtures("quick")
def test_sampling_speeds_as_json(capsys):
    assert run(["bench", "sampling", "--json"]) == 0
    out, err = capsys.readouterr()
    cases = json.loads(out)["cases"]
    assert err == ""
    assert [(tuple(case["shape"]), case["temperature"]) for case in cases] == list(CASES)
    assert all(case["updates_per_ns"] > 0 for case in cases)


def test_sampling_speeds_as_a_table(capsys, monkeypatch):
    monkeypatch.setattr(thermorbm.trials, "sampling_speed", lambda shape, t: SamplingSpeed(shape, t, 12.3456))
    assert run(["bench", "sampling"]) == 0
    out = capsys.readouterr().out
    for words in ("64x64", "16x16x16", "2.269", "4.511", "12.35", "updates/ns per core"):
        assert words in out


def test_training_speeds_as_json_and_as_a_table(capsys, monkeypatch):
    monkeypatch.setattr(thermorbm.trials, "training_speed", lambda n: TrainingSpeed(n, 15.0, 12.0))
    assert run(["bench", "training", "--json"]) == 0
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert [case["n_hidden"] for case in cases] == list(HIDDEN_SIZES)
    assert run(["bench", "training"]) == 0
    out = capsys.readouterr().out
    for words in ("400", "2500", "15.0", "12.0", "1.25"):
        assert words in out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["bench"], "Missing command"),
        (["bench", "samplings"], "No such command 'samplings'"),
        (["bench", "sampling", "--jsn"], "No such option: --jsn"),
    ],
)
def test_bad_benchmarks_are_one_line(capsys, arguments, named):
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert named in err


def test_speed_counts_updates_per_nanosecond():
    speed = sampling_speed((4, 4), 2.0, n_sweeps=3, repeats=2)
    assert speed.shape == (4, 4)
    assert 0 < speed.updates_per_ns < 1000


def test_training_speed_times_an_epoch_and_its_products():
    speed = training_speed(8, seconds=0.05)
    assert speed.n_hidden == 8
    assert speed.seconds_per_epoch > speed.seconds_of_products > 0


def test_a_busy_computer_does_not_slow_down_the_kernel(monkeypatch):
    """Waiting while something else runs is not counted."""
    advance, pause = MetropolisBlock.advance, 0.05

    def interrupted(block, n_sweeps):
        advance(block, n_sweeps)
        time.sleep(pause)

    monkeypatch.setattr(MetropolisBlock, "advance", interrupted)
    speed = sampling_speed((4, 4), 2.0, n_sweeps=1, repeats=3)
    assert speed.updates_per_ns > 16 * MetropolisBlock.n_chains / pause * 1e-9
