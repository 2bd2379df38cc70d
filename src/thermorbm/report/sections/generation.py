"""Configurations that machines make (figure 6), and how fast their chains forget the start."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import Chart, control_panel, curve_series, curves_chart, landmarks, peak_of
from thermorbm.report.labels import (
    HEAT_CAPACITY,
    N_HIDDEN,
    Label,
    axis,
    plain,
    short,
    size_label,
    text,
)
from thermorbm.report.panels import Panel, series
from thermorbm.report.run import FamilyView, Missing, Points, need, need_some, pair_of
from thermorbm.report.section import (
    Cell,
    PageTable,
    Ruling,
    Section,
    decide,
)
from thermorbm.report.sections.data import data_series, exact_series
from thermorbm.report.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION
from thermorbm.study.results import Generation

SECTION = Section("generation", "Generated configurations")

SHOWN = ("energy_per_spin", "abs_magnetization_per_spin", "heat_capacity_per_spin")
FROM_M = Label(r"$p_h=(\langle|m|\rangle+1)/2$")
FROM_RANDOM = Label(r"$v^{(7)}$ from random $h^{(0)}$")
FROM_P_HIDDEN = Label(r"$v^{(7)}$ from $p_h$")
STARTS: dict[str, tuple[Label, dict[str, Any]]] = {
    "magnetization": (FROM_M, {"colour": BLUE, "marker": "circle"}),
    "stepwise": (Label("$p_h$ stepwise"), {"colour": VERMILION, "marker": "square"}),
    "linear": (Label("$p_h$ linear"), {"colour": ORANGE, "marker": "diamond"}),
    "random": (FROM_RANDOM, {"colour": GREEN, "marker": "triangle-up"}),
    "magnetization_chain": (FROM_P_HIDDEN, {"colour": PURPLE, "marker": "triangle-down"}),
}
MOST = 3.0  # times the data's largest heat capacity
CHAIN_STEPS = 16  # for which chains are followed
NOT_GENERATED, NO_ENERGIES = "no configurations were generated", "energies were not measured"
ROLES_SHOWN = ("main", "symmetric", "union", "other")


@SECTION.family_figure("fig-6", "Fig. 6", "Generated configurations")
def draw_generated(family: FamilyView) -> Chart:
    family.check_uniform_order()
    panels = [panel for name in SHOWN if (panel := _panel(family, name)).series]
    if not any(len(panel.series) > 2 for panel in panels):
        raise Missing(NOT_GENERATED)
    caption = text(
        "Averages of configurations that machines with {} make in one step from a hidden layer with a "
        "fraction $p_h$ of units as the filter sums ask for, and of <i>v</i><sup>(7)</sup> after seven steps "
        "from a random hidden layer. Lines: exact for this lattice; open circles: the Monte Carlo data.{}",
        size_label(family.smallest()), _off_scale(family),
    )  # fmt: skip
    return curves_chart(caption, panels, height=2.4)


def _panel(family: FamilyView, quantity: str) -> Panel:
    curves = [*exact_series(family, quantity), *data_series(family, quantity)]
    for start, (name, style) in STARTS.items():
        curves += curve_series(name, generated_curve(family, start, quantity), **style, dash=None)
    label = axis(quantity)
    limits = _limits(family) if quantity == "heat_capacity_per_spin" else None
    return control_panel(family, label, label, curves, y_range=limits)


def _limits(family: FamilyView) -> tuple[float, float] | None:
    """An axis for c_V on which the data can be read, however large the fluctuations of a bad machine are."""
    peak = peak_of(family.data_curve("heat_capacity_per_spin"))
    return None if peak is None else (-0.1 * peak[1], MOST * peak[1])


def _off_scale(family: FamilyView) -> Markup:
    limits = _limits(family)
    curves = [generated_curve(family, start, "heat_capacity_per_spin") for start in STARTS]
    n_above = sum(value > limits[1] for curve in curves for _, value, _ in curve) if limits else 0
    return text(" {} points of {} lie above the scale.", n_above, HEAT_CAPACITY) if n_above else Markup("")


def generated_curve(family: FamilyView, start: str, quantity: str) -> Points:
    """An average of the smallest machines' configurations against the control parameter."""
    curve = []
    for value, machine in family.smallest_machines():
        seen = machine.observation()
        made = getattr(seen.generation, start) if seen and seen.generation else None
        pair = pair_of(made.thermal.get(quantity)) if made else None
        if pair is not None:
            curve.append((value, *pair))
    return curve


@SECTION.family_figure("text-chains", "Text", "Chains from two starts")
def draw_relaxation(family: FamilyView) -> Chart:
    """How <E> and <|m|> of chains go from their start to equilibrium."""
    family.check_uniform_order()
    panels = [
        _relaxation_panel(family, value, name)
        for name in ("energy", "abs_magnetization")
        for value in landmarks(family)
        if family.results.has_energy or name != "energy"  # without a Hamiltonian there is no energy
    ]
    kept = [panel for panel in panels if panel.series]
    need_some(kept, "no chains were followed")
    caption = text(
        "Averages over 512 Gibbs chains of machines with {} after each step, from hidden layers drawn with "
        "{} and from random ones. Dotted: the data that the machine was trained on.",
        size_label(family.smallest()), FROM_M,
    )  # fmt: skip
    return curves_chart(caption, kept, columns=len(landmarks(family)), height=1.9)


