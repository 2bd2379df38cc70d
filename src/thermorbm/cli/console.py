"""What the command line shows: progress, tables and one-line messages."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from thermorbm.shown import ProgressCallback, live_line, progress_bars, visible

if TYPE_CHECKING:
    from thermorbm.reading.analysis import Step
    from thermorbm.runner.progress import Listener, Snapshot

PLAIN_STEPS = 10  # lines per stage where there is no terminal
SECONDS_BETWEEN_LINES, SECONDS_WITHOUT_NEWS = 10.0, 60.0
TRAINING_SECONDS_BETWEEN_LINES = 60.0
StepCallback = Callable[["Step"], None]


def say(message: str) -> None:
    """One line on stderr, whatever line breaks the message carries."""
    typer.echo(visible(" ".join(message.split())), err=True)


def print_json(value: Mapping[str, Any]) -> None:
    """Strict JSON on stdout; numbers that JSON cannot write (NaN, infinity) become null."""
    from thermorbm.storage import finite

    typer.echo(json.dumps(finite(value), indent=2, allow_nan=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: bool) -> None:
    """A table on stdout below its title, which stays on one line; `right` aligns all columns but the first
    to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, table = Console(), Table(show_header=any(columns))
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if right and i else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))  # Text: brackets in file names are not markup
    # Not folded to the width of the table.
    console.print(Text(visible(title), style="table.title"), soft_wrap=True)
    console.print(table)


def print_pairs(title: str, pairs: Mapping[str, Any]) -> None:
    """A table of names and values on stdout."""
    print_table(title, ("", ""), [(key, _cell(value)) for key, value in pairs.items()], right=False)


def show_summary(summary: Mapping[str, Any], title: str, as_json: bool) -> None:
    """The summary of a file as JSON, or as a table whose title names the file."""
    if as_json:
        print_json(summary)
    else:
        print_pairs(title, {key: value for key, value in summary.items() if key != "file"})


def _cell(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict) and value.keys() == {"value", "error"} and _are_numbers(value.values()):
        return f"{value['value']:.7g} +- {value['error']:.2g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_cell(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_cell(item) for item in value) or "none"
    return str(value)


def _are_numbers(values: Iterable[object]) -> bool:
    return all(isinstance(value, int | float) for value in values)


@contextmanager
def progress() -> Iterator[ProgressCallback]:
    """A callback (stage, done, total) that draws bars with ETA on a terminal and writes lines elsewhere."""
    if not sys.stderr.isatty():
        yield plain_progress()
        return
    with progress_bars() as report:
        yield report


def plain_progress() -> ProgressCallback:
    """Writes a line at most every tenth of a stage, with the time that is left."""
    shown: dict[str, int] = {}
    started: dict[str, float] = {}

    def report(stage: str, done: int, total: int) -> None:
        begin = started.setdefault(stage, time.monotonic())
        total = max(done, total, 1)  # totals may be estimates that turn out too low
        step = PLAIN_STEPS * done // total
        if step == 0 or step <= shown.get(stage, 0):
            return
        shown[stage] = step
        elapsed = time.monotonic() - begin
        left = "done" if done == total else f"{elapsed * (total - done) / done:.0f} s left"
        say(f"{stage}: {100 * done // total} % ({done}/{total}), {left}")

    return report


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
