"""Critical temperatures by every indicator, each against its own target (table 2 and beyond)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from thermorbm.report.chart import Chart, curves_chart
from thermorbm.report.labels import NOTHING, TC, by_size, percent, plain, text
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.rules import NO_TC, TcEstimate, searched_by, tc_estimates
from thermorbm.report.run import FamilyView, Run, need, need_some
from thermorbm.report.section import (
    Cell,
    PageTable,
    Ruling,
    Section,
    decide,
    undecided,
)
from thermorbm.report.sections import extrapolation
from thermorbm.report.style import BLUE, PURPLE, VERMILION

SECTION = Section("critical", "Where the transition is")

Floats = NDArray[np.float64]

# In the order of the rows; "" for all other variants.
KINDS = {
    "data": "configurations", "main": "dense machines", "symmetric": "symmetric machines",
    "union": "all together", "": "variants",
}  # fmt: skip
FEW_ROWS, MOST_ROWS = 14, 26  # of a single panel, and of one of several
TARGETS = (
    " Bars: where that indicator peaks on this finite lattice, the exact heat capacity's peak or that of the "
    "susceptibility of the data."
)
OWN_TARGET, OFF_SCALE = plain("own target on this lattice"), plain("beyond the scale, see the table")
RANGE = plain("range (95 %), not resolved")
WIDEST = 0.1  # of T_c: estimates further off lie at the edge
# Table 2 of the paper: (dimension, role, hidden units or name of the entropy) -> T_c.
PAPER = {
    (2, "main", 400): 2.240, (2, "main", 900): 2.291, (2, "main", 1600): 2.316, (2, "main", 2500): 2.367,
    (2, "union", 400): 2.189, (2, "union", 900): 2.163, (2, "union", 1600): 2.214,
    (3, "main", 400): 4.444, (3, "main", 900): 4.434, (3, "main", 1600): 4.444,
    (2, "data", "entropy_per_spin"): 2.267, (2, "data", "pseudo_entropy_per_spin"): 2.367,
    (3, "data", "entropy_per_spin"): 4.390, (3, "data", "pseudo_entropy_per_spin"): 4.383,
}  # fmt: skip
PAPER_SIDES = {2: 64, 3: 16}
IN_TABLE_2 = (
    "pseudo_likelihood_train_per_spin",
    "pseudo_likelihood_per_spin",
    "entropy_per_spin",
    "pseudo_entropy_per_spin",
)


@SECTION.family_table()
def critical_table(family: FamilyView) -> PageTable:
    """Every indicator with its value, error, own target and distances."""
    columns = ("Indicator", family.run.critical_symbol.html, "Target", "Off target", "Off infinite")
    rows = [_row(item) for item in tc_estimates(family, shown=True)]
    return PageTable(columns, rows, text("{}: every indicator", family.title), _critical_note(family))


def _critical_note(family: FamilyView) -> Markup:
    note = text(
        "One standard error in brackets, or a range (95 %) where the points do not resolve the peak; target: "
        "the peak on this finite lattice"
    )
    if family.critical is None:
        return note
    return note + text("; $T_c$ = {:.6g} on the infinite one.", family.critical)


def _row(item: TcEstimate) -> list[Cell]:
    value: Cell = item.number
    distances = (item.distance, item.from_infinite)
    if not item.is_determined:
        value, distances = text("not determined <small>({})</small>", item.problem), (None, None)
    elif item.row.interval is not None:
        distances = (None, None)  # that of its middle would say nothing
    if item.is_determined and item.row.note:
        value = text("{} <small>({})</small>", value, item.row.note)
    machines = "" if item.role == "data" else text(" <small>{}</small>", item.machines)
    return [
        item.label.html + machines,
        value,
        "–" if item.target is None else f"{item.target:.4f}",
        *(percent(distance, signed=True) for distance in distances),
    ]


@SECTION.family_figure("critical", "Tab. 2", "The transition")
def draw_forest(family: FamilyView) -> list[Chart]:
    """Every estimate with its error and its target, one below the other; kinds of machines apart."""
    items = [item for item in tc_estimates(family, shown=True) if item.is_determined]
    need_some(items, NO_TC)
    parts = _parts(items)
    caption = text(
        "Dots: {} by each indicator with one standard error; thick lines: ranges (95 %) of peaks that the "
        "points do not resolve.{} {}",
        family.run.critical_symbol, TARGETS if any(item.target for item in items) else "",
        Markup(" ").join(_extremes(items)),
    )  # fmt: skip
    charts = []
    for start in range(0, len(parts), 2):
        panels = [forest_panel(family, part) for part in parts[start : start + 2]]
        height = 0.9 + 0.17 * max(len(panel.rows) for panel in panels)
        id, title = (f"-{start // 2 + 1}", plain(", continued")) if start else ("", NOTHING)
        charts.append(curves_chart(caption, panels, id, title, columns=len(panels), height=height))
    return charts


def _parts(items: list[TcEstimate]) -> list[list[TcEstimate]]:
    """The rows of each panel: kinds of machines together, panels alike, none longer than a page can hold."""
    rows = sorted(items, key=lambda item: list(KINDS).index(_kind(item)))
    n_panels = 1 if len(rows) <= FEW_ROWS else 2 * math.ceil(len(rows) / (2 * MOST_ROWS))
    length = math.ceil(len(rows) / n_panels)
    return [rows[start : start + length] for start in range(0, len(rows), length)]


def _kind(item: TcEstimate) -> str:
    return item.role if item.role in KINDS else ""


def forest_panel(family: FamilyView, items: list[TcEstimate]) -> Panel:
    """Estimates one below the other, each with its target, and T_c of the infinite lattice."""
    rows = tuple(item.short_label for item in items)
    y = -np.arange(len(items), dtype=np.float64)
    values = np.array([item.value for item in items])
    errors = np.array([item.error for item in items])
    targets = np.array([np.nan if item.target is None else item.target for item in items])
    limits = _limits(family, values, errors, targets)
    below, above = values < limits[0], values > limits[1]
    inside = ~(below | above)
    ranges = np.array([item.row.interval is not None for item in items])
    dotted = inside & ~ranges
    dots: dict[str, Any] = {"colour": BLUE, "marker": "circle", "dash": None, "sideways": True}
    curves = [
        series(plain("estimate"), values[dotted], y[dotted], errors[dotted], **dots),
        *_range_lines(items, y, inside & ranges),
        series(OWN_TARGET, targets, y, colour=VERMILION, marker="line-ns", dash=None),
    ]
    if not inside.all():
        edge = 0.015 * (limits[1] - limits[0])  # so that the marks are whole
        ends = np.where(below, limits[0] + edge, limits[1] - edge)[~inside]
        curves.append(series(OFF_SCALE, ends, y[~inside], colour=PURPLE, marker="x", dash=None))
    marks = () if family.critical is None else ((family.critical, TC + ", infinite lattice"),)
    title = plain(", ".join(dict.fromkeys(KINDS[_kind(item)] for item in items)))
    shown = tuple(item for item in curves if len(item.x))
    return Panel(title, family.run.control_label, plain(""), shown, marks, x_range=limits, rows=rows)


def _range_lines(items: list[TcEstimate], y: Floats, shown: NDArray[np.bool_]) -> list[Series]:
    """The 95 % intervals of peaks that are not resolved, one line each."""
    pairs = [(item.row.interval, y[k]) for k, item in enumerate(items) if shown[k]]
    return [
        series(RANGE, interval, [height, height], colour=BLUE, width=2.4, listed=index == 0)
        for index, (interval, height) in enumerate(pairs)
        if interval is not None
    ]


def _limits(family: FamilyView, values: Floats, errors: Floats, targets: Floats) -> tuple[float, float]:
    """An axis that a single estimate far off, or one with a large error, does not stretch."""
    middle = float(np.median(values)) if family.critical is None else family.critical
    near = values if family.critical is None else values[np.abs(values / middle - 1) < WIDEST]
    critical = [] if family.critical is None else [family.critical]
    shown = np.concatenate([near, targets[np.isfinite(targets)], critical])
    shown = shown if len(shown) else values
    margin = max(0.08 * float(np.ptp(shown)), 1.2 * float(np.median(errors)), 0.002 * abs(middle))
    return float(shown.min() - margin), float(shown.max() + margin)


def _extremes(items: list[TcEstimate]) -> list[Markup]:
    """The machines' estimate furthest from its target, and the one nearest to the infinite lattice."""
    machines = [
        item
        for item in items
        if item.role != "data" and item.distance is not None and item.row.interval is None
    ]
    if not machines:
        return []
    worst = max(machines, key=lambda item: abs(item.distance or 0))
    words = [_ranked("Of the machines' indicators the furthest from its target", worst, worst.distance)]
    if machines[0].infinite:
        best = min(machines, key=lambda item: abs(item.from_infinite or 0))
        words.append(_ranked("Nearest to the infinite lattice", best, best.from_infinite))
    return words


