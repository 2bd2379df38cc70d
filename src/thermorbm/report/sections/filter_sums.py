"""Sums of filters and of inverse filters, and how inverse filters correlate (figures 3b and 3c)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import (
    Chart,
    control_panel,
    curve_series,
    curves_chart,
    landmark_histograms,
    landmark_machines,
    peak_of,
)
from thermorbm.report.labels import DENSITY, WEIGHTS, Label, axis, list_with, plain, short, size_label, text
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.rules import (
    FLAT,
    check_gaussian,
    check_peak,
    mean_in_deviations,
    moments_at_landmarks,
    moments_of,
    searched_by,
    tc_estimates,
)
from thermorbm.report.run import FamilyView, Run, need_some, points
from thermorbm.report.section import Ruling, Section, decide

PART = Section("filter-sums", "Sums of filters")  # of the section on weights
SUPPLEMENT = Section("filter-sums-more", "More on sums of filters")

CORRELATION = Label(r"$\langle w_{:j}\cdot w_{:j'}\rangle$")
DISTANCE = Label("$r$")
AT_DISTANCE = "correlation_r"  # and the distance: names of curves
INSET_PLACE = (0.62, 0.6, 0.37, 0.37)
NOT_FOLLOWED = "filter sums were not followed over the temperatures"


def _sums_panel(
    family: FamilyView, title: str, name: str, draw_inset: Callable[[FamilyView], Panel | None]
) -> Panel:
    """Distributions of sums at the landmarks, and what becomes of them with temperature."""
    look: dict[str, Any] = {"inset": draw_inset(family), "inset_at": INSET_PLACE, "headroom": 0.55}
    return Panel(plain(title), WEIGHTS[name], DENSITY, landmark_histograms(family, name), **look)


@PART.family_figure("fig-3b", "Fig. 3b", "Filter sums")
def draw_filter_sums(family: FamilyView) -> Chart:
    family.check_uniform_order()
    panel = _sums_panel(family, "Filter sums", "filter_sums", abs_variance_panel)
    peak = peak_of(family.curve("main", family.smallest(), "filter_sum_abs_variance"))
    where = "" if peak is None else text(" It is largest at {}.", family.at(peak[0]))
    _, bimodality = moments_at_landmarks(family, "filter_sums", "bimodality")
    caption = text(
        "Distribution of the sums of filters, divided by $n_v$, below, near and above the transition ({}). "
        "Sarle's coefficient, 1/3 for one Gaussian peak, 5/9 for a flat distribution and 1 for two sharp "
        "peaks, is {}. Inset (on screen the second panel): variance of the absolute filter sum for each "
        "$n_h$.{}", size_label(family.smallest()), bimodality, where,
    )  # fmt: skip
    return curves_chart(caption, [panel], height=2.6)


def abs_variance_panel(family: FamilyView) -> Panel:
    """Variance of |filter sum| against the control parameter, one curve per size."""
    curves: list[Series] = []
    for index, item in enumerate(family.results.indicators_of()):
        curve = points(item.curves.get("filter_sum_abs_variance"))
        curves += curve_series(size_label(item.n_hidden), curve, index)
    need_some(curves, NOT_FOLLOWED)
    return control_panel(family, plain("Variance of |filter sum|"), axis("filter_sum_abs_variance"), curves)


@PART.family_figure("fig-3c", "Fig. 3c", "Inverse-filter sums")
def draw_inverse_sums(family: FamilyView) -> Chart:
    panel = _sums_panel(family, "Inverse-filter sums", "inverse_filter_sums", _correlation_panel)
    caption = text(
        "Distribution of the sums of inverse filters, divided by $n_h$ ({}). Inset (on screen the second "
        "panel): correlation of two inverse filters, divided by that at distance 0, against the distance "
        "$r$ of their sites, averaged over all pairs.{}",
        size_label(family.smallest()), _halfway_correlations(panel.inset),
    )  # fmt: skip
    return curves_chart(caption, [panel], height=2.6)


def _halfway_correlations(panel: Panel | None) -> Markup:
    """The correlations halfway to the largest distance shown."""
    if panel is None or not all(len(item.x) for item in panel.series):
        return Markup("")
    place = int(np.argmin(np.abs(panel.series[0].x - panel.series[0].x.max() / 2)))
    values = [(short(item.y[place], 2), item.name) for item in panel.series]
    distance = short(panel.series[0].x[place], 3)
    return text(" At $r$ = {} it is {}.", distance, list_with(" at ", values))


def _correlation_panel(family: FamilyView) -> Panel | None:
    """Correlation of inverse filters against distance at the landmarks; None without a lattice."""
    curves = []
    for value, machine, chosen in landmark_machines(family):
        arrays = family.weights(machine)[1]
        if "correlation.distances" not in arrays:
            return None
        r = arrays["correlation.distances"]
        kept = (r > 0) & (r <= min(family.shape or [0]) / 2)
        r, y, errors = (arrays[f"correlation.{name}"][kept] for name in ("distances", "values", "errors"))
        look: dict[str, Any] = {"colour": chosen, "marker": "circle", "width": 0.8}
        curves.append(series(family.at(value), r, y, errors, band=(y - errors, y + errors), **look))
    title = plain("Correlation of inverse filters")
    return Panel(title, DISTANCE + " (lattice spacings)", CORRELATION, tuple(curves))


@SUPPLEMENT.figure("supp-filter-sums", "Supp.", "Variance of |filter sum|")
def draw_abs_variances(run: Run) -> Chart:
    """Supplement: the inset of figure 3b by itself, for all families."""
    panels = []
    for family in [family for family in run.families if family.results.orders_uniformly]:
        if any(points(item.curves.get("filter_sum_abs_variance")) for item in family.results.indicators_of()):
            panels.append(replace(abs_variance_panel(family), title=family.title))
    need_some(panels, NOT_FOLLOWED)
    caption = Markup(
        "Variance of the absolute filter sum, ⟨|Σ<sub>j</sub><i>W<sub>ij</sub></i>|²⟩ − "
        "⟨|Σ<sub>j</sub><i>W<sub>ij</sub></i>|⟩², over the hidden units of each machine, with its error."
    )
    return curves_chart(caption, panels, columns=min(2, len(panels)))


@SUPPLEMENT.family_figure("supp-correlation", "Supp.", "Inverse-filter correlation at fixed distance")
def draw_fixed_distances(family: FamilyView) -> Chart:
    """Supplement: correlation of inverse filters at fixed distances against the control parameter."""
    panels = []
    for item in family.results.indicators_of():
        names = [name for name in item.curves if name.startswith(AT_DISTANCE)]
        curves: list[Series] = []
        for index, r in enumerate(sorted(int(name.removeprefix(AT_DISTANCE)) for name in names)):
            curves += curve_series(DISTANCE + f" = {r}", points(item.curves[f"{AT_DISTANCE}{r}"]), index)
        if curves:
            title = family.title + ", " + size_label(item.n_hidden)
            panels.append(control_panel(family, title, CORRELATION, curves))
    need_some(panels, "the configurations have no lattice, so that inverse filters have no distance")
    caption = text(
        "Correlation of two inverse filters at fixed distances $r$, divided by that at distance 0, against "
        "{}. Where it is largest, the machine sees the longest correlations.",
        family.run.control_symbol,
    )  # fmt: skip
    return curves_chart(caption, panels, columns=min(2, len(panels)))


@PART.claim("filter-sums", "Fig. 3b", "The distribution of filter sums goes from two peaks to one.")
def two_peaks_become_one(family: FamilyView) -> Ruling:
    """Sarle's coefficient above 5/9 at the low and below at the high temperature."""
    coefficients, words = moments_at_landmarks(family, "filter_sums", "bimodality")
    return decide(coefficients[0] > FLAT > coefficients[-1], "Sarle's coefficient {}", words)


