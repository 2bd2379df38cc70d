"""Figure 6: configurations that machines make, and how fast their chains forget the start."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import (
    Chart,
    critical_mark,
    curve_series,
    curves_chart,
    landmarks,
    name_of,
    peak_of,
    smallest,
)
from thermorbm.report.labels import (
    ABS_MAGNETIZATION,
    ENERGY,
    HEAT_CAPACITY,
    P_HIDDEN,
    Label,
    at,
    control_label,
    plain,
    size_label,
)
from thermorbm.report.panels import Panel, series
from thermorbm.report.run import Family, Missing, estimate, look, observation
from thermorbm.report.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION
from thermorbm.report.thermodynamics import data_series, exact_series

QUANTITIES = {
    "energy_per_spin": ENERGY,
    "abs_magnetization_per_spin": ABS_MAGNETIZATION,
    "heat_capacity_per_spin": HEAT_CAPACITY,
}
FROM_M = Label(r"$p_h=(\langle|m|\rangle+1)/2$", "<i>p</i><sub>h</sub> = (⟨|<i>m</i>|⟩+1)/2")
MOST = 3.0  # times the data's largest heat capacity
STARTS: dict[str, tuple[Label, dict[str, Any]]] = {
    "magnetization": (FROM_M, {"colour": BLUE, "marker": "circle"}),
    "stepwise": (P_HIDDEN + " stepwise", {"colour": VERMILION, "marker": "square"}),
    "linear": (P_HIDDEN + " linear", {"colour": ORANGE, "marker": "diamond"}),
    "random": (
        Label(
            r"$v^{(7)}$ from random $h^{(0)}$", "<i>v</i><sup>(7)</sup> from random <i>h</i><sup>(0)</sup>"
        ),
        {"colour": GREEN, "marker": "triangle-up"},
    ),
    "magnetization_chain": (
        Label(r"$v^{(7)}$ from $p_h$", "<i>v</i><sup>(7)</sup> from <i>p</i><sub>h</sub>"),
        {"colour": PURPLE, "marker": "triangle-down"},
    ),
}


def figure_6(family: Family) -> Chart:
    panels = [panel for name in QUANTITIES if (panel := _panel(family, name)).series]
    if not any(len(panel.series) > 2 for panel in panels):
        raise Missing("no configurations were generated")
    caption = Markup(
        "Averages of configurations that machines with {} make in one step from a hidden layer with a "
        "fraction {} of units as the filter sums ask for, and of <i>v</i><sup>(7)</sup> after seven steps "
        "from a random hidden layer. Lines: exact for this lattice; open circles: the Monte Carlo data.{}"
    ).format(size_label(smallest(family)).markup, P_HIDDEN.markup, _off_scale(family))
    title = "Generated configurations: " + name_of(family)
    return curves_chart(f"fig-6-{family.name}", "Fig. 6", title, caption, panels, height=2.4)


def _panel(family: Family, quantity: str) -> Panel:
    found = [*exact_series(family, quantity), *data_series(family, quantity)]
    for start, (label, style) in STARTS.items():
        found += curve_series(label, generated_curve(family, start, quantity), 0, **style, dash=None)
    label = QUANTITIES[quantity]
    limits = _limits(family) if quantity == "heat_capacity_per_spin" else None
    return Panel(label, control_label(family.run), label, tuple(found), critical_mark(family), y_range=limits)


def _limits(family: Family) -> tuple[float, float] | None:
    """An axis for c_V on which the data can be read, however large the fluctuations of a bad machine are."""
    peak = peak_of(look(family.thermodynamics, "curves", "heat_capacity_per_spin"))
    return None if peak is None else (-0.1 * peak[1], MOST * peak[1])


def _off_scale(family: Family) -> Markup:
    limits = _limits(family)
    curves = [generated_curve(family, start, "heat_capacity_per_spin") for start in STARTS]
    n_above = sum(value > limits[1] for curve in curves for value in curve["values"]) if limits else 0
    if not n_above:
        return Markup("")
    return Markup(" {} points of {} lie above the scale.").format(n_above, HEAT_CAPACITY.markup)


def generated_curve(family: Family, start: str, quantity: str) -> dict[str, list[float]]:
    """An average of the smallest machines' configurations against the control parameter."""
    found = {}
    for machine in family.machines("main", smallest(family)):
        pair = estimate(observation(machine), "generation", start, quantity)
        if pair is not None:
            found[machine["value"]] = pair
    return {
        "x": list(found),
        "values": [value for value, _ in found.values()],
        "errors": [error for _, error in found.values()],
    }


def relaxation(family: Family) -> Chart:
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
    caption = Markup(
        "Averages over 512 Gibbs chains of machines with {} after each step, from hidden layers drawn with "
        "{} and from random ones. Dotted: the data that the machine was trained on."
    ).format(size_label(smallest(family)).markup, FROM_M.markup)
    title = "Chains from two starts: " + name_of(family)
    return curves_chart(
        f"text-chains-{family.name}", "Text", title, caption, kept, columns=len(landmarks(family)), height=1.9
    )


def _relaxation_panel(family: Family, value: float, name: str, label: Label) -> Panel:
    machine = family.machine("main", smallest(family), value)
    seen = None if machine is None else observation(machine)
    arrays = family.run.arrays(look(seen, "file"))
    found = []
    for start, style in (("p_h", STARTS["magnetization"]), ("random", STARTS["random"])):
        table = arrays.get(f"relaxation.{start}.{name}")
        if table is not None:
            text = FROM_M if start == "p_h" else plain("random start")
            found.append(series(text, np.arange(len(table)), table[:, 0], table[:, 1], **style[1]))
    target = _data_value(family, value, f"{name}_per_spin")
    if found and target is not None:
        steps = found[0].x[[0, -1]]
        found.append(series(plain("data"), steps, [target, target], dash="dot", colour=BLACK))
    return Panel(at(family.run, value), plain("Gibbs step"), label, tuple(found))


def _data_value(family: Family, value: float, quantity: str) -> float | None:
    row = next((row for row in family.data() if row["value"] == value), None)
    pair = estimate(row, "thermal", quantity)
    return None if pair is None else pair[0]
