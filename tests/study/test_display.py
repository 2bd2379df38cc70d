"""What is shown while a study runs: one line of sense, and a time left that does not wander."""

from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from rich.live import Live

from thermorbm.cli import console as module
from thermorbm.cli.console import PlainDisplay
from thermorbm.runner import progress
from thermorbm.runner.progress import Clock, Running, Snapshot
from thermorbm.runner.task import Cost
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
        (3600.0, "about 60 min left"),
        (9000.0, "about 2.5 h left"),
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


class Task:
    def __init__(self, kind):
        self.kind = kind


def shown_times(monkeypatch, durations, n_workers=2):
    """Simulates workers that do the tasks in order; gives now and the time left at every second.

    durations: kind -> (number, estimated seconds, true seconds of one).
    """
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    rng = np.random.default_rng(1)
    tasks, costs, true = {}, {}, {}
    for kind, (number, estimated, seconds) in durations.items():
        for i in range(number):
            name = f"{kind}/{i}"
            tasks[name], costs[name] = Task(kind), Cost(estimated, 0)
            true[name] = seconds * rng.lognormal(0, 0.3)
    clock, states = Clock(costs, tasks), dict.fromkeys(tasks, "pending")
    ends, shown = {}, []
    while "pending" in states.values() or ends:
        for name in [name for name, end in ends.items() if end <= now[0]]:
            del ends[name]
            clock.stop(name, true[name])
            states[name] = "done"
        for name in [name for name, state in states.items() if state == "pending"][: n_workers - len(ends)]:
            states[name], ends[name] = "running", now[0] + true[name]
            clock.start(name)
        for name, end in ends.items():
            clock.fractions[name] = 1 - (end - now[0]) / true[name]
        left = clock.eta(states, n_workers)
        if left is not None:
            shown.append((now[0], left))
        now[0] += 1.0
    return np.array(shown), now[0]


@pytest.mark.parametrize("wrong", [1.0, 3.0, 0.4])
def test_the_time_left_does_not_wander(monkeypatch, wrong):
    """Costs are off by a common factor and by one for every kind; short tasks with an overhead go first.

    A time left by the ratios alone rises by 0.3 to 0.6 of the run, and its end goes to and fro by 7 to 10.
    """
    durations = {
        "sample": (20, 0.2, 1.5 * wrong),
        "train": (40, 10.0, 8.0 * wrong),
        "weights": (40, 0.5, 0.8 * wrong),
        "partition": (40, 4.0, 6.0 * wrong),
    }
    shown, end = shown_times(monkeypatch, durations)
    now, left = shown.T
    assert np.abs(np.diff(now + left)).sum() < 1.5 * end
    later = left[now > 0.1 * end]
    assert (left - np.minimum.accumulate(left)).max() < 0.25 * end
    assert (later - np.minimum.accumulate(later)).max() < 0.05 * end
    off = np.maximum(left, 10.0) / np.maximum(end - now, 10.0)
    assert np.abs(np.log(off)).max() < np.log(3.0)
