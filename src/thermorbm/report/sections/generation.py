"""Configurations that machines make (figure 6), and how fast their chains forget the start."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import Chart, control_panel, curve_series, curves_chart, landmarks, peak_of
from thermorbm.report.labels import (
    ABS_MAGNETIZATION,
    ENERGY,
    HEAT_CAPACITY,
    N_HIDDEN,
    P_HIDDEN,
    Label,
    list_with,
    percent,
    plain,
    short,
    size_label,
    text,
)
from thermorbm.report.panels import Panel, series
from thermorbm.report.run import (
    FamilyView,
    Missing,
    Points,
    Run,
    Values,
    estimate,
    look,
    need,
    observation,
    points,
)
from thermorbm.report.section import Answer, Cell, FamilyFigure, PageTable, Section, claim, decide
from thermorbm.report.sections.data import data_series, exact_series
from thermorbm.report.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION

QUANTITIES = {
    "energy_per_spin": ENERGY,
    "abs_magnetization_per_spin": ABS_MAGNETIZATION,
    "heat_capacity_per_spin": HEAT_CAPACITY,
}
FROM_M = Label(r"$p_h=(\langle|m|\rangle+1)/2$", "<i>p</i><sub>h</sub> = (⟨|<i>m</i>|⟩+1)/2")
FROM_RANDOM = Label(
    r"$v^{(7)}$ from random $h^{(0)}$", "<i>v</i><sup>(7)</sup> from random <i>h</i><sup>(0)</sup>"
)
FROM_P_HIDDEN = Label(r"$v^{(7)}$ from $p_h$", "<i>v</i><sup>(7)</sup> from <i>p</i><sub>h</sub>")
STARTS: dict[str, tuple[Label, dict[str, Any]]] = {
    "magnetization": (FROM_M, {"colour": BLUE, "marker": "circle"}),
    "stepwise": (P_HIDDEN + " stepwise", {"colour": VERMILION, "marker": "square"}),
    "linear": (P_HIDDEN + " linear", {"colour": ORANGE, "marker": "diamond"}),
    "random": (FROM_RANDOM, {"colour": GREEN, "marker": "triangle-up"}),
    "magnetization_chain": (FROM_P_HIDDEN, {"colour": PURPLE, "marker": "triangle-down"}),
}
MOST = 3.0  # times the data's largest heat capacity
CHAIN_STEPS = 16  # for which chains are followed
ROLES_SHOWN = ("main", "symmetric", "union", "other")


def draw_generated(family: FamilyView) -> Chart:
    """Figure 6."""
    panels = [panel for name in QUANTITIES if (panel := _panel(family, name)).series]
    if not any(len(panel.series) > 2 for panel in panels):
        raise Missing("no configurations were generated")
    caption = text(
        "Averages of configurations that machines with {} make in one step from a hidden layer with a "
        "fraction {} of units as the filter sums ask for, and of <i>v</i><sup>(7)</sup> after seven steps "
        "from a random hidden layer. Lines: exact for this lattice; open circles: the Monte Carlo data.{}",
        size_label(family.smallest()), P_HIDDEN, _off_scale(family),
    )  # fmt: skip
    return curves_chart(caption, panels, height=2.4)


def _panel(family: FamilyView, quantity: str) -> Panel:
    curves = [*exact_series(family, quantity), *data_series(family, quantity)]
    for start, (name, style) in STARTS.items():
        curves += curve_series(name, generated_curve(family, start, quantity), **style, dash=None)
    label = QUANTITIES[quantity]
    limits = _limits(family) if quantity == "heat_capacity_per_spin" else None
    return control_panel(family, label, label, curves, y_range=limits)


def _limits(family: FamilyView) -> tuple[float, float] | None:
    """An axis for c_V on which the data can be read, however large the fluctuations of a bad machine are."""
    peak = peak_of(points(family.thermodynamics, "curves", "heat_capacity_per_spin"))
    return None if peak is None else (-0.1 * peak[1], MOST * peak[1])


def _off_scale(family: FamilyView) -> Markup:
    limits = _limits(family)
    curves = [generated_curve(family, start, "heat_capacity_per_spin") for start in STARTS]
    n_above = sum(value > limits[1] for curve in curves for _, value, _ in curve) if limits else 0
    return text(" {} points of {} lie above the scale.", n_above, HEAT_CAPACITY) if n_above else Markup("")


def generated_curve(family: FamilyView, start: str, quantity: str) -> Points:
    """An average of the smallest machines' configurations against the control parameter."""
    curve = []
    for machine in family.smallest_machines():
        pair = estimate(observation(machine), "generation", start, quantity)
        if pair is not None:
            curve.append((machine["value"], *pair))
    return curve


def draw_relaxation(family: FamilyView) -> Chart:
    """How <E> and <|m|> of chains go from their start to equilibrium."""
    panels = [
        _relaxation_panel(family, value, name, label)
        for name, label in (("energy", ENERGY), ("abs_magnetization", ABS_MAGNETIZATION))
        for value in landmarks(family)
        if family.is_ising or name != "energy"  # without a Hamiltonian there is no energy
    ]
    kept = [panel for panel in panels if panel.series]
    if not kept:
        raise Missing("no chains were followed")
    caption = text(
        "Averages over 512 Gibbs chains of machines with {} after each step, from hidden layers drawn with "
        "{} and from random ones. Dotted: the data that the machine was trained on.",
        size_label(family.smallest()), FROM_M,
    )  # fmt: skip
    return curves_chart(caption, kept, columns=len(landmarks(family)), height=1.9)


