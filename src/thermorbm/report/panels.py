"""Curves as data: a panel holds series, and is drawn by matplotlib here and as SVG on the page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from thermorbm.plots import draw_curve
from thermorbm.report.labels import Label
from thermorbm.report.style import BLACK, DOUBLE, GREY, SINGLE, new_figure

MARKS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "x": "x",
    "cross": "P",
    "circle-open": "o",
    "line-ns": "|",
}
TITLE_PAD = 9  # points; leaves room for the name of a vertical line
NUMBER_AT_END = re.compile(r"\d+(\.\d+)?$")
DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}


@dataclass(frozen=True, eq=False)
class Series:
    """One curve. marker: None for a line alone. dash: None for points alone. errors: one per point, or None.

    band: (low, high) of a shaded range, in the place of error bars, or None. listed: whether the legend
    names it. sideways: errors are those of x.
    """

    name: Label
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    errors: NDArray[np.float64] | None = None
    colour: str = BLACK
    marker: str | None = None
    dash: str | None = "solid"
    width: float = 1.2
    band: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    listed: bool = True
    sideways: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """One system of axes. marks: (x, label) of vertical lines. inset: drawn inside the panel in print, and
    as a panel of its own on the page; inset_at is (left, bottom, width, height) in fractions of the axes.
    headroom: extra height above the data, in fractions of its range, to make place for an inset. rows: names
    at y = 0, -1, -2, ... instead of numbers. over_control: x is the control parameter, the same in all such
    panels of a page.
    """

    title: Label
    x_label: Label
    y_label: Label
    series: tuple[Series, ...]
    marks: tuple[tuple[float, Label], ...] = ()
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    log_x: bool = False
    log_y: bool = False
    inset: Panel | None = None
    inset_at: tuple[float, float, float, float] = (0.6, 0.6, 0.38, 0.36)
    headroom: float = 0.0
    rows: tuple[Label, ...] = ()
    over_control: bool = False


def series(name: Label, x: ArrayLike, y: ArrayLike, errors: ArrayLike | None = None, **look: Any) -> Series:
    """A series of finite points."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    kept = np.isfinite(x) & np.isfinite(y)
    bars = None if errors is None else np.nan_to_num(np.asarray(errors, dtype=np.float64))[kept]
    return Series(name, x[kept], y[kept], bars, **look)


def all_panels(panels: Sequence[Panel]) -> list[Panel]:
    """The panels and their insets, each by itself."""
    return [each for panel in panels for each in (panel, panel.inset) if each is not None]


def draw_panels(panels: Sequence[Panel], columns: int | None = None, height: float = 2.3) -> Figure:
    """The panels on a grid, lettered (a), (b), ..., with one legend below for all."""
    n_columns = columns or min(3, len(panels))
    n_rows = math.ceil(len(panels) / n_columns)
    figure = new_figure(SINGLE if n_columns == 1 else DOUBLE, height * n_rows + 0.35)
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for index, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
        draw_panel(ax, panel)
        if len(panels) > 1:  # a single panel is named by its caption
            ax.set_title(f"({chr(ord('a') + index)}) {panel.title.tex}", loc="left", pad=TITLE_PAD)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    add_legend(figure, panels)
    return figure


def add_legend(figure: Figure, panels: Sequence[Panel]) -> None:
    """Every series once, by its name, below the panels, row by row in the order of the series."""
    named: dict[str, Any] = {}
    for ax in figure.axes:
        handles, names = ax.get_legend_handles_labels()
        named |= {name: handle for name, handle in zip(names, handles, strict=True) if name not in named}
    listed = [item for item in listed_series(panels) if item.name.tex in named]
    if not listed or (len(listed) == 1 and len(panels) == 1):
        return
    inches = 0.5 + 0.062 * max(item.name.n_letters for item in listed)
    n_columns = int(np.clip(figure.get_figwidth() / inches, 1, len(listed)))
    names = _by_rows([item.name.tex for item in listed], n_columns)
    figure.legend([named[name] for name in names], names, loc="outside lower center", ncols=n_columns)


