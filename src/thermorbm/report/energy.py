"""Figure 7: mean and variance of the visible energy, and the paper's approximations to it."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from thermorbm.report.chart import Chart, critical_mark, curve_series, curves_chart, peak_of
from thermorbm.report.columns import Column, chunks, columns, per_size
from thermorbm.report.labels import (
    TC,
    VISIBLE_ENERGY,
    Label,
    at,
    control_label,
    control_symbol,
    plain,
    size_label,
)
from thermorbm.report.panels import Panel, Series
from thermorbm.report.run import Family, Missing, Run, estimate, look, observation
from thermorbm.report.style import GREY, ORANGE, SKY

MEAN = Label(r"$\langle\mathcal{E}_\theta\rangle/N$", "⟨ℰ<sub>θ</sub>⟩/<i>N</i>")
VARIANCE = Label(r"Var $\mathcal{E}_\theta/N$", "Var ℰ<sub>θ</sub>/<i>N</i>")
WITHOUT_BIASES = "zero_bias_energy_variance_per_spin"
APPROXIMATIONS = {
    "zero_bias": (Label(r"$\mathcal{E}_W(v)$", "ℰ<sub>W</sub>(<i>v</i>)"), GREY, "dash"),
    "absolute": (Label(r"$\widetilde{\mathcal{E}}_W(v)$", "ℰ̃<sub>W</sub>(<i>v</i>)"), ORANGE, "dot"),
    "all_up": (Label(r"$\widetilde{\mathcal{E}}_W(1)$", "ℰ̃<sub>W</sub>(<b>1</b>)"), SKY, "dashdot"),
}


def figure_7(run: Run) -> list[Chart]:
    found = columns(run, lambda column: bool(per_size(column, "visible_energy_mean_per_spin")))
    if not found:
        raise Missing("visible energies were not computed")
    return [_chart(part, index) for index, part in enumerate(chunks(found))]


def _chart(found: list[Column], index: int) -> Chart:
    panels = [_mean_panel(column) for column in found] + [_variance_panel(column) for column in found]
    caption = Markup(
        "Mean (top) and variance (bottom) of the visible energy {} of the training configurations, per "
        "spin, against {}. {} Dashed and dotted: the approximations without biases, with absolute "
        "values, and with all spins up, for the smallest machines."
    ).format(
        VISIBLE_ENERGY.markup,
        control_symbol(found[0].family.run).markup,
        Markup(" ").join(_peaks(column) for column in found),
    )
    number = "" if index == 0 else f"-{index + 1}"
    title = plain("Visible energy")
    return curves_chart(f"fig-7{number}", "Fig. 7", title, caption, panels, columns=len(found))


def _mean_panel(column: Column) -> Panel:
    found = per_size(column, "visible_energy_mean_per_spin")
    if column.role == "main":
        found += _approximations(column.family)
    run = column.family.run
    return Panel(column.title, control_label(run), MEAN, tuple(found), critical_mark(column.family))


def _variance_panel(column: Column) -> Panel:
    found = per_size(column, "visible_energy_variance_per_spin")
    for series in per_size(column, WITHOUT_BIASES, dash="dash", marker=None):
        found.append(replace(series, name=APPROXIMATIONS["zero_bias"][0] + ", " + series.name))
    run = column.family.run
    return Panel(column.title, control_label(run), VARIANCE, tuple(found), critical_mark(column.family))


def _approximations(family: Family) -> list[Series]:
    """The three approximations for the smallest machines, per spin."""
    found: list[Series] = []
    for name, (label, colour, dash) in APPROXIMATIONS.items():
        curve = approximation_curve(family, name)
        found += curve_series(label, curve, 0, colour=colour, dash=dash, marker=None, width=1.4)
    return found


def approximation_curve(family: Family, name: str) -> dict[str, list[float]]:
    """<E_W> and the like per spin of the smallest machines, against the control parameter."""
    points = {}
    for machine in family.machines("main", family.sizes()[0]):
        seen = observation(machine)
        known = look(seen, "visible_energy", name)
        value = known if name == "all_up" else (estimate(known, "mean") or (None,))[0]
        if seen is not None and value is not None:
            points[machine["value"]] = float(value) / seen["n_sites"]
    return {"x": list(points), "values": list(points.values()), "errors": [0.0] * len(points)}


def _peaks(column: Column) -> Markup:
    """Where the variance is largest among the temperatures, for each size."""
    told = []
    for item in column.items:
        peak = peak_of(item["curves"].get("visible_energy_variance_per_spin"))
        if peak is not None:
            place = at(column.family.run, peak[0]).markup
            told.append(Markup("{} ({})").format(place, size_label(item["n_hidden"]).markup))
    known = column.family.critical
    critical = Markup("") if known is None else Markup("; {} = {:.4f}").format(TC.markup, known)
    return Markup("{}: largest variance at {}{}.").format(
        column.title.markup, Markup(", ").join(told), critical
    )
