"""Table 2 and its extensions: critical temperatures by every indicator, each against its own target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from thermorbm.report.chart import Chart, name_of
from thermorbm.report.labels import (
    ENTROPY,
    HEAT_CAPACITY,
    N_HIDDEN,
    PSEUDO_ENTROPY,
    PSEUDO_LIKELIHOOD,
    TC,
    UPPER_EDGE,
    VISIBLE_ENERGY,
    Label,
    control_label,
    critical_symbol,
    percent,
    plain,
    size_label,
    with_error,
)
from thermorbm.report.panels import Panel, draw_panels, series
from thermorbm.report.run import Family, Missing, Run, Values, estimate, look, role_of
from thermorbm.report.style import BLUE, PURPLE, VERMILION
from thermorbm.report.tables import Cell, Table

Floats = NDArray[np.float64]

SUSCEPTIBILITY = Label(r"$\chi_{|m|}$", "χ<sub>|m|</sub>")
SLOPE = Label(r"$T\,$d", "<i>T</i> d")
PER_T = Label(r"$\,/\,$d$T$", "/d<i>T</i>")
INDICATORS = {
    "heat_capacity_per_spin": HEAT_CAPACITY + " of the data",
    "susceptibility_per_spin": SUSCEPTIBILITY + " of the data",
    "target_heat_capacity": "target, " + HEAT_CAPACITY,
    "target_susceptibility": "target, " + SUSCEPTIBILITY,
    "entropy_per_spin": SLOPE + ENTROPY + PER_T,
    "pseudo_entropy_per_spin": SLOPE + PSEUDO_ENTROPY + PER_T,
    "pseudo_likelihood_per_spin": SLOPE + PSEUDO_LIKELIHOOD + PER_T,
    "entropy_upper_per_spin": SLOPE + UPPER_EDGE + PER_T,
    "nll_per_spin": SLOPE + "NLL" + PER_T,
    "own_heat_capacity_per_spin": HEAT_CAPACITY + " of its own chains",
    "filter_sum_abs_variance": plain("Var |filter sum|"),
    "visible_energy_variance_per_spin": "Var " + VISIBLE_ENERGY,
    "zero_bias_energy_variance_per_spin": Label(r"Var $\mathcal{E}_W$", "Var ℰ<sub>W</sub>"),
}
# Curves whose steepest place is sought; T dX/dT where the control parameter is a temperature.
SLOPES = {
    "visible_energy_mean_per_spin": "mean " + VISIBLE_ENERGY,
    "pseudo_likelihood_per_spin": PSEUDO_LIKELIHOOD,
}
ROLES = {
    "data": "configurations",
    "union": "all temperatures",
    "union-proportions": "other proportions",
    "zero-bias": "without biases",
    "unbalanced": "unequal signs",
    "symmetric": "symmetric",
}


SHORT_ROLES = {"main": "", "union": "all T", "union-proportions": "other prop."}
PLAIN_ROLES = ("data", "main", "symmetric")
FOREST_TITLES = {True: plain("data, machines"), False: plain("variants")}
OWN_TARGET, OFF_SCALE = plain("own target on this lattice"), plain("beyond the scale, see the table")
WIDEST = 0.2  # of T_c


@dataclass(frozen=True)
class CriticalPoint:
    """One estimate of T_c. target: where this indicator should peak on this lattice, None if not known."""

    indicator: str
    role: str
    group: str | None
    n_hidden: int | None
    value: float
    error: float
    target: float | None
    infinite: float | None
    problem: str | None
    feature: str = "peak"

    @property
    def label(self) -> Label:
        return indicator_label(self.indicator, self.feature)

    @property
    def machines(self) -> Label:
        """Which machines tell it."""
        role = ROLES.get(self.role, "" if self.role == "main" else str(self.group))
        if self.n_hidden is None:
            return plain(role)
        return size_label(self.n_hidden) + (f", {role}" if role else "")

    @property
    def short_machines(self) -> str:
        """The same where there is little room."""
        role = SHORT_ROLES.get(self.role, str(self.group))
        return f"{role} {self.n_hidden}".strip()

    @property
    def distance(self) -> float | None:
        """From the target, relative to it."""
        return None if self.target is None else self.value / self.target - 1

    @property
    def from_infinite(self) -> float | None:
        """From T_c of the infinite lattice, relative to it."""
        return None if self.infinite is None else self.value / self.infinite - 1


def indicator_label(indicator: str, feature: str) -> Label:
    if feature == "steepest" and indicator in SLOPES:
        return "slope of " + SLOPES[indicator]
    if indicator.startswith("correlation_"):
        r = indicator.removeprefix("correlation_").removeprefix("r")
        return "inverse filters, " + Label("$r$", "<i>r</i>") + f"\u00a0=\u00a0{r}"
    return INDICATORS.get(indicator, plain(indicator.replace("_", " ")))


def critical_points(family: Family, shown: bool = False) -> list[CriticalPoint]:
    """All estimates of a family, or those that stand in the table of T_c."""
    roles = {m["group"]: role_of(m) for m in family.values.get("machines", [])}
    found = []
    for row in family.values.get("critical_temperatures", []):
        pair = estimate(row, "estimate")
        if pair is not None and (row.get("is_shown", True) or not shown):
            found.append(_point(family, row, pair, roles.get(row["group"], "data")))
    return found


def _point(family: Family, row: Values, pair: tuple[float, float], role: str) -> CriticalPoint:
    target, n_hidden = look(row, "target", "value"), row.get("n_hidden")
    return CriticalPoint(
        row["indicator"], role, row["group"], n_hidden, *pair, target, family.critical, row.get("problem"),
        row.get("feature", "peak"),
    )  # fmt: skip


def critical_tables(run: Run) -> list[Table]:
    """A table per family: every indicator with its value, error, own target and distances."""
    found = []
    for family in run.families:
        rows = [_row(point) for point in critical_points(family, shown=True)]
        if rows:
            columns = ("Indicator", critical_symbol(run).markup, "Target", "Off target", "Off infinite")
            found.append(Table(columns, rows, _critical_caption(family)))
    return found


def _critical_caption(family: Family) -> Markup:
    caption = Markup(
        "<b>{}</b>: one standard error in brackets; target: the peak on this finite lattice"
    ).format(name_of(family).markup)
    if family.critical is None:
        return caption
    return caption + Markup("; {} = {:.6g} on the infinite one").format(TC.markup, family.critical)


def _row(point: CriticalPoint) -> list[Cell]:
    value: Cell = with_error(point.value, point.error)
    distances = (point.distance, point.from_infinite)
    if point.problem is not None:
        value, distances = Markup("none <small>({})</small>").format(point.problem), (None, None)
    machines = (
        Markup(" <small>{}</small>").format(point.machines.markup) if point.role != "data" else Markup("")
    )
    return [
        point.label.markup + machines,
        value,
        "–" if point.target is None else f"{point.target:.4f}",
        *("–" if distance is None else percent(distance, signed=True) for distance in distances),
    ]


def forest(family: Family) -> Chart:
    """Every estimate with its error and its target, one below the other; variants of machines apart."""
    points = [point for point in critical_points(family, shown=True) if point.problem is None]
    if not points:
        raise Missing("no critical temperatures were estimated")
    plain_ones = [point for point in points if point.role in PLAIN_ROLES]
    parts = [part for part in (plain_ones, [p for p in points if p not in plain_ones]) if part]
    panels = [_forest_panel(family, part) for part in parts]
    figure = draw_panels(panels, columns=len(panels), height=0.9 + 0.17 * max(len(part) for part in parts))
    figure.set_figwidth(6.0 if len(panels) == 1 else 9.0)
    caption = Markup(
        "Dots: {} by each indicator with one standard error; the number behind an indicator is {}. Bars: "
        "where that indicator peaks on this finite lattice, the exact heat capacity's peak or that of the "
        "susceptibility of the data. {}"
    ).format(critical_symbol(family.run).markup, N_HIDDEN.markup, Markup(" ").join(_extremes(points)))
    title = "Critical temperature: " + name_of(family)
    return Chart(f"critical-{family.name}", "Tab. 2", title, caption, figure, tuple(panels))


def _forest_panel(family: Family, points: list[CriticalPoint]) -> Panel:
    rows = tuple(p.label if p.role == "data" else p.label + f", {p.short_machines}" for p in points)
    y = -np.arange(len(points), dtype=np.float64)
    values = np.array([p.value for p in points])
    errors = np.array([p.error for p in points])
    targets = np.array([np.nan if p.target is None else p.target for p in points])
    limits = _limits(family, values, targets)
    low, high = limits or (-np.inf, np.inf)
    below, above = values < low, values > high
    inside = ~(below | above)
    dots: dict[str, Any] = {"colour": BLUE, "marker": "circle", "dash": None, "sideways": True}
    shown = [
        series(OWN_TARGET, targets, y, colour=VERMILION, marker="line-ns", dash=None),
        series(plain("estimate"), values[inside], y[inside], errors[inside], **dots),
    ]
    if not inside.all():
        ends = np.where(below, low, high)[~inside]
        shown.append(series(OFF_SCALE, ends, y[~inside], colour=PURPLE, marker="x", dash=None))
    marks = () if family.critical is None else ((family.critical, TC + ", infinite lattice"),)
    title = FOREST_TITLES[points[0].role in PLAIN_ROLES]
    return Panel(title, control_label(family.run), plain(""), tuple(shown), marks, x_range=limits, rows=rows)


def _limits(family: Family, values: Floats, targets: Floats) -> tuple[float, float] | None:
    """An axis that leaves out what is more than a fifth from T_c; None where all is near or T_c unknown."""
    if family.critical is None:
        return None
    near = values[np.abs(values / family.critical - 1) < WIDEST]
    if len(near) == len(values):
        return None
    known = np.concatenate([near, targets[np.isfinite(targets)], [family.critical]])
    margin = max(0.15 * float(np.ptp(known)), 0.02 * family.critical)
    return float(known.min() - margin), float(known.max() + margin)


def _extremes(points: list[CriticalPoint]) -> list[Markup]:
    """The machines' estimate furthest from its target, and the one nearest to the infinite lattice."""
    machines = [p for p in points if p.role != "data" and p.distance is not None]
    if not machines:
        return []
    worst = max(machines, key=lambda p: abs(p.distance or 0))
    told = [_ranked("Of the machines' indicators the furthest from its target", worst, worst.distance)]
    if machines[0].infinite:
        best = min(machines, key=lambda p: abs(p.from_infinite or 0))
        told.append(_ranked("Nearest to the infinite lattice", best, best.from_infinite))
    return told


