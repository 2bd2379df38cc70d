"""Figure 1: the two-layer machine, drawn."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes

from thermorbm.report.chart import Chart
from thermorbm.report.labels import plain
from thermorbm.report.run import Run
from thermorbm.report.style import BLACK, BLUE, GREY, SINGLE, VERMILION, new_figure

N_HIDDEN, N_VISIBLE = 6, 9


def figure_1(run: Run) -> Chart:
    figure = new_figure(SINGLE, 2.0)
    ax = figure.subplots()
    hidden = [(1.5 + 1.2 * i, 1.0) for i in range(N_HIDDEN)]
    visible = [(float(j), 0.0) for j in range(N_VISIBLE)]
    for index, (x, y) in reversed(list(enumerate(hidden))):
        for x2, y2 in visible:
            first = index == 0
            style: dict[str, Any] = {
                "color": VERMILION if first else "#c8c8c8",
                "linewidth": 1.2 if first else 0.4,
            }
            ax.plot([x, x2], [y, y2], zorder=2 if first else 1, **style)
    _units(ax, hidden, "#fde3d0", VERMILION, "h")
    _units(ax, visible, "#d6e9f5", BLUE, "v")
    _legend_texts(ax)
    ax.set(xlim=(-1.6, 9.6), ylim=(-0.38, 1.38))
    ax.set_axis_off()
    caption = Markup(
        "A restricted Boltzmann machine with six hidden units <i>h<sub>i</sub></i> and nine visible units "
        "<i>v<sub>j</sub></i>, all ±1. Every line is a coupling <i>W<sub>ij</sub></i>; the filter of the "
        "first hidden unit is red. Units of one layer are not coupled. <i>b<sub>j</sub></i> and "
        "<i>c<sub>i</sub></i> are biases. In this report the visible units are the spins of a "
        "configuration."
    )
    return Chart("fig-1", "Fig. 1", plain("The machine"), caption, figure)


def _units(ax: Axes, places: list[tuple[float, float]], face: str, edge: str, name: str) -> None:
    for index, (x, y) in enumerate(places, 1):
        ax.plot([x], [y], "o", markersize=12.5, color=face, markeredgecolor=edge, markeredgewidth=1, zorder=3)
        ax.text(
            x, y - 0.012, f"${name}_{index}$", ha="center", va="center", fontsize=7, color=BLACK, zorder=4
        )


def _legend_texts(ax: Axes) -> None:
    ax.text(4.5, 1.27, r"hidden layer, biases $c_i$", ha="center", va="center", fontsize=7.5)
    ax.text(4.0, -0.27, r"visible layer, biases $b_j$", ha="center", va="center", fontsize=7.5)
    ax.text(-0.15, 0.62, r"filter $\mathbf{w}_1^T$", ha="right", va="center", fontsize=7.5, color=VERMILION)
    ax.text(8.4, 0.62, r"$W_{ij}$", ha="left", va="center", fontsize=7.5, color=GREY)
