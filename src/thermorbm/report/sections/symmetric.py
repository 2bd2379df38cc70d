"""Machines that know the lattice: their filters, the Hamiltonian they have learned, and their entropy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import (
    Chart,
    Column,
    control_panel,
    curve_series,
    curves_chart,
    filter_rows,
    per_size,
)
from thermorbm.report.labels import (
    ENTROPY,
    HEAT_CAPACITY,
    PER_SPIN,
    Label,
    T,
    cell,
    list_with,
    plain,
    short,
    text,
)
from thermorbm.report.panels import Panel, series
from thermorbm.report.run import NO_MACHINES, FamilyView, Missing, Points, need, need_some, points
from thermorbm.report.section import Cell, PageTable, Section
from thermorbm.report.sections.data import data_series, exact_series, infinite_series
from thermorbm.report.sections.entropy import entropy_series, smooth_series, upper_edges
from thermorbm.report.style import BLACK, GREY
from thermorbm.study.results import Interactions, MachineResults

SECTION = Section("symmetric", "Machines that know the lattice")

ROLE = "symmetric"
MOST_ROWS, MOST_FILTERS = 8, 8
COUPLING, REDUCED = Label(r"$J(r)\,T$"), Label("$J(r)$")
MOST_VECTORS = 6
MOST_COUPLINGS = 7  # in one figure, which has as many colours; cells of three sites have 36


def fewest_filters(family: FamilyView) -> list[MachineResults]:
    """Machines of the smallest number of filters that were read, first seeds, by temperature."""
    machines = [machine for machine in family.results.first_seeds(ROLE) if machine.interactions]
    need_some(machines, NO_MACHINES[ROLE])
    fewest = min(machine.filters or 0 for machine in machines)
    return [machine for machine in machines if machine.filters == fewest]


def _learned(machine: MachineResults) -> tuple[float, Interactions]:
    """The temperature of the machine's data, and the Hamiltonian that it has learned."""
    return need(machine.value, NO_MACHINES[ROLE]), need(machine.interactions, NO_MACHINES[ROLE])


@SECTION.family_figure("symmetric-filters", "Symmetric", "Filters shared by all sites")
def draw_filters(family: FamilyView) -> Chart:
    """Every filter of some machines."""
    machines = fewest_filters(family)
    places = np.linspace(0, len(machines) - 1, min(MOST_ROWS, len(machines))).round().astype(int)
    rows = []
    for value, learned in (_learned(machines[place]) for place in places):
        weights = need(family.run.arrays(learned.file).get("filters"), "the filters were not stored")
        if family.results.model is not None and family.results.model.n_cell > 1:
            weights = weights.reshape(*weights.shape[:-2], -1)  # the sites of a cell side by side
        rows.append((family.at(value), weights, float(weights.std())))
    caption = Markup(
        "The filters of symmetric machines, the same at every site of the lattice; each row has its own "
        "colour scale, two standard deviations to either side of zero."
    )
    return Chart(caption, filter_rows(rows, min(MOST_FILTERS, max(len(row[1]) for row in rows))))


@SECTION.family_figure("symmetric-couplings", "Symmetric", "Learned couplings")
def draw_couplings(family: FamilyView) -> Chart:
    """J(r) T of every distance against temperature, or J(r) / k_B T against another control parameter."""
    caption = text(
        "Pair couplings {} of the Hamiltonian that symmetric machines learned from configurations alone, by "
        "the {} of the two spins; exact expansion of the visible energy, mean over seeds with its "
        "error where there are several. {} {}",
        _coupling_label(family), "distance" if family.results.is_ising else "displacement", _truth(family),
        _left_out(family),
    )  # fmt: skip
    return curves_chart(caption, [couplings_panel(family)])


def couplings_panel(family: FamilyView) -> Panel:
    """Couplings by distance; Missing where no symmetric machine was read."""
    machines = fewest_filters(family)
    ends = [_learned(machine)[0] for machine in (machines[0], machines[-1])]
    curves = [
        series(plain("truth"), ends, [level, level], colour=BLACK, dash="dot", listed=level == 0.0)
        for level in _true_couplings(family)
    ]
    for index, (r, curve) in enumerate(_couplings(family)[:MOST_COUPLINGS]):
        curves += curve_series(plain(_bond(family, r)), curve, index)
    return control_panel(family, family.title, _coupling_label(family), curves)


