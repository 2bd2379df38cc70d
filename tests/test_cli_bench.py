"""`thermorbm bench`: a table, or JSON alone on stdout."""

import json

import pytest

import thermorbm.bench
from thermorbm.bench import CASES, SamplingSpeed, sampling_speed
from thermorbm.cli import run


@pytest.fixture
def quick(monkeypatch):
    """Speeds from two sweeps instead of hundreds."""
    monkeypatch.setattr(
        thermorbm.bench, "sampling_speed", lambda shape, t: sampling_speed(shape, t, n_sweeps=2, repeats=1)
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
    monkeypatch.setattr(thermorbm.bench, "sampling_speed", lambda shape, t: SamplingSpeed(shape, t, 12.3456))
    assert run(["bench", "sampling"]) == 0
    out = capsys.readouterr().out
    for words in ("64x64", "16x16x16", "2.269", "4.511", "12.35", "updates/ns per core"):
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