def _relaxation_panel(family: FamilyView, value: float, name: str, label: Label) -> Panel:
    arrays = family.run.arrays(look(family.observation("main", family.smallest(), value), "file"))
    curves = []
    for start, legend, look_like in (
        ("p_h", FROM_M, "magnetization"),
        ("random", plain("random start"), "random"),
    ):
        table = arrays.get(f"relaxation.{start}.{name}")
        if table is not None:
            steps = np.arange(len(table))
            curves.append(series(legend, steps, table[:, 0], table[:, 1], **STARTS[look_like][1]))
    target = estimate(family.data_at(value), "thermal", f"{name}_per_spin")
    if curves and target is not None:
        ends = curves[0].x[[0, -1]]
        curves.append(series(plain("data"), ends, [target[0]] * 2, dash="dot", colour=BLACK))
    return Panel(family.at(value), plain("Gibbs step"), label, tuple(curves))


def quality_tables(run: Run) -> list[PageTable]:
    """Per family, a row for each machine: long chains beside the data in standard errors, and the verdict."""
    tables = []
    for family in run.families:
        machines = [machine for role in ROLES_SHOWN for machine in family.machines(role)]
        pairs = [(m, quality) for m in machines if (quality := look(observation(m), "quality"))]
        if pairs:
            tables.append(_quality_table(family, pairs))
    return tables


def _quality_table(family: FamilyView, pairs: list[tuple[Values, Values]]) -> PageTable:
    names = list(dict.fromkeys(name for _, quality in pairs for name in quality["comparisons"]))
    columns: list[Cell] = ["Group", N_HIDDEN.markup, family.run.control_symbol.markup]
    columns += [*(name.replace("_", " ") for name in names), "Verdict"]
    rows = [
        [
            str(machine["group"]),
            str(machine["n_hidden"]),
            f"{machine['value']:g}",
            *(short(look(quality, "comparisons", name, "z_score"), 2) for name in names),
            str(quality["verdict"]),
        ]
        for machine, quality in pairs
    ]
    note = Markup(
        "Long Gibbs chains from random spins minus training data, in standard errors. Training in "
        "equilibrium makes the joint energy of both equal; other quantities may differ for want of hidden "
        "units."
    )
    return PageTable(columns, rows, f"{family.name}: quality of machines", note)


def energy_errors(family: FamilyView) -> tuple[list[float], Markup]:
    """Relative errors of the energy of one-step reconstructions at three landmarks, also in words."""
    errors = []
    for value in landmarks(family):
        seen = family.observation("main", family.smallest(), value)
        made = estimate(seen, "generation", "magnetization", "energy_per_spin")
        data = estimate(family.data_at(value), "thermal", "energy_per_spin")
        energy, _ = need(made, "no configurations were generated")
        errors.append(abs(energy / need(data, "energies were not measured")[0] - 1))
    if len(errors) < 3:
        raise Missing("fewer than three temperatures")
    places = [family.at(value) for value in landmarks(family)]
    return errors, list_with(" at ", zip(map(percent, errors), places, strict=True))


@claim(
    "generation-ends",
    "Fig. 6",
    "One-step reconstructions are good at low and high temperature.",
    "their energy is within 5 % of the data's at the low and the high temperature",
)
def good_at_both_ends(family: FamilyView) -> Answer:
    (cold, _, hot), words = energy_errors(family)
    return decide(max(cold, hot) <= 0.05, "energy off by {}", words)


@claim(
    "generation-near",
    "Fig. 6",
    "They are worse near <i>T</i><sub>c</sub>.",
    "their energy is further off near T_c than at the low and the high temperature",
)
def worse_near_critical(family: FamilyView) -> Answer:
    (cold, near, hot), words = energy_errors(family)
    return decide(near > max(cold, hot), "energy off by {}", words)


@claim(
    "faster-start",
    "Text",
    "From <i>p</i><sub>h</sub>, Gibbs chains reach equilibrium in fewer steps than from random <i>h</i>.",
    "fewer steps somewhere and nowhere more, below, near and above T_c, until ⟨|m|⟩ stays within 0.02",
)
def faster_from_p_hidden(family: FamilyView) -> Answer:
    words, gained = [], []
    for value in landmarks(family):
        seen = family.observation("main", family.smallest(), value)
        steps = need(look(seen, "generation", "steps_to_equilibrium"), "relaxation times were not measured")
        gained.append(steps["random"] - steps["p_h"])
        counts = [str(n) if n <= CHAIN_STEPS else f"more than {CHAIN_STEPS}" for n in steps.values()]
        words.append((" and ".join(counts), family.at(value)))
    return decide(
        min(gained) >= 0 and max(gained) > 0,
        "steps from <i>p</i><sub>h</sub> and from random starts: {}",
        list_with(" at ", words, "; "),
    )


SECTION = Section(
    "generation",
    "Generated configurations",
    figures=(
        FamilyFigure("fig-6", "Fig. 6", "Generated configurations", draw_generated),
        FamilyFigure("text-chains", "Text", "Chains from two starts", draw_relaxation),
    ),
    tables=(quality_tables,),
    claims=(good_at_both_ends, worse_near_critical, faster_from_p_hidden),
)
