"""The paper's side remarks: unequal signs in the data, and other proportions of temperatures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from thermorbm.report.chart import Chart, control_panel, curve_series, curves_chart, histogram
from thermorbm.report.labels import (
    DENSITY,
    WEIGHTS,
    axis,
    list_with,
    plain,
    short,
    size_label,
    text,
    with_error,
)
from thermorbm.report.panels import Panel, Series
from thermorbm.report.rules import estimates_by, moments_of
from thermorbm.report.run import NO_MACHINES, FamilyView, Missing, need
from thermorbm.report.section import Ruling, Section, decide
from thermorbm.report.style import BLUE, VERMILION
from thermorbm.study.results import MachineResults

PART = Section("remarks", "Side remarks")  # of the supplement

PROPORTIONS = (
    "visible_energy_mean_per_spin",
    "visible_energy_variance_per_spin",
    "pseudo_likelihood_per_spin",
)
SHIFTED = {"b": Markup("<i>b</i>"), "inverse_filter_sums": Markup("inverse-filter sums")}


def unbalanced_machines(family: FamilyView) -> list[tuple[float, MachineResults, MachineResults]]:
    """Machines on data with unequal signs, each with its temperature and its twin on balanced data."""
    machines = family.results.first_seeds("unbalanced")
    rows = [(m.value, m, family.results.machine("main", m.n_hidden, m.value)) for m in machines]
    pairs = [(value, machine, twin) for value, machine, twin in rows if value is not None and twin]
    return need(pairs or None, NO_MACHINES["unbalanced"])


@PART.family_figure("text-signs", "Text", "Unequal signs")
def draw_unequal_signs(family: FamilyView) -> Chart:
    """Biases and inverse-filter sums of machines trained on data with more spins of one sign."""
    pairs = unbalanced_machines(family)
    panels = [
        Panel(
            WEIGHTS[key] + " at " + family.at(value),
            WEIGHTS[key],
            DENSITY,
            _both_signs(family, one, twin, key),
        )
        for key in SHIFTED
        for value, one, twin in pairs
    ]
    biases = [(short(moments_of(one, "b").mean, 2), family.at(value)) for value, one, _ in pairs]
    caption = text(
        "Visible biases and sums of inverse filters of machines trained on data in which a fraction {} of "
        "the configurations has positive magnetisation, beside machines trained on balanced data. Mean "
        "bias {}.", pairs[0][1].sector, list_with(" at ", biases),
    )  # fmt: skip
    return curves_chart(caption, panels, columns=min(2, len(pairs)))


def _both_signs(
    family: FamilyView, unequal: MachineResults, balanced: MachineResults, key: str
) -> tuple[Series, ...]:
    return (
        histogram(plain("balanced signs"), family.weights(balanced), key, BLUE),
        histogram(plain("unequal signs"), family.weights(unequal), key, VERMILION),
    )


@PART.family_figure("text-proportions", "Text", "Other proportions of the data")
def draw_other_proportions(family: FamilyView) -> Chart:
    """Machines for all temperatures, trained on equal and on other proportions."""
    n_hidden = family.smallest("union-proportions")
    panels = [
        control_panel(family, axis(name), axis(name), curves)
        for name in PROPORTIONS
        if (curves := _both_proportions(family, n_hidden, name))
    ]
    machine = family.results.first_seeds("union-proportions", n_hidden)[0]
    caption = text(
        "Machines with {} trained on all data together, in equal and in other proportions ({}, from the "
        "lowest {} to the highest): mean and variance of the visible energy, and "
        "pseudo-likelihood.", size_label(n_hidden), _shares(machine.proportions or ()),
        family.run.results.study.control.name,
    )  # fmt: skip
    return curves_chart(caption, panels)


def _shares(proportions: Sequence[float]) -> str:
    """12 × 1, 8 × 4."""
    return ", ".join(f"{len(list(group))} × {value:g}" for value, group in groupby(proportions))


def _both_proportions(family: FamilyView, n_hidden: int, name: str) -> list[Series]:
    equal, other = (family.curve(role, n_hidden, name) for role in ("union", "union-proportions"))
    return [*curve_series(plain("equal"), equal, 0), *curve_series(plain("other proportions"), other, 1)]


@PART.claim("unbalanced", "Text", "Unequal signs in the data shift ⟨$b_j$⟩ and the inverse-filter sums.")
def unequal_signs_shift(family: FamilyView) -> Ruling:
    """Both means more than 3 standard errors from zero, and further than with balanced data."""
    words, moved = [], []
    for value, machine, twin in unbalanced_machines(family):
        parts = []
        for name, symbol in SHIFTED.items():
            shifted, usual = mean_in_errors(machine, name), mean_in_errors(twin, name)
            moved.append(abs(shifted) > max(3.0, abs(usual)))
            parts.append(text("{}: {}, balanced {}", symbol, short(shifted, 2), short(usual, 2)))
        words.append((family.at(value), Markup("; ").join(parts)))
    return decide(all(moved), "means in standard errors over units, {}", list_with(": ", words, "; "))


def mean_in_errors(machine: MachineResults, name: str) -> float:
    """The mean of one kind of weights over its standard error among the units."""
    moments = moments_of(machine, name)
    error = math.sqrt(moments.variance / moments.n_values)
    return moments.mean / error if error > 0 else 0.0


@PART.claim(
    "proportions", "Text", "Other proportions of temperatures move $T_c$ of the all-temperature machine."
)
def proportions_move_tc(family: FamilyView) -> Ruling:
    """Some indicator moves by more than 2 standard errors."""
    others = {(i.row.indicator, i.n_hidden): i for i in estimates_by(family, "union-proportions", "")}
    equal = estimates_by(family, "union", "")
    pairs = [
        (i, others[i.row.indicator, i.n_hidden]) for i in equal if (i.row.indicator, i.n_hidden) in others
    ]
    if not pairs:
        raise Missing("the two kinds of machines have no indicator in common")
    moved = any(abs(b.value - a.value) > 2 * (a.error**2 + b.error**2) ** 0.5 for a, b in pairs)
    words = [
        text("{}: {} → {}", a.label, with_error(a.value, a.error), with_error(b.value, b.error))
        for a, b in pairs
    ]
    return decide(moved, "{}", Markup("; ").join(words))
