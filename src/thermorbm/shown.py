"""What people see: objects in notebooks as tables, progress bars, text without what steers a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from html import escape
from typing import Any, cast

ProgressCallback = Callable[[str, int, int], None]
PATIENCE_SECONDS = 1.0  # before a bar is shown


class Displayed:
    """A dataclass that shows itself in one line, and in a notebook as a table.

    Numbers are rounded, of arrays there is the shape. Such a dataclass is made with repr=False.
    """

    def _facts(self) -> dict[str, Any]:
        """What is shown: names with values, of which None and nan are left out."""
        return {item.name: getattr(self, item.name) for item in fields(cast(Any, self)) if item.repr}

    def __repr__(self) -> str:
        said = (f"{name}={_text(value)}" for name, value in self._facts().items() if _says(value))
        return f"{type(self).__name__}({', '.join(said)})"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self._facts())


def html_table(title: str, facts: Mapping[str, object]) -> str:
    """HTML of a title and of names with values; values of None and nan are left out."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(_text(value))}</td></tr>"
        for name, value in facts.items()
        if _says(value)
    )
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def _says(value: object) -> bool:
    return value is not None and not (isinstance(value, float) and value != value)  # nan


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if getattr(value, "shape", ()):
        return f"array of shape {value.shape}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def visible(text: str) -> str:
    """The same with \\x1b and the like for characters that steer a terminal; names in files may hold them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def shown_progress(wanted: ProgressCallback | bool | None) -> Iterator[ProgressCallback | None]:
    """A callback (stage, done, total) that draws bars, or None where nobody looks.

    wanted: False for none, None for bars where there is a terminal or a notebook, True for bars anyway; a
    callback of the user's own stays what it is.
    """
    if callable(wanted):
        yield wanted
    elif is_watched(wanted):
        with progress_bars(PATIENCE_SECONDS) as report:
            yield report
    else:
        yield None


@contextmanager
def progress_bars(patience: float = 0.0) -> Iterator[ProgressCallback]:
    """A callback that draws one bar per stage with the time that is left, after `patience` seconds."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}")
    columns = text, BarColumn(), TaskProgressColumn(), TimeRemainingColumn(elapsed_when_finished=True)
    bars = Progress(*columns, console=Console(stderr=not in_notebook()))
    tasks: dict[str, Any] = {}
    begin = time.monotonic()

    def report(stage: str, done: int, total: int) -> None:
        if not bars.live.is_started and time.monotonic() - begin >= patience:
            bars.start()
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=total)
        bars.update(tasks[stage], completed=done, total=max(done, total))

    try:
        yield report
    finally:
        if bars.live.is_started:
            bars.stop()


class LiveLine:
    """A bar and a line of text that are drawn in place, in a terminal or a notebook."""

    def __init__(self, live: Any) -> None:
        self._live = live

    def note(self, text: str) -> None:
        """A line of its own, above."""
        self._live.console.print(visible(" ".join(text.split())), markup=False, highlight=False)

    def show(self, text: str, share: float) -> None:
        """The line, with a bar that is filled to that share; what does not fit is cut off."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 1))
        line = Text(text, no_wrap=True, overflow="ellipsis")
        table.add_row(ProgressBar(1.0, share, width=20), line)
        self._live.update(table)


@contextmanager
def live_line() -> Iterator[LiveLine]:
    """A line that is gone when the work is done."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=not in_notebook())
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        yield LiveLine(live)


def is_watched(wanted: bool | None) -> bool:
    """Whether to show progress: where it is wanted, or where nothing is said and somebody looks."""
    return bool(wanted) or (wanted is None and (in_notebook() or sys.stderr.isatty()))


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows more than text."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