def _ranked(words: str, item: TcEstimate, distance: float | None) -> Markup:
    return text("{} is {} ({}): {}.", words, item.label, item.machines, percent(distance, signed=True))


@SECTION.table
def table_2(run: Run) -> list[PageTable]:
    """T_c from the slope of L~, S and S~ beside the values of the paper where lattice and size agree."""
    rows = [
        _table_2_row(family, item)
        for family in run.views
        for item in tc_estimates(family, shown=True)
        if item.row.indicator in IN_TABLE_2 and not (family.as_paper and item.role == "data")
    ]
    if not rows or not run.speaks_of_paper:
        return []
    note = text(
        "The paper has, on 64×64: 2.240, 2.291, 2.316, 2.367 for $n_h$ = 400, 900, 1600, 2500, 2.267 from "
        "<i>S</i>, 2.367 from <i>S̃</i>; all temperatures together 2.189, 2.163, 2.214; on 16×16×16: "
        "4.444, 4.434, 4.444, 4.390 from <i>S</i>, 4.383 from <i>S̃</i>."
    )  # fmt: skip
    columns = ("Data", "From", "Machines", "This study", "Paper", "Infinite lattice")
    caption = text("Table 2: $T_c$ from entropies and pseudo-likelihoods, beside the paper's")
    return [PageTable(columns, rows, caption, note, is_open=True)]