def _couplings(family: FamilyView) -> list[tuple[tuple[int, ...], Points]]:
    """The curve of each coupling, by the components of r; if they are many the largest first."""
    reason = "what all these machines say was not put together yet"
    item = need(family.indicators(ROLE, fewest_filters(family)[0].n_hidden), reason)
    curves = []
    for name in (name for name in item.curves if name.startswith("coupling_")):
        rows = [(x, y, error, _unit(family, x)) for x, y, error in points(item.curves[name])]
        r = tuple(map(int, name.split("_")[1:]))
        curves.append((r, [(x, unit * y, unit * error) for x, y, error, unit in rows]))
    need_some(curves, "the windows are too large for their couplings to be read")
    return sorted(curves, key=lambda each: -_largest(each[1])) if len(curves) > MOST_COUPLINGS else curves


def _largest(curve: Points) -> float:
    return max((abs(y) for _, y, _ in curve), default=0.0)


def _left_out(family: FamilyView) -> Markup:
    """How many couplings are too many for one figure, and how large they are."""
    others = _couplings(family)[MOST_COUPLINGS:]
    if not others:
        return Markup("")
    words = "The {} largest are shown; {} others are at most {}."
    return text(words, MOST_COUPLINGS, len(others), short(_largest(others[0][1]), 2))


def _bond(family: FamilyView, r: tuple[int, ...]) -> str:
    """r = (0, 1), or 0–1 (0, 1) from a site of a cell to a site of the cell so far away."""
    if family.results.model is None or family.results.model.n_cell == 1:
        return f"r = ({', '.join(map(str, r))})"
    return f"{r[0]}–{r[1]} ({', '.join(map(str, r[2:]))})"


def _unit(family: FamilyView, value: float) -> float:
    """Of couplings at a value of the control parameter: the temperature where it is one, else 1."""
    return value if family.over_temperature else 1.0


def _coupling_label(family: FamilyView) -> Label:
    """In units of the temperature where that is the control parameter; else as it is in -ln of p(v)."""
    return COUPLING if family.over_temperature else REDUCED


def _true_couplings(family: FamilyView) -> list[float]:
    """The values that couplings of pairs have in truth, where the Hamiltonian is known."""
    if family.results.is_ising:
        return [1.0, 0.0]
    pairs = family.results.model.pairs if family.results.model else ()
    return sorted({pair.coupling for pair in pairs} | {0.0}) if pairs else []


def _truth(family: FamilyView) -> Markup:
    if family.results.is_ising:
        return Markup("The Ising model has 1 for neighbours and 0 for all others.")
    pairs = family.results.model.pairs if family.results.model else ()
    if not pairs:
        return Markup("")
    rows = [(plain(_bond(family, pair.r)), short(pair.coupling)) for pair in pairs]
    return text("In truth they are {} and 0 for all others (dotted).", list_with(": ", rows))


def coupling_words(family: FamilyView) -> list[Markup]:
    """A sentence on the coupling of neighbours near the transition; none without symmetric machines."""
    try:
        machines = fewest_filters(family)
    except Missing:
        return []
    values = [_learned(machine)[0] for machine in machines]
    wanted = family.critical or float(np.median(values))
    x, learned = _learned(min(machines, key=lambda machine: abs(_learned(machine)[0] - wanted)))
    unit = _unit(family, x)
    if family.results.model is not None:
        couplings = {pair.r: pair.coupling for pair in learned.pairs}
        shown = [pair.r for pair in family.results.model.pairs if pair.r in couplings]
        rows = [(plain(_bond(family, r)), short(couplings[r] * unit)) for r in shown]
        words = "Symmetric machines learned the couplings {} at {}: {}. {}"
        said = list_with(": ", rows)
        return [text(words, _coupling_label(family), family.at(x), said, _truth(family))] if rows else []
    nearest = cell(learned.nearest_coupling, 1 / unit)
    others = [abs(pair.coupling) * unit for pair in learned.pairs if sum(map(abs, pair.r)) > 1]
    words = (
        "Symmetric machines, whose filters are the same at every site, learned the coupling of neighbours "
        "{} = {} at {}{}; all other pairs of spins have couplings of at most {}."
    )
    ising = " (1 in the Ising model)" if family.results.is_ising else ""
    largest = short(max(others, default=0.0), 2)
    return [text(words, _coupling_label(family), nearest, family.at(x), ising, largest)]


