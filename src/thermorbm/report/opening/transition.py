"""First screen: where the best indicators put the transition; how ordered data without a known model are."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import control_panel, curve_series
from thermorbm.report.labels import (
    NOTHING,
    PSEUDO_ENTROPY,
    PSEUDO_LIKELIHOOD,
    TC,
    UPPER_EDGE,
    Label,
    axis,
    cell,
    percent,
    plain,
    text,
    with_error,
)
from thermorbm.report.panels import Panel
from thermorbm.report.rules import TcEstimate, tc_estimates
from thermorbm.report.run import FamilyView, Missing, Points, Run, need_some
from thermorbm.report.sections.critical import forest_panel
from thermorbm.report.sections.scaling import binder_panel, fitted_scalings
from thermorbm.report.style import BLACK, VERMILION
from thermorbm.study.result_curves import Exponents, Scaling

MOST_ROWS, MOST_OF_A_KIND = 6, 2
MOST_ELSEWHERE = 3
ORDER = ("data", "symmetric", "main", "union")  # of the rows; other kinds of machines come after these
MAGNETIZATION = "abs_magnetization_per_spin"
NU = Label(r"$\nu$")
FIELD = Label(r"$\langle b_j\rangle$")
# What indicators that begin so are made of: symbols that no other sentence of the first screen explains.
MEANINGS = {
    "visible_energy": (Label(r"$\mathcal{E}_\theta$"), "visible energy of a machine"),
    "zero_bias_energy": (Label(r"$\mathcal{E}_W$"), "visible energy without biases"),
    "pseudo_likelihood": (PSEUDO_LIKELIHOOD, "pseudo-likelihood"),
    "pseudo_entropy": (PSEUDO_ENTROPY, "pseudo-entropy"),
    "nll": (plain("NLL"), "negative log-likelihood"),
    "entropy_upper": (UPPER_EDGE, "upper bound of the entropy"),
}


def transition_panel(family: FamilyView) -> Panel:
    """The best estimates of each kind of machine, one below the other, against target and exact T_c."""
    return forest_panel(family, best_estimates(family))


def best_estimates(family: FamilyView) -> list[TcEstimate]:
    """The nearest to their targets of each kind, errors included; the sharpest where there is no target.

    Nearest by hindsight: the sentence beside them says how many others there are, and how far off. Of two
    that give the same number, as the heat capacity and T dS/dT do, one is enough.
    """
    items = sorted(_sharp(family), key=_place)
    kinds = [_differing(sorted(rows, key=_miss)) for _, rows in groupby(items, key=_place)]
    best = [rows[rank] for rank in range(MOST_OF_A_KIND) for rows in kinds if rank < len(rows)]
    return sorted(best[:MOST_ROWS], key=_place)  # of every kind one, before there are two of any


def _differing(rows: list[TcEstimate]) -> list[TcEstimate]:
    """The first of those that give the same number."""
    first: dict[str, TcEstimate] = {}
    for row in rows:
        first.setdefault(row.number, row)
    return list(first.values())


def _sharp(family: FamilyView) -> list[TcEstimate]:
    rows = [row for row in tc_estimates(family, shown=True) if _is_sharp(row)]
    symbol = family.run.results.study.control.symbol
    return need_some(rows, f"no indicator has a peak that these values of {symbol} resolve")


def _is_sharp(row: TcEstimate) -> bool:
    """Whether it is a number, and no interval of a peak that was not resolved."""
    return row.is_determined and row.row.interval is None


def _place(row: TcEstimate) -> tuple[int, str]:
    return (ORDER.index(row.role), "") if row.role in ORDER else (len(ORDER), row.role)


def _miss(row: TcEstimate) -> tuple[bool, float]:
    """How far an estimate is off, with its error, relative to its target; those without one come last."""
    return row.target is None, math.hypot(row.distance or 0.0, row.error / abs(row.value or 1.0))


def transition_words(family: FamilyView) -> list[Markup]:
    """The best estimate of the machines; how all compare; the best for other data; what the symbols mean."""
    rows = _sharp(family)
    machines = [row for row in rows if row.role != "data"] or rows
    return [
        _best_words(family, _best(family)),
        _others_words(family, machines),
        _elsewhere_words(family),
        _symbol_words(best_estimates(family)),
    ]


def _best(family: FamilyView) -> TcEstimate:
    """The best estimate of the machines, but of no variant that is a control where there are others."""
    shown = best_estimates(family)
    of_machines = [row for row in shown if row.role != "data"]
    return min([row for row in of_machines if row.role in ORDER] or of_machines or shown, key=_miss)


def _elsewhere_words(family: FamilyView) -> Markup:
    """The best estimates for the study's other data that have a transition, as many as there is room for."""
    places = []
    for other in family.run.families:
        if other.results.name == family.results.name or other.critical is None:
            continue
        if any(map(_is_sharp, tc_estimates(other, shown=True))):
            best = _best(other)
            off = "" if best.distance is None else f" ({percent(best.distance, signed=True)} from its target)"
            places.append(text("of {} at {}{}", other.title, best.number, off))
    if not places:
        return Markup("")
    return text("They put the transition {}.", Markup(", that ").join(places[:MOST_ELSEWHERE]))


