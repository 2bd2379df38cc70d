"""Figures 2 and 3: the weights of machines for single temperatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from thermorbm.report.chart import (
    Chart,
    critical_mark,
    curve_series,
    curves_chart,
    landmark_histograms,
    landmark_machines,
    name_of,
    peak_of,
    smallest,
    weights_of,
)
from thermorbm.report.images import filter_rows
from thermorbm.report.labels import (
    DENSITY,
    N_HIDDEN,
    N_VISIBLE,
    TC,
    Label,
    at,
    control_label,
    control_symbol,
    percent,
    plain,
    short,
    size_label,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import Family, Missing, Run

W = Label("$W_{ij}$", "<i>W<sub>ij</sub></i>")
B = Label("$b_j$", "<i>b<sub>j</sub></i>")
C = Label("$c_i$", "<i>c<sub>i</sub></i>")
FILTER_SUM = Label(r"$\Sigma_j W_{ij}/n_v$", "Σ<sub>j</sub> <i>W<sub>ij</sub></i>/<i>n</i><sub>v</sub>")
INVERSE_SUM = Label(r"$\Sigma_i W_{ij}/n_h$", "Σ<sub>i</sub> <i>W<sub>ij</sub></i>/<i>n</i><sub>h</sub>")
ABS_VARIANCE = Label(r"Var $|\Sigma_j W_{ij}|$", "Var |Σ<sub>j</sub> <i>W<sub>ij</sub></i>|")
CORRELATION = Label(r"$\langle w_{:j}\cdot w_{:j'}\rangle$", "⟨<b>w</b><sub>:j</sub>·<b>w</b><sub>:j′</sub>⟩")
DISTANCE = Label("$r$", "<i>r</i>")
FILTERS_SHOWN = 5


def figure_2(family: Family) -> Chart:
    panels = [
        Panel(label, label, DENSITY, landmark_histograms(family, key))
        for key, label in (("W", W), ("b", B), ("c", C))
    ]
    caption = Markup(
        "Distributions of the couplings {}, visible biases {} and hidden biases {} of machines with {} "
        "below, near and above {}. {}"
    ).format(W.markup, B.markup, C.markup, size_label(smallest(family)).markup, TC.markup, _spreads(family))
    title = "Couplings and biases: " + name_of(family)
    return curves_chart(f"fig-2-{family.name}", "Fig. 2", title, caption, panels)


def _spreads(family: Family) -> Markup:
    """Standard deviations of W at the landmarks, and where the variance is largest."""
    told = []
    for value, machine, _ in landmark_machines(family):
        variance = float(weights_of(family, machine)[0]["W"]["variance"])
        told.append(Markup("{} at {}").format(short(variance**0.5, 3), at(family.run, value).markup))
    found = peak_of(weight_variances(family))
    peak = Markup("") if found is None else at(family.run, found[0]).markup
    spread = Markup(", ").join(told)
    return Markup("The standard deviation of {} is {}; its variance is largest at {}.").format(
        W.markup, spread, peak
    )


def weight_variances(family: Family) -> dict[str, list[float]]:
    """The variance of W of the smallest machines against the control parameter, as a curve."""
    rows = [
        (m["value"], m["weights"]["W"]["variance"])
        for m in family.machines("main", smallest(family))
        if m.get("weights")
    ]
    return {"x": [x for x, _ in rows], "values": [v for _, v in rows], "errors": [0.0 for _ in rows]}


def figure_3a(family: Family) -> Chart:
    rows = []
    for value, machine, _ in landmark_machines(family):
        numbers, arrays = weights_of(family, machine)
        if "filters" not in arrays:
            raise Missing("the configurations have no lattice on which to wrap filters")
        deviation = float(numbers["W"]["variance"]) ** 0.5
        rows.append((at(family.run, value), arrays["filters"], deviation))
    layer = " One layer of the cube is shown." if family.dimension == 3 else ""
    told = Markup(", ").join(
        Markup("{} at {}").format(percent(_majority(filters), digits=0), label.markup)
        for label, filters, _ in rows
    )
    caption = Markup(
        "The first {} filters of machines with {}, wrapped to the lattice; each row has its own colour "
        "scale, two standard deviations of {} to either side of zero.{} In these filters the more frequent "
        "sign has {} of the weights."
    ).format(FILTERS_SHOWN, size_label(smallest(family)).markup, W.markup, layer, told)
    figure = filter_rows(rows, FILTERS_SHOWN)
    return Chart(f"fig-3a-{family.name}", "Fig. 3a", "Filters: " + name_of(family), caption, figure)


def _majority(filters: NDArray[Any]) -> float:
    """The share of weights that have the more frequent sign of their filter, averaged over filters."""
    positive = (filters > 0).reshape(len(filters), -1).mean(axis=1)
    return float(np.maximum(positive, 1 - positive).mean())


def _sums_panel(
    family: Family, title: str, x_label: Label, name: str, inset: Callable[[Family], Panel | None]
) -> Panel:
    """Distributions of sums at the landmarks, and what becomes of them with temperature."""
    place, histograms = (0.62, 0.6, 0.37, 0.37), landmark_histograms(family, name)
    return Panel(
        plain(title), x_label, DENSITY, histograms, inset=inset(family), inset_at=place, headroom=0.55
    )


def figure_3b(family: Family) -> Chart:
    panel = _sums_panel(family, "Filter sums", FILTER_SUM, "filter_sums", abs_variance_panel)
    peak = peak_of(_curve(family, "filter_sum_abs_variance"))
    where = (
        Markup("") if peak is None else Markup(" It is largest at {}.").format(at(family.run, peak[0]).markup)
    )
    caption = Markup(
        "Distribution of the sums of filters, divided by {}, below, near and above the transition ({}). "
        "Sarle's coefficient, 1/3 for one Gaussian peak, 5/9 for a flat distribution and 1 for two sharp "
        "peaks, is {}. Inset (on screen the second panel): variance of the absolute filter sum for each "
        "{}.{}"
    ).format(
        N_VISIBLE.markup, size_label(smallest(family)).markup, _bimodality(family), N_HIDDEN.markup, where
    )
    return curves_chart(
        f"fig-3b-{family.name}", "Fig. 3b", "Filter sums: " + name_of(family), caption, [panel], height=2.6
    )


def _bimodality(family: Family) -> Markup:
    told = []
    for value, machine, _ in landmark_machines(family):
        coefficient = weights_of(family, machine)[0]["filter_sums"]["bimodality"]
        told.append(Markup("{} at {}").format(short(coefficient, 2), at(family.run, value).markup))
    return Markup(", ").join(told)


def abs_variance_panel(family: Family) -> Panel:
    """Variance of |filter sum| against the control parameter, one curve per size."""
    found: list[Series] = []
    for index, item in enumerate(family.indicators()):
        label = size_label(item["n_hidden"])
        found += curve_series(label, item["curves"].get("filter_sum_abs_variance"), index)
    if not found:
        raise Missing("filter sums were not followed over the temperatures")
    title = plain("Variance of |filter sum|")
    return Panel(title, control_label(family.run), ABS_VARIANCE, tuple(found), critical_mark(family))


def figure_3c(family: Family) -> Chart:
    panel = _sums_panel(family, "Inverse-filter sums", INVERSE_SUM, "inverse_filter_sums", _correlation_panel)
    caption = Markup(
        "Distribution of the sums of inverse filters, divided by {} ({}). Inset (on screen the second "
        "panel): correlation of two inverse filters, divided by that at distance 0, against the distance "
        "{} of their sites, averaged over all pairs.{}"
    ).format(
        N_HIDDEN.markup, size_label(smallest(family)).markup, DISTANCE.markup, _at_a_distance(panel.inset)
    )
    return curves_chart(
        f"fig-3c-{family.name}",
        "Fig. 3c",
        "Inverse-filter sums: " + name_of(family),
        caption,
        [panel],
        height=2.6,
    )


def _at_a_distance(panel: Panel | None) -> Markup:
    """The correlations halfway to the largest distance shown."""
    if panel is None or not all(len(item.x) for item in panel.series):
        return Markup("")
    place = int(np.argmin(np.abs(panel.series[0].x - panel.series[0].x.max() / 2)))
    told = [Markup("{} at {}").format(short(item.y[place], 2), item.name.markup) for item in panel.series]
    distance = short(panel.series[0].x[place], 3)
    return Markup(" At {} = {} it is {}.").format(DISTANCE.markup, distance, Markup(", ").join(told))


def _correlation_panel(family: Family) -> Panel | None:
    """Correlation of inverse filters against distance at the landmarks; None without a lattice."""
    found = []
    for value, machine, chosen in landmark_machines(family):
        arrays = weights_of(family, machine)[1]
        if "correlation.distances" not in arrays:
            return None
        r = arrays["correlation.distances"]
        kept = (r > 0) & (r <= min(family.values["shape"]) / 2)
        values = (arrays[f"correlation.{name}"][kept] for name in ("distances", "values", "errors"))
        found.append(series(at(family.run, value), *values, colour=chosen, marker="circle", width=0.8))
    title = plain("Correlation of inverse filters")
    return Panel(title, DISTANCE + plain(" (lattice spacings)"), CORRELATION, tuple(found))


def fixed_distance(family: Family) -> Chart:
    """Supplement: correlation of inverse filters at fixed distances against the control parameter."""
    panels = [_fixed_distance_panel(family, index) for index in range(len(family.indicators()))]
    kept = [panel for panel in panels if panel.series]
    if not kept:
        raise Missing("the configurations have no lattice, so that inverse filters have no distance")
    caption = Markup(
        "Correlation of two inverse filters at fixed distances {}, divided by that at distance 0, against "
        "{}. Where it is largest, the machine sees the longest correlations."
    ).format(DISTANCE.markup, control_symbol(family.run).markup)
    title = "Inverse-filter correlation at fixed distance: " + name_of(family)
    return curves_chart(
        f"supp-correlation-{family.name}", "Supp.", title, caption, kept, columns=min(2, len(kept))
    )


def _fixed_distance_panel(family: Family, index: int) -> Panel:
    item = family.indicators()[index]
    names = [name for name in item["curves"] if name.startswith("correlation_r")]
    found: list[Series] = []
    for place, name in enumerate(names):
        label = DISTANCE + f" = {name.removeprefix('correlation_r')}"
        found += curve_series(label, item["curves"][name], place)
    title = name_of(family) + ", " + size_label(item["n_hidden"])
    return Panel(title, control_label(family.run), CORRELATION, tuple(found), critical_mark(family))


def filter_sum_variance(run: Run) -> Chart:
    """Supplement: the inset of figure 3b by itself, for all families."""
    panels = []
    for family in run.families:
        if any(item["curves"].get("filter_sum_abs_variance") for item in family.indicators()):
            panels.append(replace(abs_variance_panel(family), title=name_of(family)))
    if not panels:
        raise Missing("filter sums were not followed over the temperatures")
    caption = Markup(
        "Variance of the absolute filter sum, ⟨|Σ<sub>j</sub><i>W<sub>ij</sub></i>|²⟩ − "
        "⟨|Σ<sub>j</sub><i>W<sub>ij</sub></i>|⟩², over the hidden units of each machine, with its error."
    )
    title = plain("Variance of |filter sum|")
    return curves_chart("supp-filter-sums", "Supp.", title, caption, panels, columns=min(2, len(panels)))


def _curve(family: Family, name: str) -> dict[str, list[float]] | None:
    items = family.indicators()
    return items[0]["curves"].get(name) if items else None
