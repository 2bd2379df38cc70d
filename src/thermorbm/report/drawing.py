"""From charts to what the page and the files need of them, in one process or in several."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from multiprocessing.connection import wait
from threading import Thread

from markupsafe import Markup

from thermorbm.errors import FileError
from thermorbm.report.chart import Chart
from thermorbm.report.interactive import Spec, panel_spec
from thermorbm.report.labels import plain
from thermorbm.report.run import Run
from thermorbm.report.section import Gap, RunFigure, attempt
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


Drawn = list[Shown | Gap]


def draw_all(run: Run, figures: Sequence[RunFigure], n_workers: int = 1) -> list[Drawn]:
    """The charts of every figure or why there are none, in order whatever the number of processes."""
    n_useful = min(n_workers, len(figures))
    if n_useful < 2:
        return [draw_figure(run, figure) for figure in figures]
    try:
        return _draw_in_processes(run, figures, n_useful)
    except (BrokenProcessPool, BrokenPipeError) as error:
        problem = "a process that drew figures was killed, perhaps because memory ran out"
        raise FileError(run.path, problem, f"try: thermorbm report {run.path} --workers 1") from error


def _draw_in_processes(run: Run, figures: Sequence[RunFigure], n_processes: int) -> list[Drawn]:
    """Gives each process every n-th figure.

    Each has a pool of its own: one pool of several waits for ever if a process is killed while another one is
    being started.
    """
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    with ExitStack() as stack:
        pools = [ProcessPoolExecutor(1, context, _begin, (run,)) for _ in range(n_processes)]
        for pool in pools:
            stack.callback(pool.shutdown, cancel_futures=True)
        waiting = [
            pool.submit(_draw_here, figure) for pool, figure in zip(cycle(pools), figures, strict=False)
        ]
        return [future.result() for future in waiting]


def draw_figure(run: Run, figure: RunFigure) -> Drawn:
    """What one figure gives: charts, and gaps where there are none."""
    with our_style():
        return [item for result in figure.attempts(run) for item in _finished(result)]


def _finished(result: list[Chart] | Gap) -> Drawn:
    if isinstance(result, Gap):
        return [result]
    return [attempt(f"Picture {chart.id}", partial(_shown, chart)) for chart in result]


# The run that a drawing process is at: its arrays are read once for all figures.
_here: Run


def _begin(run: Run) -> None:
    """In a new process: Ctrl-C is for its parent alone, and it must not outlive a parent that is killed."""
    global _here
    _here = run
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _draw_here(figure: RunFigure) -> Drawn:
    return draw_figure(_here, figure)


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
    return Shown(chart.id, chart.part, chart.title.html, chart.caption, drawing, picture, specs)
