"""What a figure function gives to the report, curves or pictures, and the choices that several share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from thermorbm.plots import draw_weights, tiles
from thermorbm.report.labels import NOTHING, TC, Label, plain, size_label
from thermorbm.report.panels import Panel, Series, all_panels, draw_panels, series
from thermorbm.report.run import NO_MACHINES, THEIRS, FamilyView, Missing, Points, Run, need_some, points
from thermorbm.report.style import BELOW_NEAR_ABOVE, DOUBLE, colour, marker, new_figure, symmetric_limit
from thermorbm.study.quantities import Arrays
from thermorbm.study.results import Indicators, MachineResults, Weights

# The paper's three temperatures 1.0, 2.25 and 3.5, in units of T_c.
LANDMARKS = (0.44, 0.99, 1.54)
FEW_BINS = 30
MOST_COLUMNS = 3
SYMMETRIC_LOOK = 4
NO_LATTICE = "the configurations have no lattice on which to wrap filters"
Picture = NDArray[Any]
FEW_PIXELS = 5  # a side: such pictures need no room


@dataclass(frozen=True, eq=False)
class Chart:
    """A drawn figure. figure: for the files and for print. panels: its curves, which the page draws itself.

    picture: something to show on the page beside the curves. lossy: see `style.finish`. id, title: what tells
    several charts of one figure apart; the section puts the figure's own before them, and its part.
    """

    caption: Markup
    figure: Figure
    panels: tuple[Panel, ...] = ()
    picture: Figure | None = None
    lossy: bool = False
    id: str = ""
    title: Label = NOTHING
    part: str = ""


def curves_chart(
    caption: Markup, panels: Sequence[Panel], id: str = "", title: Label = NOTHING, **layout: Any
) -> Chart:
    """A figure that is nothing but panels of curves; layout: see `draw_panels`."""
    need_some(panels, "there is nothing to draw")
    figure = draw_panels(panels, **layout)
    return Chart(caption, figure, tuple(all_panels(panels)), id=id, title=title)


def control_panel(
    family: FamilyView, title: Label, y_label: Label, curves: Sequence[Series], **more: Any
) -> Panel:
    """Curves over the control parameter, with a line at T_c of the infinite lattice where it is known."""
    marks = () if family.critical is None else ((family.critical, TC),)
    label = family.run.control_label
    return Panel(title, label, y_label, tuple(curves), marks, over_control=True, **more)


def landmarks(family: FamilyView) -> list[float]:
    """Values of machines below, near and above T_c; lowest, middle and highest where T_c is not known."""
    values = sorted({m.value for m in family.results.first_seeds() if m.value is not None})
    need_some(values, NO_MACHINES["main"])
    if family.critical is None:
        chosen = [values[0], values[len(values) // 2], values[-1]]
    else:
        wanted = np.multiply(LANDMARKS, family.critical)
        chosen = [min(values, key=lambda value: abs(value - target)) for target in wanted]
    return sorted(set(chosen))


def near_critical(family: FamilyView) -> float:
    """The value nearest to T_c, or in the middle."""
    chosen = landmarks(family)
    return chosen[min(1, len(chosen) - 1)]


def landmark_machines(family: FamilyView) -> list[tuple[float, MachineResults, str]]:
    """(value, machine, colour) of the smallest machines at the landmarks."""
    pairs = [(value, family.results.machine("main", family.smallest(), value)) for value in landmarks(family)]
    colours = BELOW_NEAR_ABOVE if len(pairs) == 3 else tuple(colour(i) for i in range(len(pairs)))
    return [(value, machine, c) for (value, machine), c in zip(pairs, colours, strict=True) if machine]


def lattice_filters(family: FamilyView, machine: MachineResults) -> tuple[NDArray[Any], float]:
    """The stored filters, wrapped to the lattice, and the standard deviation of all weights."""
    numbers, arrays = family.weights(machine)
    if "filters" not in arrays:
        raise Missing(NO_LATTICE)
    return arrays["filters"], numbers.W.variance**0.5


def histogram(name: Label, weights: tuple[Weights, Arrays], key: str, colour: str) -> Series:
    """A stored density of weights as a curve through the middles of its bins; few values get wide bins."""
    numbers, arrays = weights
    if f"{key}.edges" not in arrays:
        raise Missing("the distributions were not stored")
    bins = wider_bins(arrays[f"{key}.edges"], arrays[f"{key}.density"], getattr(numbers, key).n_values)
    return series(name, *outline(*bins), colour=colour)


def landmark_histograms(family: FamilyView, key: str) -> tuple[Series, ...]:
    """The distribution of one kind of number at each landmark."""
    return tuple(
        histogram(family.at(value), family.weights(machine), key, chosen)
        for value, machine, chosen in landmark_machines(family)
    )


def outline(
    edges: NDArray[np.float64], density: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A histogram as a line that begins and ends at zero: steps if bins are few, else through the middles."""
    if len(density) <= FEW_BINS:
        return np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(density, 2), [0.0]])
    middles = (edges[1:] + edges[:-1]) / 2
    return np.concatenate([edges[:1], middles, edges[-1:]]), np.concatenate([[0.0], density, [0.0]])


