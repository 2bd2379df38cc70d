"""What is shown while a study runs."""

from io import StringIO

import pytest
from rich.console import Console
from rich.live import Live

from thermorbm.cli.display import LiveDisplay, PlainDisplay, left
from thermorbm.runner.progress import Running, Snapshot


def snapshot(n_trained=1, eta=75.0, failed=0):
    counts = {"done": n_trained, "running": 1, "pending": 2, "failed": failed, "skipped": 0}
    running = (Running("train/2d-T2", 12.0, 0.25),)
    return Snapshot(counts, {"sample": (2, 2), "train": (n_trained, 4)}, running, eta)


@pytest.mark.parametrize(
    ("eta", "words"),
    [(None, "time left not known yet"), (12.4, "about 12 s left"), (75.0, "about 1 min 15 s left")],
)
def test_the_time_left_in_words(eta, words):
    assert left(snapshot(eta=eta)) == words


def test_plain_lines_come_when_a_stage_is_complete(capsys):
    display = PlainDisplay()
    for n_trained in (1, 2, 3, 4):
        display.update(snapshot(n_trained))
    display.note("something\nhappened")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "sample 2/2, train 1/4; about 1 min 15 s left",
        "sample 2/2, train 4/4; about 1 min 15 s left",
        "something happened",
    ]


def test_the_live_display_shows_stages_tasks_and_trouble():
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        display = LiveDisplay(live)
        display.note("a [bold]name[/bold] in brackets")
        display.update(snapshot(failed=1))
        live.refresh()
    text = out.getvalue()
    assert "a [bold]name[/bold] in brackets" in text
    for words in ("sample", "2/2", "train/2d-T2", "12 s 25 %", "about 1 min 15 s left, 1 failed"):
        assert words in text
