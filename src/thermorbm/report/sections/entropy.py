"""Pseudo-likelihood beside entropy and pseudo-entropy (figure 8), and the heat capacities that follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from thermorbm.report.chart import (
    Chart,
    Column,
    as_theirs,
    column_charts,
    control_panel,
    curve_series,
    curves_chart,
    per_size,
)
from thermorbm.report.labels import (
    ENTROPY,
    N_HIDDEN,
    NOTHING,
    PER_SPIN,
    PSEUDO_ENTROPY,
    PSEUDO_LIKELIHOOD,
    UPPER_EDGE,
    Label,
    by_size,
    cell,
    plain,
    short,
    size_label,
    text,
    with_error,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.rules import check_fall_with_size, indicator_label
from thermorbm.report.run import NO_MACHINES, ONE_SIZE, FamilyView, Missing, Run, need_some, points
from thermorbm.report.section import Cell, PageTable, Ruling, Section, decide
from thermorbm.report.sections.data import data_series, entropies, exact_series, infinite_series
from thermorbm.report.sections.generation import ROLES_SHOWN
from thermorbm.report.style import BLACK, GREY, colour
from thermorbm.study.quantities import HEAT_PEAK
from thermorbm.study.results import Bracket, Data, Indicators, MachineResults, Observation, Thermodynamics

SECTION = Section("entropy", "Pseudo-likelihood and entropy")

LIKELIHOOD = "pseudo_likelihood_per_spin"
NO_LIKELIHOOD = "pseudo-likelihoods were not computed"
NO_COMMON = "no temperature is common to both kinds of machines"
NO_ENTROPY = "the entropy is not known at these temperatures"
# Captions of figure 8, where the true entropy and pseudo-entropy are known, and where they are not.
WITH_MODEL = (
    "Pseudo-likelihood {0} of held-out configurations, entropy {1} and pseudo-entropy {2}, all per spin, "
    "against {3}, for each $n_h$.{5} Dashed: fits near the transition. A perfect machine would lie "
    "on {2}, not on {1}. {4}, where it was computed, is the upper edge of the entropy bracket "
    "{2} ≤ {1} ≤ {4} from the largest machine: it needs held-out configurations alone."
)
WITHOUT_MODEL = (
    "Pseudo-likelihood {0} of held-out configurations, per spin, against {3}, for each $n_h$.{5} {4}, where "
    "it was computed, is an upper bound of the entropy from the largest machine: it needs held-out "
    "configurations alone. Dashed: fits near the transition."
)
ByValue = dict[float, float]


@SECTION.figure("fig-8", "Fig. 8", "Pseudo-likelihood and entropy")
def draw_entropies(run: Run) -> list[Chart]:
    return column_charts(run, lambda column: bool(per_size(column, LIKELIHOOD)), _draw_columns, NO_LIKELIHOOD)


def _draw_columns(columns: list[Column], id: str) -> Chart:
    knows_model = any(pseudo_entropy_series(column.family) for column in columns)
    caption = text(
        WITH_MODEL if knows_model else WITHOUT_MODEL,
        PSEUDO_LIKELIHOOD, ENTROPY, PSEUDO_ENTROPY, columns[0].family.run.control_symbol,
        UPPER_EDGE, as_theirs(columns, "; dotted: on held-out ones"),
    )  # fmt: skip
    return curves_chart(caption, [_panel(column) for column in columns], id, columns=len(columns), height=2.8)


def _panel(column: Column) -> Panel:
    family = column.family
    curves = [*entropy_series(family), *pseudo_entropy_series(family)]
    name = family.scored(LIKELIHOOD)
    curves += per_size(column, name, dash=None)
    if name != LIKELIHOOD:
        curves += per_size(column, LIKELIHOOD, marker=None, dash="dot", listed=False)
    curves += upper_edges(column)[-1:]
    for index, item in column.looks:
        curves += smooth_series(family, item, name, "fit", index)
    return control_panel(family, column.title, plain("nats per spin"), curves)


def upper_edges(column: Column, prefix: str = "", **style: Any) -> list[Series]:
    """The upper edge of the entropy bracket for each number of hidden units."""
    name, label = "entropy_upper_per_spin", UPPER_EDGE + PER_SPIN + ", "
    return per_size(column, name, prefix + label, marker="triangle-down", dash="dashdot", **style)


def entropy_series(family: FamilyView) -> list[Series]:
    """The exact entropy of the finite lattice; else that of the samples, beside that of the infinite one.

    Samples of other Hamiltonians are points, also where nothing exact is known: panels of several families
    share a legend, in which a black line is exact.
    """
    for exact in exact_series(family, "entropy_per_spin"):
        return [replace(exact, name=ENTROPY + PER_SPIN + " exact", width=1.4)]
    label = ENTROPY + PER_SPIN + " exact, infinite lattice"
    exact_curves = [replace(item, name=label) for item in infinite_series(family, "entropy_per_spin")]
    curve = family.data_curve("entropy_per_spin")
    is_ising = family.results.is_ising
    name = ENTROPY + PER_SPIN + (" by integration" if is_ising else " of all samples")
    is_line = is_ising and not exact_curves
    look: dict[str, Any] = {"marker": None} if is_line else {"marker": "cross", "dash": None}
    return [*exact_curves, *curve_series(name, curve, colour=BLACK, width=1.4, **look)]


def pseudo_entropy_series(family: FamilyView) -> list[Series]:
    curve = family.data_curve("pseudo_entropy_per_spin")
    return curve_series(PSEUDO_ENTROPY + PER_SPIN, curve, colour=GREY, marker="circle-open", dash="dot")


def smooth_series(
    family: FamilyView, item: Indicators | Thermodynamics, curve: str, what: str, index: int = 0
) -> list[Series]:
    """The smooth curve through the points ("fit"), or the one whose maximum gives T_c ("indicator")."""
    arrays = family.run.arrays(item.file)
    if f"critical.{curve}.{what}" not in arrays:
        return []
    x, y, errors = (arrays[f"critical.{curve}.{key}"] for key in ("x", what, f"{what}_errors"))
    style: dict[str, Any] = {"width": 0.9, "dash": "dash", "listed": False}
    if what == "indicator":
        style = {"band": (np.asarray(y - errors, np.float64), np.asarray(y + errors, np.float64))}
    name = size_label(item.n_hidden) if isinstance(item, Indicators) else NOTHING
    return [series(name, x, y, colour=colour(index), **style)]


@SECTION.figure("supp-heat-capacity", "Supp.", "Estimated heat capacity")
def draw_heat_capacities(run: Run) -> list[Chart]:
    """Supplement: T dL~/dT of each size beside T dS~/dT and the heat capacity."""
    reason = "no slopes of the pseudo-likelihood were estimated"
    return column_charts(run, lambda column: bool(_slopes(column)), _draw_slopes, reason)


def _slopes(column: Column) -> list[Series]:
    curves: list[Series] = []
    if not column.family.over_temperature:
        return curves  # T dS/dT is a heat capacity of a temperature alone
    for index, item in column.looks:
        curves += smooth_series(column.family, item, column.family.scored(LIKELIHOOD), "indicator", index)
        for edge in smooth_series(column.family, item, "entropy_upper_per_spin", "indicator", index):
            curves.append(replace(edge, name=UPPER_EDGE + ", " + edge.name, dash="dashdot", band=None))
    return curves


def _draw_slopes(columns: list[Column], id: str) -> Chart:
    caption = text(
        "Heat capacities estimated as {0} d{1}/d{0} from the pseudo-likelihood, with their error bands, "
        "beside the same from {2}, the upper edge of the entropy bracket, from {3} and {4}, and beside the "
        "heat capacity itself: exact, or from energy fluctuations of the data.",
        columns[0].family.run.control_symbol, PSEUDO_LIKELIHOOD, UPPER_EDGE, ENTROPY, PSEUDO_ENTROPY,
    )  # fmt: skip
    panels = [_slope_panel(column) for column in columns]
    return curves_chart(caption, panels, id, columns=len(columns), height=2.8)


def _slope_panel(column: Column) -> Panel:
    family = column.family
    curves = exact_series(family, "heat_capacity_per_spin") or data_series(family, "heat_capacity_per_spin")
    for curve, dash in (("entropy_per_spin", "dash"), ("pseudo_entropy_per_spin", "dot")):
        for slope in smooth_series(family, family.thermodynamics, curve, "indicator"):
            name = indicator_label(curve, HEAT_PEAK, family.run.control_symbol)
            curves.append(replace(slope, name=name, colour=GREY, dash=dash, band=None))
    label = Label(r"per spin ($k_\mathrm{B}$)")
    return control_panel(family, column.title, label, [*curves, *_slopes(column)])


@SECTION.family_table()
def bracket_table(family: FamilyView) -> PageTable:
    """A row for each machine and temperature: lower edge, entropy, upper edge, likelihoods."""
    machines = [machine for role in ROLES_SHOWN for machine in family.results.first_seeds(role)]
    pairs = [(machine, row) for machine in machines for row in machine.observations]
    rows = [_bracket_row(family, machine, row, row.bracket) for machine, row in pairs if row.bracket]
    columns, note = _bracket_columns(family.run), _bracket_note(family)
    return PageTable(columns, rows, f"{family.name}: entropy bracket", note)


def _bracket_columns(run: Run) -> list[Cell]:
    per_spin = [PSEUDO_ENTROPY, ENTROPY, plain("upper edge"), plain("NLL"), PSEUDO_LIKELIHOOD, plain("KL")]
    return [
        "Group",
        N_HIDDEN.html,
        run.control_symbol.html,
        *((label + PER_SPIN).html for label in per_spin),
        text("<i>F</i>{} at least", PER_SPIN),
        text("ln <i>Z</i> verdict"),
    ]


def _bracket_row(family: FamilyView, machine: MachineResults, row: Observation, edges: Bracket) -> list[Cell]:
    data = family.data_at(row.value)
    return [
        machine.variant,
        str(machine.n_hidden),
        f"{row.value:g}",
        cell(edges.entropy_lower_per_spin),
        short(_entropy_of(data), 5),
        cell(edges.entropy_upper_per_spin),
        cell(edges.nll_per_spin),
        cell(row.likelihood.held_out.pseudo_likelihood_per_spin if row.likelihood else None),
        cell(edges.kl_per_spin),
        cell(edges.free_energy_lower_per_spin),
        machine.partition.verdict if machine.partition else "–",
    ]


def _entropy_of(data: Data | None) -> float | None:
    """S per spin where it is known exactly; that of an infinite plane is no truth of a small torus."""
    exact = None if data is None else data.exact
    return None if exact is None or exact.source == "infinite" else exact.entropy_per_spin


def _bracket_note(family: FamilyView) -> Cell:
    note = text(
        "Nats per spin, one standard error in brackets. The entropy of the data lies between {} and the "
        "upper edge, a bound from chains that anneal from held-out configurations; NLL uses ln <i>Z</i> of "
        "the machine and is too small if that is. {} bounds nothing.", PSEUDO_ENTROPY, PSEUDO_LIKELIHOOD,
    )  # fmt: skip
    return note if family.results.has_energy else note + " There is no lower edge without a Hamiltonian."


def likelihoods(family: FamilyView, role: str = "main") -> dict[int, ByValue]:
    """L~ per spin over the control parameter for each number of hidden units."""
    items = family.results.indicators_of(role)
    need_some(items, NO_MACHINES[role])
    name = family.scored(LIKELIHOOD)
    curves = {item.n_hidden: {x: y for x, y, _ in points(item.curves.get(name))} for item in items}
    if not all(curves.values()):
        raise Missing(NO_LIKELIHOOD)
    return curves


def common_values(*curves: ByValue, reason: str) -> list[float]:
    """Values of the control parameter at which all curves have a point; Missing if there are none."""
    return need_some(sorted(set.intersection(*(set(curve) for curve in curves))), reason)


SECTION.claim("likelihood-size", "Fig. 8", r"$\widetilde{\mathcal{L}}$ falls with $n_h$.")(
    check_fall_with_size(LIKELIHOOD, NO_LIKELIHOOD)
)


@SECTION.claim(
    "likelihood-union",
    "Fig. 8",
    r"$\widetilde{\mathcal{L}}$ of all-temperature machines is above that of single-temperature ones.",
)
def union_above_single(family: FamilyView) -> Ruling:
    """At every temperature, for each common size."""
    union, single = likelihoods(family, "union"), likelihoods(family)
    sizes = [n for n in union if n in single]
    need_some(sizes, "no size is common to both kinds of machines")
    words, holds = [], True
    for n in sizes:
        common = common_values(union[n], single[n], reason=NO_COMMON)
        gaps = [union[n][x] - single[n][x] for x in common]
        above, mean = sum(gap > 0 for gap in gaps), short(sum(gaps) / len(gaps), 2)
        holds &= above == len(gaps)
        words.append((n, f"at {above} of {len(gaps)} temperatures, by {mean} per spin on average"))
    return decide(holds, "{}", by_size(words))


@SECTION.claim(
    "nearest-entropy", "Text", r"The smallest $n_h$ gives the $\widetilde{\mathcal{L}}$ nearest to $S$."
)
def smallest_nearest_to_entropy(family: FamilyView) -> Ruling:
    """Smallest root mean square distance over all temperatures."""
    curves, entropy = likelihoods(family), entropies(family)
    if len(curves) < 2:
        raise Missing(ONE_SIZE)
    distances = {}
    for n, curve in curves.items():
        common = common_values(curve, entropy, reason=NO_ENTROPY)
        distances[n] = (sum((curve[x] - entropy[x]) ** 2 for x in common) / len(common)) ** 0.5
    nearest = min(distances, key=lambda n: distances[n])
    words = by_size([(n, short(distance, 3)) for n, distance in distances.items()])
    return decide(nearest == min(distances), "root mean square distance from <i>S</i> per spin {}", words)


@SECTION.claim("pseudo-entropy", "Text", r"$\widetilde{S}$ < $S$.", of_any_model=True)
def pseudo_entropy_below(family: FamilyView) -> Ruling:
    """An identity, conditioning: at no temperature is S~ above S by more than 2 standard errors."""
    entropy = entropies(family)
    curve = family.data_curve("pseudo_entropy_per_spin")
    rows = [(entropy[x] - y, error, x) for x, y, error in curve if x in entropy]
    need_some(rows, NO_ENTROPY if curve else "pseudo-entropies were not computed")
    good = [gap > -2 * error for gap, error, _ in rows]
    gap, error, x = max(rows)
    words = "at {} of {} temperatures within 2 errors; largest gap {} per spin at {}"
    return decide(all(good), words, sum(good), len(good), with_error(gap, error), family.at(x))


@SECTION.claim(
    "enumeration",
    "App. B, C",
    "Visible energy, conditionals, gradients, KL, CE, CD-$k$ and PCD-$k$ are as derived.",
    of_any_model=True,
)
def derivations_right(family: FamilyView) -> Ruling:
    """Each against brute-force enumeration on tiny machines."""
    raise Missing("a study does not test it; the test suite compares each with enumeration of tiny machines")
