"""Finite-size scaling: Binder crossings, T_c of finite lattices, data collapse, exponents and known ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from thermorbm.report.chart import Chart, curves_chart
from thermorbm.report.labels import TC, Label, Measured, cell, plain, text
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import Missing, Run, need_some
from thermorbm.report.section import Cell, PageTable, Section
from thermorbm.report.style import BLACK, BLUE, GREY, VERMILION, colour
from thermorbm.study.quantities import Arrays
from thermorbm.study.result_curves import Exponents, Scaling

SECTION = Section("scaling", "Finite-size scaling")

BINDER, KNOWN = Label("$U_4$"), plain("known")
SCALED_T = Label(r"$(T - T_c)\,L^{1/\nu}$")
INVERSE_SIDE = Label(r"$L^{-1/\nu}$")
# Peaks of the configurations' own curves, by their names in the results.
PEAKS = {"heat_capacity_per_spin": "peak of $c_V$", "susceptibility_per_spin": r"peak of $\chi_{|m|}$"}
PEAK_COLOURS, PEAK_MARKERS = (BLUE, VERMILION), ("square", "diamond")
ROWS = {
    "temperature": "$T_c$",
    "binder": "$U_4$ at $T_c$",
    "nu": r"$\nu$",
    "beta_over_nu": r"$\beta/\nu$",
    "gamma_over_nu": r"$\gamma/\nu$",
    "beta": r"$\beta$",
    "gamma": r"$\gamma$",
}


def for_each_lattice(draw: Callable[[Run, Scaling, Exponents], Chart]) -> Callable[[Run], list[Chart]]:
    """From a function that draws one lattice at several sides to one that draws all of a run."""

    @wraps(draw)
    def charts(run: Run) -> list[Chart]:
        return [
            replace(draw(run, item, fit), id=f"-{item.name}", title=plain(f": {item.name}"))
            for item, fit in fitted_scalings(run)
        ]

    return charts


@SECTION.figure("binder", "Beyond", "Binder crossing")
@for_each_lattice
def draw_binder(run: Run, item: Scaling, fit: Exponents) -> Chart:
    """U4 over the temperature for every side, and where neighbouring sides cross."""
    panels = [binder_panel(run, item, fit), _crossing_values(item, fit)]
    caption = text(
        "Left: {0} of lattices of side <i>L</i>, by reweighting, with one standard error as a band; dashed: "
        "$T_c$ of the fit, {1}. Right: {0} where neighbouring sides cross, and at $T_c$ of the infinite "
        "lattice, {2}.",
        BINDER, cell(fit.temperature), cell(fit.binder),
    )  # fmt: skip
    return curves_chart(caption, panels, columns=2, height=2.8)


def binder_panel(run: Run, item: Scaling, fit: Exponents) -> Panel:
    """U4 of every side around T_c of the fit."""
    arrays = _arrays(run, item)
    curves = []
    for index, side in enumerate(item.sides):
        x, y, error = (arrays[f"L{side}.{name}"] for name in ("temperature", "binder", "binder.errors"))
        look: dict[str, Any] = {"colour": colour(index), "band": (y - error, y + error), "width": 0.9}
        curves.append(series(_side(side), x, y, **look))
    middle = item.sides[len(item.sides) // 2]
    reach = 0.6 * float(np.ptp(arrays[f"L{middle}.temperature"]))
    around = (fit.temperature.value - reach / 2, fit.temperature.value + reach / 2)
    inside = np.concatenate([c.y[(c.x > around[0]) & (c.x < around[1])] for c in curves])
    heights = (float(inside.min()) - 0.01, float(inside.max()) + 0.01)
    title, marks = plain("Binder's cumulant"), ((fit.temperature.value, TC),)
    return Panel(title, run.control_label, BINDER, tuple(curves), marks, x_range=around, y_range=heights)


def _side(side: int) -> Label:
    return Label(f"$L$ = {side}")


def _crossing_values(item: Scaling, fit: Exponents) -> Panel:
    """U4 at the crossings against the larger side, with that of the infinite lattice at 0."""
    x = [0.0, *(1 / crossing.sides[1] for crossing in item.crossings)]
    values = [fit.binder, *(crossing.binder for crossing in item.crossings)]
    curves = [_points(plain("crossings"), x, values, BLACK, "circle")]
    if item.known is not None:
        curves.insert(0, known_line(1.05 * max(x), item.known.binder))
    return Panel(plain("at the crossings"), Label("$1/L$ of the larger side"), BINDER, tuple(curves))


def _points(name: Label, x: list[float], values: Sequence[Measured], look: str, shape: str) -> Series:
    heights, errors = ([getattr(each, key) for each in values] for key in ("value", "error"))
    return series(name, x, heights, errors, colour=look, marker=shape, dash=None)


def known_line(end: float, value: float, name: Label = KNOWN) -> Series:
    """What is known of the infinite lattice, from x = 0 to `end`."""
    return series(name, [0.0, end], [value] * 2, colour=GREY, dash="dash", width=0.8)


@SECTION.figure("sides", "Beyond", "Transition of finite lattices")
@for_each_lattice
def draw_sides(run: Run, item: Scaling, fit: Exponents) -> Chart:
    """T_c by crossings and by peaks, against the side."""
    scale = -1 / fit.nu.value
    x = [crossing.sides[1] ** scale for crossing in item.crossings]
    crossings = _points(
        plain("Binder crossings"), [0.0, *x], [fit.temperature, *(c.temperature for c in item.crossings)],
        BLACK, "circle",
    )  # fmt: skip
    end = 1.05 * item.sides[0] ** scale
    lines = [] if item.known is None else [known_line(end, item.known.temperature)]
    near = [] if item.known is None else [known_line(1.05 * max(x), item.known.temperature)]
    panels = [
        Panel(
            plain("crossings and peaks"), INVERSE_SIDE, run.control_label,
            (*lines, crossings, *_peaks(run, item, scale)),
        ),
        Panel(plain("crossings alone"), INVERSE_SIDE, run.control_label, (*near, crossings)),
    ]  # fmt: skip
    caption = text(
        "Left: where {0} of neighbouring sides crosses, at the larger side, and where heat capacity and "
        "susceptibility of each lattice peak, against {1}; at 0: $T_c$ of the fit. Right: the crossings "
        "alone. One standard error.", BINDER, INVERSE_SIDE,
    )  # fmt: skip
    return curves_chart(caption, panels, columns=2, height=2.8)


def _peaks(run: Run, item: Scaling, scale: float) -> list[Series]:
    families = {family.name: family for family in run.results.families}
    curves = []
    for place, (name, words) in enumerate(PEAKS.items()):
        rows = [
            ((families[key].shape or (1,))[0] ** scale, row.estimate)
            for key in item.families
            for row in families[key].critical_temperatures
            if row.indicator == name and row.variant is None and row.estimate is not None
        ]
        x, values = [row[0] for row in rows], [row[1] for row in rows]
        curves.append(_points(Label(words), x, values, PEAK_COLOURS[place], PEAK_MARKERS[place]))
    return curves


@SECTION.figure("collapse", "Beyond", "Data collapse")
@for_each_lattice
def draw_collapse(run: Run, item: Scaling, fit: Exponents) -> Chart:
    """U4, |m| and m^2 of all sides as functions of one variable."""
    arrays = _arrays(run, item)
    beta, gamma = fit.beta_over_nu.value, fit.gamma_over_nu.value
    columns = (
        ("binder", "Binder's cumulant", 0.0, BINDER),
        ("order", "order", beta, Label(r"$\langle|m|\rangle\,L^{\beta/\nu}$")),
        ("square", "squared order", -gamma, Label(r"$N\langle m^2\rangle\,L^{-\gamma/\nu}$")),
    )
    panels = []
    for name, title, power, label in columns:
        curves = []
        for index, side in enumerate(item.sides):
            t, y = arrays[f"L{side}.temperature"], arrays[f"L{side}.{name}"]
            x = (t - fit.temperature.value) * side ** (1 / fit.nu.value)
            curves.append(series(_side(side), x, y * side**power, colour=colour(index), width=0.9))
        panels.append(Panel(plain(title), SCALED_T, label, tuple(curves)))
    caption = text(
        "Curves of all sides against {} with the exponents of the fit, {} = {}, {} = {}, {} = {}: they fall "
        "on one where corrections to scaling are small.",
        SCALED_T, Label(ROWS["nu"]), cell(fit.nu), Label(ROWS["beta_over_nu"]), cell(fit.beta_over_nu),
        Label(ROWS["gamma_over_nu"]), cell(fit.gamma_over_nu),
    )  # fmt: skip
    return curves_chart(caption, panels, columns=3, height=2.5)


@SECTION.table
def scaling_tables(run: Run) -> list[PageTable]:
    """T_c and exponents beside what is known, one table for each set of lattices."""
    return [_table(item, item.fit) for item in run.results.scalings if item.fit is not None]


def _table(item: Scaling, fit: Exponents) -> PageTable:
    rows = [_row(name, getattr(fit, name), getattr(item.known, name, None)) for name in ROWS]
    for crossing in item.crossings:
        words = text("crossing of <i>L</i> = {} and {}", *crossing.sides)
        rows.append(
            [words, text("{}, {} = {}", cell(crossing.temperature), BINDER, cell(crossing.binder)), "–", "–"]
        )
    sides = ", ".join(map(str, item.sides))
    caption = text("<b>{}</b>: finite-size scaling of the configurations, <i>L</i> = {}", item.name, sides)
    note = text(
        "χ² of {} about its fit: {:.0f} for {} degrees of freedom; neighbouring temperatures share their "
        "noise. Corrections fall as <i>L</i><sup>−{:g}</sup>.",
        BINDER, fit.chi_squared, fit.n_degrees, item.omega,
    )  # fmt: skip
    columns = ("", "measured", "known", "difference in errors")
    return PageTable(columns, rows, caption, note, is_open=True)


def _row(name: str, measured: Measured, known: float | None) -> list[Cell]:
    label = Label(ROWS[name]).html
    if known is None:
        return [label, cell(measured), "–", "–"]
    return [label, cell(measured), f"{known:.6g}", f"{(measured.value - known) / measured.error:+.1f}"]


def fitted_scalings(run: Run) -> list[tuple[Scaling, Exponents]]:
    pairs = [(item, item.fit) for item in run.results.scalings if item.fit is not None]
    if pairs:
        return pairs
    problems = [item.problem for item in run.results.scalings if item.problem]
    raise Missing(problems[0] if problems else "the study asks for no finite-size scaling")


def _arrays(run: Run, item: Scaling) -> Arrays:
    arrays = run.arrays(item.file)
    return need_some(arrays, "the curves of finite-size scaling were not stored")
