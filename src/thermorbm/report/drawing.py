"""From charts to what the page and the files need of them, in one process or in several."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from threading import Thread

from markupsafe import Markup

from thermorbm.errors import FileError
from thermorbm.report.chart import Chart
from thermorbm.report.figures import Entry, LeftOut, draw
from thermorbm.report.interactive import Spec, panel_spec
from thermorbm.report.labels import plain
from thermorbm.report.run import Run
from thermorbm.report.style import Drawing, finish, our_style


@dataclass(frozen=True, eq=False)
class Shown:
    """A chart as the page shows it. specs: its interactive panels, by id."""

    id: str
    part: str
    title: Markup
    caption: Markup
    drawing: Drawing
    picture: Drawing | None
    specs: dict[str, Spec]


Drawn = tuple[str, Shown | LeftOut]


def draw_all(run: Run, entries: Sequence[Entry], n_workers: int = 1) -> list[Drawn]:
    """(section, figure or why not), in the order of `entries` whatever the number of processes."""
    n_useful = min(n_workers, len(entries))
    if n_useful < 2:
        return [item for entry in entries for item in draw_entry(run, entry)]
    try:
        drawn = _draw_elsewhere(run, entries, n_useful)
    except (EOFError, ConnectionError) as error:
        problem = "a process that drew figures was killed, perhaps because memory ran out"
        raise FileError(run.path, problem, f"try: thermorbm report {run.path} --workers 1") from error
    return [item for index in range(len(entries)) for item in drawn[index]]


def _draw_elsewhere(run: Run, entries: Sequence[Entry], n_workers: int) -> dict[int, list[Drawn]]:
    """By number of the entry; a process that has drawn one gets the next.

    EOFError or ConnectionError if a process dies: a ProcessPoolExecutor may then wait for ever, for processes
    that it starts while it ends the others.
    """
    left = list(enumerate(entries))  # from the end: sheets with all filters take longest
    drawn: dict[int, list[Drawn]] = {}
    with ExitStack() as stack:
        idle = [stack.enter_context(_process(run)) for _ in range(n_workers)]
        busy: dict[Connection, int] = {}
        while idle or busy:
            for end in idle[: len(left)]:
                busy[end], entry = left.pop()
                end.send(entry)
            idle = [end for end in wait(list(busy)) if isinstance(end, Connection)] if busy else []
            for end in idle:
                drawn[busy.pop(end)] = _answer(end)
    return drawn


def _answer(end: Connection) -> list[Drawn]:
    answer = end.recv()
    if isinstance(answer, Exception):
        raise answer
    return list(answer)


@contextmanager
def _process(run: Run) -> Iterator[Connection]:
    """The end of a pipe to a process that draws the entries sent to it."""
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(run, theirs))
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        process.kill()
        process.join()
        ours.close()


def _serve(run: Run, end: Connection) -> None:
    """In a new process: Ctrl-C is for its parent alone, and it must not outlive a parent that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        entry = end.recv()
        try:
            end.send(draw_entry(run, entry))
        except Exception as error:  # for the parent to raise
            end.send(error)


def draw_entry(run: Run, entry: Entry) -> list[Drawn]:
    """What one entry of the list of figures gives."""
    with our_style():
        return [
            (entry.section, item if isinstance(item, LeftOut) else _shown(item)) for item in draw(run, entry)
        ]


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _shown(chart: Chart) -> Shown:
    panels = chart.panels
    if len(panels) == 1:  # the figure's own title is enough
        panels = (replace(panels[0], title=plain("")),)
    specs = {f"{chart.id}-{index}": panel_spec(panel) for index, panel in enumerate(panels)}
    picture = None if chart.picture is None else finish(chart.picture)
    drawing = finish(chart.figure, chart.lossy)
    return Shown(chart.id, chart.part, chart.title.markup, chart.caption, drawing, picture, specs)
