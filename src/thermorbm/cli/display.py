"""What is shown while a study runs or a machine trains: live on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from thermorbm.bars import live_line
from thermorbm.cli.console import PLAIN_STEPS, say

if TYPE_CHECKING:
    from thermorbm.reading.analysis import Step
    from thermorbm.runner.progress import Listener, Snapshot

SECONDS_BETWEEN_LINES, SECONDS_WITHOUT_NEWS = 10.0, 60.0
TRAINING_SECONDS_BETWEEN_LINES = 60.0

StepCallback = Callable[["Step"], None]


@contextmanager
def display() -> Iterator[Listener]:
    """What shows how far a run is: a listener for the runner."""
    if not sys.stderr.isatty():
        yield PlainDisplay()
        return
    from thermorbm.study.watch import LiveListener

    with live_line() as line:
        yield LiveListener(line)


class PlainDisplay:
    """A line when something else is going on, at most every ten seconds, and one every minute."""

    def __init__(self) -> None:
        self._last, self._shown = -math.inf, set[str]()

    def note(self, text: str) -> None:
        say(text)

    def update(self, snapshot: Snapshot) -> None:
        from thermorbm.study.watch import kinds_under_way, line_of

        kinds, since = kinds_under_way(snapshot), time.monotonic() - self._last
        is_new = set(kinds) != self._shown
        if kinds and since > (SECONDS_BETWEEN_LINES if is_new else SECONDS_WITHOUT_NEWS):
            self._last, self._shown = time.monotonic(), set(kinds)
            say(line_of(snapshot))


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
