"""What the command line shows: progress, tables and one-line messages."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from thermorbm.bars import ProgressCallback, progress_bars
from thermorbm.shown import visible

PLAIN_STEPS = 10  # lines per stage where there is no terminal


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
