"""What is shown while a study runs: one line of sense. The time left: `tests/runner/test_clock.py`."""

from io import StringIO

import pytest
from rich.console import Console
from rich.live import Live

from thermorbm.cli import console as module
from thermorbm.cli.console import PlainDisplay
from thermorbm.runner.progress import Running, Snapshot
from thermorbm.shown import LiveLine
from thermorbm.study.steps import STEPS
from thermorbm.study.watch import WORDS, LiveListener, line_of, time_left


def snapshot(n_trained=1, eta=75.0, failed=0, running=("train/2d-T2",)):
    counts = {"done": n_trained + 2, "running": 1, "pending": 2, "failed": failed, "skipped": 0}
    tasks = tuple(Running(name, 12.0, 0.25) for name in running)
    return Snapshot(counts, {"sample": (2, 2), "train": (n_trained, 4), "weights": (0, 4)}, tasks, eta)


@pytest.mark.parametrize(
    ("eta", "words"),
    [
        (None, "time left not known yet"),
        (3.0, "a few seconds left"),
        (42.4, "about 40 s left"),
        (95.0, "about 2 min left"),
        (14.6 * 60, "about 15 min left"),
        (47 * 60, "about 45 min left"),
        (3600.0, "about 60 min left"),
        (128 * 60, "about 130 min left"),
        (9300.0, "about 2.5 h left"),
        (10.9 * 3600, "about 11 h left"),
    ],
)
def test_the_time_left_in_words(eta, words):
    assert time_left(eta) == words


def test_one_line_says_what_is_done_what_goes_on_and_how_long():
    assert line_of(snapshot()) == "3 of 6 tasks done; about 80 s left; training machines (1 of 4)"
    both = snapshot(failed=1, running=("weights/2d-T2", "train/2d-T3"))
    assert line_of(both) == (
        "3 of 7 tasks done; 1 failed; about 80 s left; training machines (1 of 4), reading weights (0 of 4)"
    )


def test_every_step_has_words():
    assert STEPS.keys() <= WORDS.keys()


def test_plain_lines_come_when_something_else_goes_on(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    display = PlainDisplay()
    for seconds, running in (
        (0, "train/a"),
        (5, "train/b"),
        (1, "weights/a"),
        (20, "weights/b"),
        (50, "weights/c"),
    ):
        now[0] += seconds
        display.update(snapshot(running=(running,)))
    now[0] += 20
    display.update(snapshot(running=("weights/d",)))
    display.note("something\nhappened")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("; ")[-1] for line in lines[:-1]] == [
        "training machines (1 of 4)",
        "reading weights (0 of 4)",  # 26 s later: nothing is said in the first ten seconds
        "reading weights (0 of 4)",  # after a minute without news
    ]
    assert lines[-1] == "something happened"


def test_the_live_display_is_one_line():
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        display = LiveListener(LiveLine(live))
        display.note("a [bold]name[/bold] in brackets")
        display.update(snapshot(failed=1))
        out.truncate(0)
        live.refresh()
        drawn = out.getvalue()
    assert drawn.count("\n") == 0
    assert "4 of 7" not in drawn
    assert "3 of 7 tasks done; 1 failed; about 80 s left; training machines" in drawn
