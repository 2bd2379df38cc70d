"""What is shown while a study runs: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from thermorbm.cli.console import say

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from thermorbm.runner.progress import Listener, Snapshot

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def display() -> Iterator[Listener]:
    """Who the runner tells how far it is."""
    if not sys.stderr.isatty():
        yield PlainDisplay()
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
        yield LiveDisplay(live)


class PlainDisplay:
    """A line when a stage is complete, and one every ten seconds."""

    def __init__(self) -> None:
        self._last, self._complete = time.monotonic(), set[str]()

    def note(self, text: str) -> None:
        say(text)

    def update(self, snapshot: Snapshot) -> None:
        complete = {kind for kind, (done, total) in snapshot.stages.items() if done == total}
        if complete - self._complete or time.monotonic() - self._last > SECONDS_BETWEEN_LINES:
            self._last, self._complete = time.monotonic(), self._complete | complete
            stages = ", ".join(f"{kind} {done}/{total}" for kind, (done, total) in snapshot.stages.items())
            say(f"{stages}; {left(snapshot)}")


class LiveDisplay:
    """One bar per stage and a line per task under way, drawn in place; notes scroll by above."""

    def __init__(self, live: Live) -> None:
        self._live, self._began = live, time.monotonic()

    def note(self, text: str) -> None:
        self._live.console.print(" ".join(text.split()), markup=False, highlight=False)

    def update(self, snapshot: Snapshot) -> None:
        self._live.update(self._drawn(snapshot))

    def _drawn(self, snapshot: Snapshot) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for kind, (done, total) in snapshot.stages.items():
            table.add_row(kind, ProgressBar(total, done, width=30), f"{done}/{total}")
        for task in snapshot.running:
            told = f"{100 * task.fraction:.0f} %" if task.fraction else ""
            table.add_row(Text("at"), Text(task.name), f"{task.seconds:.0f} s {told}")
        failed = snapshot.counts["failed"]
        trouble = f", {failed} failed" if failed else ""
        table.add_row("", f"{time.monotonic() - self._began:.0f} s so far, {left(snapshot)}{trouble}", "")
        return table


def left(snapshot: Snapshot) -> str:
    """The time that is left, in words."""
    if snapshot.eta is None:
        return "time left not known yet"
    minutes, seconds = divmod(round(snapshot.eta), 60)
    return f"about {minutes} min {seconds:02d} s left" if minutes else f"about {seconds} s left"