def _best_words(family: FamilyView, best: TcEstimate) -> Markup:
    who = "The configurations" if best.role == "data" else "Machines"
    where = text("{} = {}, where {} is largest", family.run.critical_symbol, best.number, best.full_label)
    return text("{} put the transition of {} at {}.{}", who, family.title, where, _distances(best))


def _symbol_words(rows: list[TcEstimate]) -> Markup:
    meanings = [
        text("{} is the {}", symbol, words)
        for name, (symbol, words) in MEANINGS.items()
        if any(row.row.indicator.startswith(name) for row in rows)
    ]
    return text("Here {}.", Markup(", ").join(meanings)) if meanings else Markup("")


def _distances(best: TcEstimate) -> Markup:
    """How far it lies from where it should, in per cent and in standard errors."""
    if best.target is None:
        return Markup("")
    sigmas = abs(best.value - best.target) / best.error if best.error > 0 else math.inf
    words = text(
        " That is {} ({:.1f} standard errors) from its target {:.4f}, where it should be largest on this "
        "finite lattice", percent(best.distance, signed=True), sigmas, best.target,
    )  # fmt: skip
    if best.infinite is None:
        return words + "."
    return words + text("; on the infinite lattice the transition is at {:.5g}.", best.infinite)


def _others_words(family: FamilyView, machines: list[TcEstimate]) -> Markup:
    distances = sorted(abs(row.distance) for row in machines if row.distance is not None)
    if len(distances) > 2:  # half of two says nothing
        middle, furthest = (percent(each, digits=1) for each in (np.median(distances), distances[-1]))
        words = (
            "The picture shows those nearest to their targets, of {} indicators: half of all lie within {}, "
            "all within {}."
        )
        return text(words, len(distances), middle, furthest)
    values = sorted(row.value for row in machines)
    if len(values) > 1:
        words = "This is the sharpest of {} indicators, which lie between {:.4g} and {:.4g}{}."
        is_unknown = not distances and family.critical is None
        unknown = "; no exact value is known" if is_unknown else ""
        return text(words, len(values), values[0], values[-1], unknown)
    return Markup("The peak of no other indicator is resolved.")


def scaling_panel(run: Run) -> Panel:
    """Binder's cumulant of the first lattice that was studied at several sides."""
    item, fit = fitted_scalings(run)[0]
    return replace(binder_panel(run, item, fit), title=NOTHING)


def scaling_words(run: Run) -> list[Markup]:
    """T_c and nu of the infinite lattices."""
    return [_fit_words(item, fit) for item, fit in fitted_scalings(run)]


def _fit_words(item: Scaling, fit: Exponents) -> Markup:
    """A sentence on one lattice, with what is known beside it."""
    known = (
        ("", "") if item.known is None else (f" ({item.known.temperature:.5f})", f" ({item.known.nu:.4g})")
    )
    words = "{}: sides of {} to {} spins give {} = {}{} and {} = {}{} for the infinite lattice{}."
    beside = "" if item.known is None else "; known values in brackets"
    sides = (item.sides[0], item.sides[-1])
    parts = (TC, cell(fit.temperature), known[0], NU, cell(fit.nu), known[1])
    return text(words, item.name, *sides, *parts, beside)


def order_panel(family: FamilyView) -> Panel:
    """|m| of the data and the mean visible bias of machines, against the control parameter."""
    order = axis(MAGNETIZATION) + " of the data"
    curves = [
        *curve_series(order, _order(family), colour=BLACK, marker="circle-open"),
        *curve_series(FIELD + ", mean field on a spin", fields(family), colour=VERMILION, marker="square"),
    ]
    return control_panel(family, NOTHING, plain("per spin"), curves)


def _order(family: FamilyView) -> Points:
    return need_some(family.data_curve(MAGNETIZATION), "averages of the configurations were not computed")


def fields(family: FamilyView) -> Points:
    """The mean visible bias of the smallest machines, with its error among the spins."""
    try:
        rows = [(value, machine.weights) for value, machine in family.smallest_machines()]
    except Missing:
        return []
    return [(x, w.b.mean, math.sqrt(w.b.variance / w.b.n_values)) for x, w in rows if w]


def order_words(family: FamilyView) -> list[Markup]:
    """From where to where order and field go."""
    words = [text("The order of the data, ⟨|<i>m</i>|⟩, goes from {} to {}.", *_ends(family, _order(family)))]
    if learned := fields(family):
        sentence = "The mean field on a spin that machines learned, the visible bias, goes from {} to {}."
        words.append(text(sentence, *_ends(family, learned)))
    return words


def _ends(family: FamilyView, curve: Points) -> list[Markup]:
    return [text("{} at {}", with_error(y, error), family.at(x)) for x, y, error in (curve[0], curve[-1])]
