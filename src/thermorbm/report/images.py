"""Pictures of filters and hidden layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from thermorbm.plots import draw_weights, tiles
from thermorbm.report.labels import Label
from thermorbm.report.run import Missing
from thermorbm.report.style import DOUBLE, new_figure, symmetric_limit

Picture = NDArray[Any]

FEW_PIXELS = 5  # a side: such pictures need no room


def flat(filters: Picture) -> Picture:
    """(n, *shape) as (n, rows, columns): one layer of a cube, a row of a chain."""
    if filters.ndim == 2:
        return filters[:, None, :]
    if filters.ndim == 3:
        return filters
    if filters.ndim == 4:
        return filters[:, 0]
    raise Missing("filters on lattices of more than three dimensions are not drawn")


def filter_rows(rows: Sequence[tuple[Label, Picture, float]], n_shown: int) -> Figure:
    """One row of filters for each (label, filters, standard deviation of W), with its own colour scale."""
    small = max(max(flat(filters).shape[1:]) for _, filters, _ in rows) <= FEW_PIXELS
    figure = new_figure(DOUBLE, 0.25 + (0.7 if small else 1.28) * len(rows))
    axes = figure.subplots(len(rows), n_shown, squeeze=False)
    for line, (label, filters, deviation) in zip(axes, rows, strict=True):
        limit = 2 * deviation or 1.0
        drawn = None
        for ax, picture in zip(line, flat(filters)[:n_shown], strict=False):
            drawn = draw_weights(ax, picture, limit)
            bare(ax)
        for ax in line[len(filters) :]:
            ax.set_visible(False)
        line[0].set_ylabel(label.tex)
        if drawn is not None:
            bar = figure.colorbar(drawn, ax=list(line), shrink=0.85, aspect=14, pad=0.01)
            bar.ax.tick_params(labelsize=6)
            bar.outline.set_linewidth(0.5)  # type: ignore[operator]
    return figure


def bare(ax: Axes) -> None:
    """Axes as a frame around a picture."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.5)


def sheet_figure(filters: Picture) -> Figure:
    """All filters of a machine on one sheet."""
    sheet = tiles(flat(filters))
    limit = symmetric_limit(filters)
    height = min(9.0, (DOUBLE - 0.6) * sheet.shape[0] / sheet.shape[1])
    figure = new_figure(DOUBLE, height)
    ax = figure.subplots()
    drawn = draw_weights(ax, sheet, limit, interpolation="antialiased")
    ax.set_axis_off()
    bar = figure.colorbar(drawn, ax=ax, shrink=0.4, aspect=20, pad=0.01)
    bar.ax.tick_params(labelsize=6)
    return figure


def layer_strip(layers: Sequence[tuple[Label, Picture]]) -> Figure:
    """Hidden layers side by side: +1 black, -1 white, places without a unit grey."""
    figure = new_figure(DOUBLE, 1.75)
    axes = figure.subplots(1, len(layers), squeeze=False)[0]
    for ax, (label, layer) in zip(axes, layers, strict=True):
        draw_layer(ax, layer)
        ax.set_title(label.tex, fontsize=7)
    return figure


def draw_layer(ax: Axes, layer: Picture) -> None:
    ax.imshow(layer, cmap="Greys", vmin=-1, vmax=1, interpolation="nearest")
    bare(ax)