def listed_series(panels: Sequence[Panel]) -> list[Series]:
    """The series that a legend names, each name once, in the order in which they are drawn; names that differ
    in the number at their end stand together, the smallest first."""
    named: dict[str, Series] = {}
    for item in (item for panel in all_panels(panels) for item in panel.series if item.listed):
        named.setdefault(item.name.tex, item)
    named.pop("", None)
    parts = {name: _kind_and_number(name) for name in named}
    kinds = [kind for kind, _ in parts.values()]
    return [
        named[name] for name in sorted(named, key=lambda name: (kinds.index(parts[name][0]), parts[name][1]))
    ]


def _kind_and_number(name: str) -> tuple[str, float]:
    """What stands before the number at the end of a name, and that number, 0 if there is none."""
    number = NUMBER_AT_END.search(name)
    return (name, 0.0) if number is None else (name[: number.start()], float(number[0]))


def _by_rows(names: list[str], n_columns: int) -> list[str]:
    """In the order in which matplotlib, which fills columns, shows the names row by row."""
    return [name for column in range(n_columns) for name in names[column::n_columns]]


def draw_panel(ax: Axes, panel: Panel, small: bool = False) -> None:
    for item in panel.series:
        draw_series(ax, item, small)
    _finish_axes(ax, panel, small)
    for x, label in panel.marks:
        ax.axvline(x, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
        if not small:
            ax.annotate(
                label.tex, (x, 1), xycoords=("data", "axes fraction"), xytext=(0, 1), color=GREY,
                textcoords="offset points", ha="center", va="bottom", fontsize=6.5,
            )  # fmt: skip
    if panel.inset is not None:
        inset = ax.inset_axes(panel.inset_at)
        draw_panel(inset, replace(panel.inset, inset=None), small=True)


def _finish_axes(ax: Axes, panel: Panel, small: bool) -> None:
    ax.set_xlabel(panel.x_label.tex, fontsize=6 if small else None, labelpad=1 if small else None)
    ax.set_ylabel(panel.y_label.tex, fontsize=6 if small else None, labelpad=1 if small else None)
    if panel.log_x:
        ax.set_xscale("log")
    if panel.log_y:
        ax.set_yscale("log")
    if panel.x_range is not None:
        ax.set_xlim(*panel.x_range)
    if panel.y_range is not None:
        ax.set_ylim(*panel.y_range)
    if panel.headroom:
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + panel.headroom * (high - low))
    if panel.rows:
        ax.set_yticks([-float(i) for i in range(len(panel.rows))], [label.tex for label in panel.rows])
        ax.set_ylim(0.7 - len(panel.rows), 0.7)
    if small:
        ax.tick_params(labelsize=5.5, length=2, pad=1)
        ax.locator_params(nbins=4) if not (panel.log_x or panel.log_y) else None
        ax.yaxis.get_offset_text().set_fontsize(5.5)


def draw_series(ax: Axes, item: Series, small: bool) -> None:
    scale = 0.7 if small else 1.0
    label = item.name.tex if item.listed and not small else None
    style: dict[str, Any] = {
        "color": item.colour,
        "linestyle": "none" if item.dash is None else DASHES[item.dash],
        "linewidth": scale * item.width,
        "marker": None if item.marker is None else MARKS[item.marker],
        "markersize": 3.2 * scale,
        "label": label,
    }
    if item.marker == "circle-open":
        style["markerfacecolor"] = "white"
    if item.marker == "line-ns":
        style |= {"markersize": 9, "markeredgewidth": 1.6}
    errors = None if item.marker is None or item.band is not None else item.errors
    draw_curve(ax, item.x, item.y, errors, band=item.band, sideways=item.sideways, thin=0.8 * scale, **style)