def _relaxation_panel(family: FamilyView, value: float, name: str) -> Panel:
    arrays = family.observed_arrays(family.smallest(), value)
    curves = []
    for start, legend, look_like in (
        ("p_h", FROM_M, "magnetization"),
        ("random", plain("random start"), "random"),
    ):
        table = arrays.get(f"relaxation.{start}.{name}")
        if table is not None:
            steps = np.arange(len(table))
            curves.append(series(legend, steps, table[:, 0], table[:, 1], **STARTS[look_like][1]))
    data = family.data_at(value)
    target = data.thermal.get(f"{name}_per_spin") if data else None
    if curves and target is not None:
        ends = curves[0].x[[0, -1]]
        curves.append(series(plain("data"), ends, [target.value] * 2, dash="dot", colour=BLACK))
    return Panel(family.at(value), plain("Gibbs step"), axis(f"{name}_per_spin"), tuple(curves))


@SECTION.family_table()
def quality_table(family: FamilyView) -> PageTable:
    """A row for each machine: long chains beside the data in standard errors, and the verdict."""
    machines = [machine for role in ROLES_SHOWN for machine in family.results.first_seeds(role)]
    pairs = [(m, seen.quality) for m in machines if (seen := m.observation()) and seen.quality]
    names = list(dict.fromkeys(name for _, quality in pairs for name in quality.comparisons))
    columns: list[Cell] = ["Group", N_HIDDEN.html, family.run.control_symbol.html]
    columns += [*(name.replace("_", " ") for name in names), "Verdict"]
    rows: list[list[Cell]] = []
    for machine, quality in pairs:
        z_scores = {name: comparison.z_score for name, comparison in quality.comparisons.items()}
        numbers = [short(z_scores.get(name), 2) for name in names]
        rows.append([machine.variant, str(machine.n_hidden), f"{machine.value:g}", *numbers, quality.verdict])
    note = Markup(
        "Long Gibbs chains from random spins minus training data, in standard errors. Training in "
        "equilibrium makes the joint energy of both equal; other quantities may differ for want of hidden "
        "units."
    )
    return PageTable(columns, rows, f"{family.name}: quality of machines", note)


def generation_at(family: FamilyView, value: float) -> Generation:
    """What the smallest machine at that temperature generates."""
    seen = need(family.observation(family.smallest(), value), NOT_GENERATED)
    return need(seen.generation, NOT_GENERATED)


def energy_errors(family: FamilyView) -> tuple[list[float], Markup]:
    """How far the energy of one-step reconstructions is off at three landmarks, J per spin, also in words."""
    errors = []
    for value in landmarks(family):
        made = generation_at(family, value).magnetization.thermal.get("energy_per_spin")
        data = need(family.data_at(value), NO_ENERGIES).thermal.get("energy_per_spin")
        errors.append(abs(need(made, NO_ENERGIES).value - need(data, NO_ENERGIES).value))
    if len(errors) < 3:
        raise Missing("fewer than three temperatures")
    pairs = zip(landmarks(family), errors, strict=True)
    return errors, family.list_at([(value, short(error, 2)) for value, error in pairs])


@SECTION.claim(
    "generation-ends", "Fig. 6", "One-step reconstructions are good at low and high temperature.", 2
)
def good_at_both_ends(family: FamilyView) -> Ruling:
    """Their energy is within 0.1 J per spin, 5 % of its range, of the data's at both ends."""
    (cold, _, hot), words = energy_errors(family)
    return decide(max(cold, hot) <= 0.1, "energy off by {} J per spin", words)


@SECTION.claim("generation-near", "Fig. 6", "They are worse near $T_c$.", 2)
def worse_near_critical(family: FamilyView) -> Ruling:
    """Their energy is further off, in J per spin, near T_c than at the low and the high temperature."""
    (cold, near, hot), words = energy_errors(family)
    return decide(near > max(cold, hot), "energy off by {} J per spin", words)


@SECTION.claim(
    "faster-start", "Text", "From $p_h$, Gibbs chains reach equilibrium in fewer steps than from random $h$."
)
def faster_from_p_hidden(family: FamilyView) -> Ruling:
    """Fewer steps somewhere and nowhere more, below, near and above T_c, until ⟨|m|⟩ stays within 0.02."""
    words, gained = [], []
    for value in landmarks(family):
        steps = generation_at(family, value).steps_to_equilibrium
        gained.append(steps["random"] - steps["p_h"])
        counts = [str(n) if n <= CHAIN_STEPS else f"more than {CHAIN_STEPS}" for n in steps.values()]
        words.append((value, " and ".join(counts)))
    return decide(
        min(gained) >= 0 and max(gained) > 0,
        "steps from <i>p</i><sub>h</sub> and from random starts: {}",
        family.list_at(words, "; "),
    )