def _table_2_row(family: FamilyView, item: TcEstimate) -> list[Cell]:
    return [
        family.name,
        item.label.html,
        item.machines.html,
        item.number if item.is_determined else "not determined",
        _paper(family, item),
        "–" if family.critical is None else f"{family.critical:.4f}",
    ]


def _paper(family: FamilyView, item: TcEstimate) -> str:
    shape = family.shape or ()
    key = item.row.indicator if item.n_hidden is None else item.n_hidden
    same = set(shape) == {PAPER_SIDES.get(len(shape))}
    value = PAPER.get((len(shape), item.role, key)) if same else None
    return "–" if value is None else f"{value:.3f}"


@SECTION.claim(
    "tc-three-percent", "Tab. 2", r"$T_c$ from $T\,$d$\widetilde{\mathcal{L}}/$d$T$ is right within 1–3 %."
)
def within_three_percent(family: FamilyView) -> Ruling:
    """Every size within 3 % of T_c of the infinite lattice; inconclusive where one is not determined."""
    critical = need(family.critical, "T_c is not known")
    items = searched_by(family, "main", family.scored("pseudo_likelihood_per_spin"))
    rows = []
    for item in items:
        number = f"{item.number} ({percent(item.from_infinite, signed=True)})"
        rows.append((item.n_hidden or 0, number if item.is_determined else "not determined"))
    words, determined = by_size(rows), [item for item in items if item.is_determined]
    is_close = all(abs(i.value / critical - 1) <= 0.03 for i in determined)
    if is_close and len(determined) < len(items):
        return undecided("{}", words)
    return decide(is_close, "{}", words)


SECTION.include(extrapolation.PART)
