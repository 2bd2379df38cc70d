"""What is shown while a study runs or a machine trains: live on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from thermorbm.cli.console import PLAIN_STEPS, say, visible

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from thermorbm.reading.analysis import Step
    from thermorbm.runner.progress import Listener, Snapshot

SECONDS_BETWEEN_LINES = 10.0
TRAINING_SECONDS_BETWEEN_LINES = 60.0

StepCallback = Callable[["Step"], None]


@contextmanager
def display() -> Iterator[Listener]:
    """What shows how far a run is: a listener for the runner."""
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
        self._live.console.print(visible(" ".join(text.split())), markup=False, highlight=False)

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
            share = f"{100 * task.fraction:.0f} %" if task.fraction else ""
            table.add_row(Text("at"), Text(task.name), f"{task.seconds:.0f} s {share}")
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


@contextmanager
def training_progress() -> Iterator[StepCallback]:
    """A callback that shows epoch, L~ per spin, cross entropy and the time that is left."""
    if not sys.stderr.isatty():
        yield plain_training_progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[scores]}")
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        tasks: list[Any] = []

        def report(step: Step) -> None:
            if not tasks:
                tasks.append(bars.add_task("", total=step.n_updates, scores=""))
            bars.update(
                tasks[0], completed=step.update, description=epochs_done(step), scores=scores_of(step)
            )

        yield report


def plain_training_progress() -> StepCallback:
    """Writes a line every tenth of the training, and at least every minute."""
    first: list[tuple[float, int]] = []
    shown = [0, time.monotonic()]

    def report(step: Step) -> None:
        now = time.monotonic()
        if not first:
            first.append((now, step.update))
        tenth = PLAIN_STEPS * step.update // step.n_updates
        if tenth == shown[0] and now - shown[1] < TRAINING_SECONDS_BETWEEN_LINES:
            return
        shown[:] = tenth, now
        say(f"{epochs_done(step)}: {scores_of(step)}, {_left(step, now - first[0][0], first[0][1])}")

    return report


def epochs_done(step: Step) -> str:
    total = step.epoch * step.n_updates / step.update
    return f"epoch {step.epoch:.1f}/{total:g}"


def scores_of(step: Step) -> str:
    if math.isnan(step.cross_entropy):
        return "not scored yet"
    return f"L~/N {step.pseudo_likelihood_per_unit:.5f}, CE {step.cross_entropy:.5f}"


def _left(step: Step, seconds: float, since: int) -> str:
    """The time left, from the pace since the first report: a resumed run did not begin at 0."""
    if step.update == step.n_updates:
        return "done"
    if step.update == since:
        return "time left unknown"
    return f"{seconds * (step.n_updates - step.update) / (step.update - since):.0f} s left"
