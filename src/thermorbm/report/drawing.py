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
from typing import Any

from markupsafe import Markup

from thermorbm.errors import FileError
from thermorbm.report.chart import Chart
from thermorbm.report.labels import plain
from thermorbm.report.panels import Panel, listed_series
from thermorbm.report.run import Run
from thermorbm.report.section import Gap, RunFigure, attempt
from thermorbm.report.style import Drawing, finish, our_style
from thermorbm.report.svg import panel_numbers, panel_svg, scales, swatch


@dataclass(frozen=True, eq=False)
class PagePanel:
    """A panel on the page. drawings: SVG by id; a second one has the other scale of y, for the script."""

    title: Markup
    drawings: dict[str, Markup]
    numbers: dict[str, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class PagePanels:
    """Panels side by side. legend: (name, piece of the curve) of every series, once."""

    panels: tuple[PagePanel, ...]
    legend: tuple[tuple[Markup, Markup], ...]

    @property
    def has_scales(self) -> bool:
        """Whether there is something to switch."""
        return any(len(panel.drawings) > 1 for panel in self.panels)

    @property
    def numbers(self) -> dict[str, dict[str, Any]]:
        return {id: numbers for panel in self.panels for id, numbers in panel.numbers.items()}


@dataclass(frozen=True, eq=False)
class Shown:
    """A chart as the page shows it: panels, or the drawing itself where it has none."""

    id: str
    part: str
    title: Markup
    caption: Markup
    drawing: Drawing
    picture: Drawing | None
    curves: PagePanels


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
    picture = None if chart.picture is None else finish(chart.picture)
    drawing = finish(chart.figure, chart.lossy)
    curves = page_panels(chart.id, chart.panels)
    return Shown(chart.id, chart.part, chart.title.html, chart.caption, drawing, picture, curves)


def page_panels(id: str, panels: Sequence[Panel], **size: float) -> PagePanels:
    """Panels as the page shows them. size: width and height of each, see `svg.frame_of`."""
    if len(panels) == 1:  # the figure's own title is enough
        panels = (replace(panels[0], title=plain("")),)
    legend = tuple((item.name.html, swatch(item)) for item in listed_series(panels))
    shown = tuple(_page_panel(f"{id}-{index}", panel, size) for index, panel in enumerate(panels))
    return PagePanels(shown, legend if len(legend) > 1 or len(panels) > 1 else ())


def _page_panel(id: str, panel: Panel, size: dict[str, float]) -> PagePanel:
    ways = dict(zip((id, f"{id}-other"), scales(panel), strict=False))
    drawings = {name: panel_svg(way, name, **size) for name, way in ways.items()}
    return PagePanel(
        panel.title.html, drawings, {name: panel_numbers(way, **size) for name, way in ways.items()}
    )
