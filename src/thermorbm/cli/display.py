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

    from thermorbm.reading.analysis import Step
    from thermorbm.runner.progress import Listener, Snapshot

SECONDS_BETWEEN_LINES, SECONDS_WITHOUT_NEWS = 10.0, 60.0
TRAINING_SECONDS_BETWEEN_LINES = 60.0

StepCallback = Callable[["Step"], None]


# What tasks of a kind do, for people who watch; a kind that is not here is called by its name.
WORDS = {
    "sample": "sampling configurations",
    "import": "reading your configurations",
    "measure": "averaging configurations",
    "energies": "sampling energies",
    "train": "training machines",
    "weights": "reading weights",
    "observe": "reading machines",
    "interactions": "reading couplings",
    "partition": "computing ln Z",
    "bracket": "bounding entropies",
    "estimate": "estimating critical temperatures",
}


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
    """A line when something else is going on, at most every ten seconds, and one every minute."""

    def __init__(self) -> None:
        self._last, self._shown = -math.inf, set[str]()

    def note(self, text: str) -> None:
        say(text)

    def update(self, snapshot: Snapshot) -> None:
        kinds, since = kinds_under_way(snapshot), time.monotonic() - self._last
        is_new = set(kinds) != self._shown
        if kinds and since > (SECONDS_BETWEEN_LINES if is_new else SECONDS_WITHOUT_NEWS):
            self._last, self._shown = time.monotonic(), set(kinds)
            say(line_of(snapshot))


class LiveDisplay:
    """A bar over the time of the run and one line beside it, drawn in place; notes scroll by above."""

    def __init__(self, live: Live) -> None:
        self._live, self._began, self._share = live, time.monotonic(), 0.0

    def note(self, text: str) -> None:
        self._live.console.print(visible(" ".join(text.split())), markup=False, highlight=False)

    def update(self, snapshot: Snapshot) -> None:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        elapsed = time.monotonic() - self._began
        if snapshot.eta is not None:  # a bar does not go back
            self._share = max(self._share, elapsed / (elapsed + snapshot.eta or 1.0))
        table = Table.grid(padding=(0, 1))
        line = Text(line_of(snapshot), no_wrap=True, overflow="ellipsis")
        table.add_row(ProgressBar(1.0, self._share, width=20), line)
        self._live.update(table)


def line_of(snapshot: Snapshot) -> str:
    """What is done, what is going on, and the time that is left, as one line."""
    done, failed = snapshot.counts["done"], snapshot.counts["failed"]
    counts = f"{done} of {sum(snapshot.counts.values())} tasks done"
    trouble = f"{failed} failed" if failed else ""
    stages = [(WORDS.get(kind, kind), *snapshot.stages[kind]) for kind in kinds_under_way(snapshot)]
    doing = ", ".join(f"{words} ({done} of {total})" for words, done, total in stages)
    return "; ".join(part for part in (counts, trouble, doing, time_left(snapshot.eta)) if part)


def kinds_under_way(snapshot: Snapshot) -> list[str]:
    """Kinds of the tasks under way, in the order of the study."""
    kinds = {task.name.split("/", 1)[0] for task in snapshot.running}
    return [kind for kind in snapshot.stages if kind in kinds]


def time_left(seconds: float | None) -> str:
    """In words no finer than it is known."""
    if seconds is None:
        return "time left not known yet"
    if seconds < 10:
        return "a few seconds left"
    if seconds < 90:
        return f"about {10 * round(seconds / 10)} s left"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} min left"
    return f"about {seconds / 3600:.1f} h left"


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
