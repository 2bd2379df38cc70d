"""T_c of the infinite lattice: what indicators find on lattices of several sides, and where that leads."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import Chart, curves_chart
from thermorbm.report.labels import TC, Label, T, cell, percent, plain, text
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.rules import indicator_label
from thermorbm.report.run import Run, need, need_some
from thermorbm.report.section import Cell, PageTable, Section
from thermorbm.report.sections.scaling import INVERSE_SIDE, known_line
from thermorbm.report.style import COLOURS, colour, marker
from thermorbm.study.results import Extrapolation, ExtrapolationPoint, ExtrapolationRow

PART = Section("extrapolation", "The infinite lattice")  # of the section on T_c

GROUPS = {None: "configurations", "main": "dense machines"}
WORST_FIT = 6.63  # chi-squared per degree of freedom, beyond which the points lie on no such curve (p = 0.01)
N_CURVE = 40
NO_FIT = "the peaks of this indicator were not fitted"


@PART.figure("extrapolation", "Beyond", "The infinite lattice")
def figures(run: Run) -> list[Chart]:
    """One figure for each set of lattices: peaks against L^(-1/nu), those of alike machines in one panel."""
    charts = [_figure(run, item) for item in run.results.extrapolations]
    return need_some(charts, "the study has no lattices of several sides to be joined")


@PART.table
def extrapolation_tables(run: Run) -> list[PageTable]:
    return [_table(item) for item in run.results.extrapolations]


def _figure(run: Run, item: Extrapolation) -> Chart:
    panels: list[Panel] = []
    end = 1.05 * min(item.sides) ** (-1 / item.nu)
    infinite = [] if item.infinite is None else [known_line(end, item.infinite, TC + " known")]
    fitted = [row for row in item.rows if row.estimate is not None]
    indicators = list(dict.fromkeys(row.indicator for row in fitted))
    for group in dict.fromkeys(row.variant for row in fitted):
        rows = [row for row in fitted if row.variant == group]
        curves = [curve for row in rows for curve in _curves(item, row, indicators.index(row.indicator))]
        title = plain(GROUPS.get(group, f"machines: {group}"))
        panels.append(Panel(title, INVERSE_SIDE, run.control_label, (*infinite, *curves)))
    caption = text(
        "Peaks on lattices of side {0} with one standard error, and the fits $T_c$ + <i>a x</i> + "
        "<i>c x</i>² in <i>x</i> = {1} with ν = {2:g}. At <i>x</i> = 0: $T_c$ of the infinite lattice "
        "by each indicator. {3}",
        ", ".join(map(str, item.sides)), INVERSE_SIDE, item.nu, best_indicators(item),
    )  # fmt: skip
    id, title = f"-{item.name}", plain(f": {item.name}")
    return curves_chart(caption, panels, id, title, columns=min(2, len(panels)), height=2.8)


def _curves(item: Extrapolation, row: ExtrapolationRow, index: int) -> list[Series]:
    """The fit as a line, and the points, that at x = 0 among them."""
    sides = np.array(item.sides, dtype=np.float64)
    x = sides ** (-1 / item.nu)
    points = [row.estimate, *(row.points[str(side)].estimate for side in item.sides)]
    peaks = [need(point, NO_FIT) for point in points]
    fine = np.linspace(0, 1.05 * x.max(), N_CURVE)
    constant, slope, curvature = (need(m, NO_FIT).value for m in (row.estimate, row.slope, row.curvature))
    fit = constant + (slope + curvature * fine) * fine
    name, look = indicator_label(row.indicator, row.feature, T), {"colour": colour(index)}
    dots: dict[str, Any] = {**look, "marker": marker(index + index // len(COLOURS)), "dash": None}
    return [
        series(name, fine, fit, width=0.7, listed=False, **look),
        series(name, [0.0, *x], [p.value for p in peaks], [p.error for p in peaks], **dots),
    ]


def best_indicators(item: Extrapolation) -> Markup:
    """Of the machines' indicators whose fit holds: that with the smallest error, and the nearest to T_c."""
    rows = fits_that_hold(item)
    if not rows or not item.infinite:
        return Markup("")
    sentences = []
    sharpest = min(rows, key=lambda row: need(row.estimate, NO_FIT).error)
    nearest = min(rows, key=lambda row: abs(row.relative_to_infinite or 0.0))
    for words, best in (
        ("Of the machines' indicators the smallest error has", sharpest),
        ("nearest to the known value is", nearest),
    ):
        off = percent(best.relative_to_infinite, signed=True)
        sentences.append(text("{} {}, {} ({})", words, _label(best), cell(best.estimate), off))
    return Markup("; ").join(sentences) + "."


def fits_that_hold(item: Extrapolation) -> list[ExtrapolationRow]:
    """Rows of the machines' indicators whose points lie on one curve."""
    rows = [row for row in item.rows if row.variant is not None and row.estimate is not None]
    return [row for row in rows if (row.chi_squared or 0.0) < WORST_FIT * (row.n_degrees or 0)]


def _label(row: ExtrapolationRow) -> Label:
    """The indicator, and which machines tell it."""
    group = "" if row.variant in (None, "main") else f", {row.variant}"
    return indicator_label(row.indicator, row.feature, T) + group


def _table(item: Extrapolation) -> PageTable:
    sides = [str(side) for side in item.sides]
    columns: list[Cell] = ["Indicator"]
    for side in sides:
        columns += [f"L = {side}", "off target"]
    columns += ["infinite", "off", "χ²"]
    caption = text("<b>{}</b>: $T_c$ on each lattice, and extrapolated", item.name)
    return PageTable(columns, [_cells(row, sides) for row in item.rows], caption, is_open=True)


def _cells(row: ExtrapolationRow, sides: list[str]) -> list[Cell]:
    cells: list[Cell] = [_label(row).html]
    for side in sides:
        point = row.points[side]
        # A target that equals the estimate is the same peak of the same samples.
        distance = None if point.problem else point.relative_to_target or None
        cells += [_number(point), percent(distance, signed=True)]
    if row.estimate is None:
        return [*cells, "none", "–", "–"]
    off = percent(row.relative_to_infinite, signed=True)
    return [*cells, _number(row), off, f"{row.chi_squared:.2g}"]


def _number(peak: ExtrapolationRow | ExtrapolationPoint) -> str:
    if peak.estimate is None or peak.problem:
        return "none"
    interval = peak.interval if isinstance(peak, ExtrapolationPoint) else None
    return cell(peak.estimate) if interval is None else "{:.4g}–{:.4g}".format(*interval)
