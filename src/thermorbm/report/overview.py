"""The study in one picture: filters, the visible energy's variance, and the entropy."""

from __future__ import annotations

from markupsafe import Markup
from matplotlib.figure import Figure

from thermorbm.report.chart import Chart, critical_mark, landmark_machines, name_of, weights_of
from thermorbm.report.columns import Column, per_size
from thermorbm.report.energy import VARIANCE
from thermorbm.report.entropy import entropy_series, pseudo_entropy_series
from thermorbm.report.images import bare, flat
from thermorbm.report.labels import PSEUDO_LIKELIHOOD, Label, at, control_label, plain
from thermorbm.report.panels import Panel, Series, add_legend, draw_panel
from thermorbm.report.run import Arrays, Family, Missing, Run
from thermorbm.report.style import DIVERGING, DOUBLE, new_figure, symmetric_limit

FILTERS = 3


def overview(run: Run) -> Chart:
    """Of the first family that has it all."""
    reasons = ["there is nothing to show"]
    for family in run.families:
        try:
            return _overview(family)
        except Missing as missing:
            reasons.append(str(missing))
    raise Missing(reasons[-1])


def _overview(family: Family) -> Chart:
    role = "union" if family.indicators("union") else "main"
    panels = [_variance_panel(Column(family, role)), _entropy_panel(Column(family, "main"))]
    figure = _drawn(_filters(family), panels)
    which = "one machine for all of them together" if role == "union" else "a machine for each"
    caption = Markup(
        "Left: filters of machines below, near and above the transition. Middle: the variance of the visible "
        "energy, of {}; machines are never told {}. Right: {} of held-out configurations beside entropies."
    ).format(which, control_label(family.run).markup, PSEUDO_LIKELIHOOD.markup)
    return Chart("overview", "", "At a glance: " + name_of(family), caption, figure)


def _filters(family: Family) -> list[tuple[Label, Arrays]]:
    found = []
    for value, machine, _ in landmark_machines(family):
        _, arrays = weights_of(family, machine)
        if "filters" not in arrays:
            raise Missing("the configurations have no lattice on which to wrap filters")
        found.append((at(family.run, value), arrays))
    return found


def _variance_panel(column: Column) -> Panel:
    found = per_size(column, "visible_energy_variance_per_spin")
    return _panel(column, plain("Visible energy, variance"), VARIANCE, found)


def _entropy_panel(column: Column) -> Panel:
    family = column.family
    found = [*entropy_series(family), *pseudo_entropy_series(family)]
    found += per_size(column, "pseudo_likelihood_per_spin", dash=None)
    return _panel(column, plain("Entropy and pseudo-likelihood"), plain("nats per spin"), found)


def _panel(column: Column, title: Label, label: Label, found: list[Series]) -> Panel:
    if not found:
        raise Missing("curves of the machines were not computed")
    family = column.family
    return Panel(title, control_label(family.run), label, tuple(found), critical_mark(family))


def _drawn(filters: list[tuple[Label, Arrays]], panels: list[Panel]) -> Figure:
    figure = new_figure(DOUBLE, 2.75)
    grid = figure.add_gridspec(FILTERS, 3, width_ratios=(0.42, 1, 1))
    for row, (label, arrays) in enumerate(filters):
        ax = figure.add_subplot(grid[row, 0])
        picture = flat(arrays["filters"])[0]
        limit = symmetric_limit(picture)
        ax.imshow(picture, cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
        ax.set_ylabel(label.tex, fontsize=7)
        bare(ax)
    for place, panel in enumerate(panels, 1):
        ax = figure.add_subplot(grid[:, place])
        draw_panel(ax, panel)
        ax.set_title(panel.title.tex, loc="left", pad=12)
    add_legend(figure, panels)
    return figure