PART.claim("filter-sum-peak", "Fig. 3b", "The variance of |filter sum| peaks at $T_c$.")(
    check_peak("main", "filter_sum_abs_variance")
)


@PART.claim("inverse-sums", "Fig. 3c", "Inverse-filter sums are Gaussian with a mean near zero.")
def inverse_sums_gaussian(family: FamilyView) -> Ruling:
    """Moments: |excess kurtosis| <= 1, |skewness| <= 0.5 and |mean| <= one standard deviation."""
    is_gaussian, moments = check_gaussian(family, "inverse_filter_sums")
    rows = [moments_of(machine, "inverse_filter_sums") for _, machine, _ in landmark_machines(family)]
    ratio = max(mean_in_deviations(row.mean, math.sqrt(row.variance)) for row in rows)
    words = "{}; |mean| at most {} standard deviations"
    return decide(is_gaussian and ratio <= 1, words, moments, short(ratio, 2))


@PART.claim(
    "correlation-peak", "Fig. 3c", "The correlation of inverse filters at fixed distance peaks near $T_c$."
)
def correlation_peaks(family: FamilyView) -> Ruling:
    """T_c of every size within 3 % of its target at r = a sixteenth of the side, at least 2."""
    ruling = check_peak("main", AT_DISTANCE)(family)
    judged = {row.row.indicator for row in searched_by(family, "main", AT_DISTANCE)}
    others: dict[str, list[str]] = {}
    for row in tc_estimates(family):
        if row.role == "main" and row.row.indicator.startswith(AT_DISTANCE):
            number = row.number if row.is_determined else "none"
            others.setdefault(row.row.indicator, []).append(number)
    at = {name: name.removeprefix(AT_DISTANCE) for name in others}
    rest = [(f"r = {at[name]}", ", ".join(numbers)) for name, numbers in others.items() if name not in judged]
    words = text("$r$ = {}: {}", ", ".join(at[name] for name in sorted(judged)), ruling.measured)
    if rest:
        words += text("; at other distances {}", list_with(": ", rest, "; "))
    return Ruling(ruling.judgement, words)
