"""Machines that know the lattice: their filters, the Hamiltonian they have learned, and their entropy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import Chart, critical_mark, curves_chart, name_of
from thermorbm.report.columns import Column, per_size
from thermorbm.report.entropy import entropy_series, smooth_series, upper_edges
from thermorbm.report.images import filter_rows
from thermorbm.report.labels import (
    ENTROPY,
    HEAT_CAPACITY,
    PER_SPIN,
    Label,
    T,
    at,
    control_label,
    plain,
    short,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import Family, Missing, Run, Values, look
from thermorbm.report.style import BLACK, GREY, colour, marker
from thermorbm.report.tables import Cell, Table
from thermorbm.report.thermodynamics import data_series, exact_series

ROLE = "symmetric"
MOST_ROWS, MOST_FILTERS = 8, 8
COUPLING = Label(r"$J(r)\,T$", "<i>J</i>(<i>r</i>) <i>T</i>")


def _machines(family: Family) -> list[Values]:
    """Machines of the smallest number of filters that were read, first seeds, by temperature."""
    found = [m for m in family.machines(ROLE) if look(m, "interactions")]
    if not found:
        raise Missing("no symmetric machines were trained")
    fewest = min(m["filters"] for m in found)
    return [m for m in found if m["filters"] == fewest]


def filters(family: Family) -> Chart:
    """Every filter of some machines."""
    chosen = _machines(family)
    places = np.linspace(0, len(chosen) - 1, min(MOST_ROWS, len(chosen))).round().astype(int)
    rows = []
    for machine in (chosen[place] for place in places):
        weights = family.run.arrays(look(machine, "interactions", "file")).get("filters")
        if weights is None:
            raise Missing("the filters were not stored")
        rows.append((at(family.run, machine["value"]), weights, float(weights.std())))
    caption = Markup(
        "The filters of symmetric machines, the same at every site of the lattice; each row has its own "
        "colour scale, two standard deviations to either side of zero."
    )
    figure = filter_rows(rows, min(MOST_FILTERS, max(len(row[1]) for row in rows)))
    title = "Filters shared by all sites: " + name_of(family)
    return Chart(f"symmetric-filters-{family.name}", "Symmetric", title, caption, figure)


def couplings(family: Family) -> Chart:
    """J(r) T of every distance against temperature: for the Ising model 1 for neighbours, 0 beyond."""
    chosen = _machines(family)
    curves = _coupling_curves(family, chosen[0]["n_hidden"])
    if not curves:
        raise Missing("the windows are too large for their couplings to be read")
    shown = [_reference(chosen, level) for level in (1.0, 0.0)] if family.is_ising else []
    for index, (r, curve) in enumerate(curves.items()):
        x, y, errors = (np.array(curve[key], dtype=float) for key in ("x", "values", "errors"))
        look = {"colour": colour(index), "marker": marker(index), "width": 0.9}
        shown.append(series(plain(f"r = ({r})"), x, x * y, x * errors, **look))
    caption = Markup(
        "Pair couplings {} of the Hamiltonian that symmetric machines learned from configurations alone, by "
        "the distance of the two spins; exact expansion of the visible energy, mean over seeds with its "
        "error where there are several. The Ising model has 1 for neighbours and 0 for all others."
    ).format(COUPLING.markup)
    panel = Panel(name_of(family), control_label(family.run), COUPLING, tuple(shown), critical_mark(family))
    title = "Learned couplings: " + name_of(family)
    return curves_chart(f"symmetric-couplings-{family.name}", "Symmetric", title, caption, [panel])


def _coupling_curves(family: Family, n_hidden: int) -> dict[str, Values]:
    """Curves of J(r) over temperature by the components of r, for machines of one size."""
    item = next((item for item in family.indicators(ROLE) if item["n_hidden"] == n_hidden), None)
    if item is None:
        raise Missing("what machines of all temperatures say was not put together yet")
    named = [(name.split("_"), curve) for name, curve in item["curves"].items()]
    return {", ".join(parts[1:]): curve for parts, curve in named if parts[0] == "coupling"}


def _reference(chosen: list[Values], level: float) -> Series:
    ends = [chosen[0]["value"], chosen[-1]["value"]]
    return series(plain("Ising model"), ends, [level, level], colour=BLACK, dash="dot", listed=level == 1.0)


def entropy(family: Family) -> Chart:
    """The upper edge of the entropy and the likelihood beside the dense machines' and the exact curve."""
    symmetric = Column(family, ROLE)
    if not per_size(symmetric, "nll_per_spin"):
        raise Missing("ln Z of symmetric machines was not computed")
    caption = Markup(
        "Entropy per spin: negative log-likelihood of held-out configurations under symmetric machines, and "
        "the upper edge that needs no ln <i>Z</i>, beside the upper edge of dense machines. Right: heat "
        "capacities from the slope {} d{}/d{} of the likelihood, and from energy fluctuations of what the "
        "machines generate."
    ).format(T.markup, ENTROPY.markup, T.markup)
    title = "Entropy from symmetric machines: " + name_of(family)
    panels = [_entropy_panel(family, symmetric), _heat_panel(family, symmetric)]
    return curves_chart(
        f"symmetric-entropy-{family.name}", "Symmetric", title, caption, panels, columns=2, height=2.8
    )