def wider_bins(
    edges: NDArray[Any], density: NDArray[Any], n_values: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Joins neighbouring bins until there are about 3 n^(1/3), or as many as there were."""
    n_bins, wanted = len(density), max(8, round(3 * n_values ** (1 / 3)))
    join = max((k for k in range(1, n_bins + 1) if n_bins % k == 0 and n_bins // k >= wanted), default=1)
    return np.asarray(edges[::join], dtype=np.float64), np.asarray(
        density.reshape(-1, join).mean(axis=1), dtype=np.float64
    )


def curve_series(name: Label, curve: Points, index: int = 0, **style: Any) -> list[Series]:
    """A stored curve as points joined by a line; nothing if it has no points."""
    if not curve:
        return []
    looks: dict[str, Any] = {"colour": colour(index), "marker": marker(index), "width": 0.9, **style}
    return [series(name, *zip(*curve, strict=True), **looks)]


def peak_of(curve: Points) -> tuple[float, float] | None:
    """(x, value) of the highest point."""
    return max(((x, value) for x, value, _ in curve), key=lambda place: (place[1], place[0]), default=None)


def first_look(role: str) -> int:
    """Number of the colour and the marker of the smallest machines of a role; larger ones have the next."""
    return SYMMETRIC_LOOK if role == "symmetric" else 0


@dataclass(frozen=True, eq=False)
class Column:
    """Machines of one role on one family's data: figures 7 and 8 show several such columns side by side."""

    family: FamilyView
    role: str

    @property
    def title(self) -> Label:
        if self.role != "union":
            return self.family.title
        name, ending = plain(f"{self.family.results.name}, all "), THEIRS if self.family.as_paper else ""
        return name + self.family.run.control_symbol + plain(ending)

    @property
    def items(self) -> list[Indicators]:
        return self.family.results.indicators_of(self.role)

    @property
    def looks(self) -> list[tuple[int, Indicators]]:
        """Each with the number of its colour and marker: a number of hidden units has one in all panels."""
        if self.role == "symmetric":
            return list(enumerate(self.items, first_look(self.role)))
        sizes = self.family.run.dense_sizes
        return [(sizes.index(item.n_hidden), item) for item in self.items]


def column_charts(
    run: Run, has_curves: Callable[[Column], bool], draw: Callable[[list[Column], str], Chart], reason: str
) -> list[Chart]:
    """Charts of at most three columns each: machines for single temperatures, then those for all of them."""
    columns = [Column(family, role) for role in ("main", "union") for family in run.views]
    kept = [column for column in columns if has_curves(column)]
    need_some(kept, reason)
    parts = [kept[start : start + MOST_COLUMNS] for start in range(0, len(kept), MOST_COLUMNS)]
    charts = [draw(part, "" if index == 0 else f"-{index + 1}") for index, part in enumerate(parts)]
    if len(charts) == 1:
        return charts
    return [replace(chart, title=plain(f", {k} of {len(charts)}")) for k, chart in enumerate(charts, 1)]


def as_theirs(columns: Sequence[Column], more: str = "") -> str:
    """A sentence of a caption for machines that are scored on other configurations than the rest."""
    if not any(column.family.as_paper for column in columns):
        return ""
    return f" Machines trained as the paper's are scored on their training data, as there{more}."


def per_size(column: Column, curve: str, prefix: Label | str = "", **style: Any) -> list[Series]:
    """One curve for each number of hidden units. prefix: what stands before that number in the legend."""
    curves: list[Series] = []
    for index, item in column.looks:
        name = prefix + size_label(item.n_hidden)
        curves += curve_series(name, points(item.curves.get(curve)), index, **style)
    return curves


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