@SECTION.family_figure("symmetric-entropy", "Symmetric", "Entropy from symmetric machines")
def draw_entropy(family: FamilyView) -> Chart:
    """The upper edge of the entropy and the likelihood beside the dense machines' and the exact curve."""
    symmetric = Column(family, ROLE)
    if not per_size(symmetric, "nll_per_spin"):
        raise Missing("ln Z of symmetric machines was not computed")
    caption = Markup(
        "Entropy per spin: negative log-likelihood of held-out configurations under symmetric machines, and "
        "the upper edge that needs no ln <i>Z</i>, beside the upper edge of dense machines."
    )
    panels = [_entropy_panel(family, symmetric)]
    if family.over_temperature:
        caption += text(
            " Right: heat capacities from the slope {0} d{1}/d{0} of the likelihood, and from energy "
            "fluctuations of what the machines generate.", T, ENTROPY,
        )  # fmt: skip
        panels.append(_heat_panel(family, symmetric))
    return curves_chart(caption, panels, columns=len(panels), height=2.8)


def _entropy_panel(family: FamilyView, symmetric: Column) -> Panel:
    curves = entropy_series(family)
    curves += per_size(symmetric, "nll_per_spin", "symmetric, NLL, ", dash=None)
    curves += upper_edges(symmetric, "symmetric, ")
    curves += upper_edges(Column(family, "main"), "dense, ", colour=GREY)
    return control_panel(family, plain("entropy"), ENTROPY + PER_SPIN, curves)


def _heat_panel(family: FamilyView, symmetric: Column) -> Panel:
    name = "heat_capacity_per_spin"
    curves = exact_series(family, name) or infinite_series(family, name) + data_series(family, name)
    for index, item in symmetric.looks:
        for slope in smooth_series(family, item, "nll_per_spin", "indicator", index):
            curves.append(replace(slope, name="symmetric, from NLL, " + slope.name))
    curves += per_size(symmetric, "own_heat_capacity_per_spin", "symmetric, own chains, ", dash=None)
    return control_panel(family, plain("heat capacity"), HEAT_CAPACITY + PER_SPIN, curves)


@SECTION.family_table()
def coupling_table(family: FamilyView) -> PageTable:
    """A row for each symmetric machine: its couplings, its field, and the temperature they tell."""
    machines = [machine for machine in family.results.first_seeds(ROLE) if machine.interactions]
    vectors = _shown_vectors(family, machines)
    times = " T" if family.over_temperature else ""
    names = [f"J{times} of {_bond(family, r).removeprefix('r = ')}" for r in vectors]
    unit = "in units of the temperature" if times else "as they stand in −ln of the probability"
    model = family.results.model
    field = "" if model is None or model.field is None else f" The field is {model.field:g}."
    note = text("Couplings and field {}. {}{}", unit, _truth(family), field)
    if family.results.is_ising:
        times, names = " T", ["learned T", "J T of neighbours"]
        note = Markup(
            "Couplings in units of the temperature; the temperature is one over that of neighbours."
        )
    columns: list[Cell] = ["Filters", "Kernel", family.run.control_symbol.html, *names]
    columns += [f"h{times}", "largest other", "largest of four spins"]
    rows = [_row(family, machine, vectors) for machine in machines]
    return PageTable(columns, rows, f"{family.name}: learned Hamiltonians", note)


def _shown_vectors(family: FamilyView, machines: list[MachineResults]) -> list[tuple[int, ...]]:
    """Displacements that have a column: those of the true bonds, or the shortest of the machines."""
    if family.results.model and family.results.model.pairs:
        return [pair.r for pair in family.results.model.pairs]
    return [pair.r for pair in _learned(machines[0])[1].pairs[:MOST_VECTORS]] if machines else []


def _row(family: FamilyView, machine: MachineResults, vectors: list[tuple[int, ...]]) -> list[Cell]:
    """Its couplings, the field, the largest coupling of other pairs, and that of four spins."""
    value, learned = _learned(machine)
    couplings = {pair.r: pair.coupling for pair in learned.pairs}
    if family.results.is_ising:
        unit = value
        shown = [short(learned.temperature), short(learned.nearest_coupling.value * unit)]
        others = [abs(J) for r, J in couplings.items() if sum(r) > 1]
    else:
        unit = _unit(family, value)
        shown = [short(couplings[r] * unit) if r in couplings else "–" for r in vectors]
        others = [abs(J) for r, J in couplings.items() if r not in vectors]
    fours = [abs(four.coupling) for four in learned.fours]
    largest = [short(max(each) * unit if each else None, 2) for each in (others, fours)]
    field = short(None if learned.field is None else learned.field * unit, 2)
    return [str(machine.filters), str(machine.kernel), f"{value:g}", *shown, field, *largest]