def _entropy_panel(family: Family, symmetric: Column) -> Panel:
    shown = entropy_series(family)
    shown += [_named("symmetric, NLL", item) for item in per_size(symmetric, "nll_per_spin", dash=None)]
    shown += [_named("symmetric", item) for item in upper_edges(symmetric)]
    dense = upper_edges(Column(family, "main"))
    shown += [_named("dense", replace(item, colour=GREY)) for item in dense]
    label = ENTROPY + PER_SPIN
    return Panel(plain("entropy"), control_label(family.run), label, tuple(shown), critical_mark(family))


def _heat_panel(family: Family, symmetric: Column) -> Panel:
    shown = exact_series(family, "heat_capacity_per_spin") or data_series(family, "heat_capacity_per_spin")
    for index, item in enumerate(symmetric.items):
        slopes = smooth_series(family, item, "nll_per_spin", "indicator", index)
        shown += [_named("symmetric, from NLL", slope) for slope in slopes]
    own = per_size(symmetric, "own_heat_capacity_per_spin", dash=None)
    shown += [_named("symmetric, own chains", item) for item in own]
    label = HEAT_CAPACITY + PER_SPIN
    return Panel(
        plain("heat capacity"), control_label(family.run), label, tuple(shown), critical_mark(family)
    )


def _named(prefix: str, item: Series) -> Series:
    return replace(item, name=plain(prefix + ", ") + item.name)


def coupling_tables(run: Run) -> list[Table]:
    """Per family, a row for each symmetric machine: its couplings and the temperature they tell."""
    found = []
    for family in run.families:
        rows = [_row(machine) for machine in family.machines(ROLE) if look(machine, "interactions")]
        if rows:
            note = "Couplings in units of the temperature; the temperature is one over that of neighbours."
            columns = ["Filters", "Kernel", T.markup, "learned T", "J T of neighbours", "largest other",
                       "largest of four spins"]  # fmt: skip
            found.append(Table(columns, rows, f"{family.name}: learned Hamiltonians", note))
    return found


def _row(machine: Values) -> list[Cell]:
    learned, value = machine["interactions"], float(machine["value"])
    others = [abs(pair["coupling"]) for pair in learned["pairs"] if sum(pair["r"]) > 1]
    fours = [abs(four["coupling"]) for four in learned["fours"]]
    nearest = look(learned, "nearest_coupling", "value")
    return [
        str(machine["filters"]),
        str(machine["kernel"]),
        f"{value:g}",
        short(learned["temperature"]),
        short(None if nearest is None else nearest * value),
        short(max(others) * value if others else None, 2),
        short(max(fours) * value if fours else None, 2),
    ]