def _ranked(words: str, point: CriticalPoint, distance: float | None) -> Markup:
    return Markup("{} is {} ({}): {}.").format(
        words, point.label.markup, point.machines.markup, percent(distance or 0, signed=True)
    )


# Table 2 of the paper: (dimension, role, hidden units or name of the entropy) -> T_c.
PAPER = {
    (2, "main", 400): 2.240, (2, "main", 900): 2.291, (2, "main", 1600): 2.316, (2, "main", 2500): 2.367,
    (2, "union", 400): 2.189, (2, "union", 900): 2.163, (2, "union", 1600): 2.214,
    (3, "main", 400): 4.444, (3, "main", 900): 4.434, (3, "main", 1600): 4.444,
    (2, "data", "entropy_per_spin"): 2.267, (2, "data", "pseudo_entropy_per_spin"): 2.367,
    (3, "data", "entropy_per_spin"): 4.390, (3, "data", "pseudo_entropy_per_spin"): 4.383,
}  # fmt: skip
PAPER_SIDES = {2: 64, 3: 16}


def table_2(run: Run) -> Table | None:
    """T_c from the slope of L~, S and S~ beside the values of the paper where lattice and size agree."""
    wanted = ("pseudo_likelihood_per_spin", "entropy_per_spin", "pseudo_entropy_per_spin")
    rows = [
        _table_2_row(family, point)
        for family in run.families
        for point in critical_points(family)
        if point.indicator in wanted
    ]
    if not rows:
        return None
    note = Markup(
        "The paper has, on 64×64: 2.240, 2.291, 2.316, 2.367 for {} = 400, 900, 1600, 2500, 2.267 from "
        "<i>S</i>, 2.367 from <i>S̃</i>; all temperatures together 2.189, 2.163, 2.214; on 16×16×16: "
        "4.444, 4.434, 4.444, 4.390 from <i>S</i>, 4.383 from <i>S̃</i>."
    ).format(N_HIDDEN.markup)
    columns = ("Data", "From", "Machines", "This study", "Paper", "Infinite lattice")
    caption = Markup("Table 2: {} from entropies and pseudo-likelihoods, beside the paper's").format(
        TC.markup
    )
    return Table(columns, rows, caption, note, is_open=True)


def _table_2_row(family: Family, point: CriticalPoint) -> list[Cell]:
    return [
        family.name,
        point.label.markup,
        point.machines.markup,
        with_error(point.value, point.error),
        _paper(family, point),
        "–" if family.critical is None else f"{family.critical:.4f}",
    ]


def _paper(family: Family, point: CriticalPoint) -> str:
    shape = family.values.get("shape") or []
    key = point.indicator if point.n_hidden is None else point.n_hidden
    same = set(shape) == {PAPER_SIDES.get(len(shape))}
    known = PAPER.get((len(shape), point.role, key)) if same else None
    return "–" if known is None else f"{known:.3f}"
