"""The supplement: training, machines without biases, reconstruction errors, all filters, and the paper's side
remarks on unequal signs in the data and on other proportions of temperatures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from thermorbm.report.chart import (
    Chart,
    Column,
    control_panel,
    curve_series,
    curves_chart,
    histogram,
    landmarks,
    per_size,
    sheet_figure,
)
from thermorbm.report.labels import (
    DENSITY,
    N_HIDDEN,
    WEIGHTS,
    Label,
    axis,
    cell,
    list_with,
    percent,
    plain,
    short,
    size_label,
    text,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.rules import check_fall_with_size, estimates_by, moments_of
from thermorbm.report.run import NO_MACHINES, ONE_SIZE, FamilyView, Missing, need, need_some, pair_of, points
from thermorbm.report.section import Ruling, Section, decide
from thermorbm.report.sections import filter_sums
from thermorbm.report.sections.entropy import NO_COMMON, NO_LIKELIHOOD, common_values, likelihoods
from thermorbm.report.style import BLUE, VERMILION, colour
from thermorbm.study.quantities import QUANTITIES
from thermorbm.study.results import MachineResults

SECTION = Section("supplement", "Further figures")

CROSS_ENTROPY = plain("cross entropy per unit")
WITHOUT_BIASES = ("pseudo_likelihood_per_spin", "visible_energy_variance_per_spin", "filter_sum_abs_variance")
PROPORTIONS = (
    "visible_energy_mean_per_spin",
    "visible_energy_variance_per_spin",
    "pseudo_likelihood_per_spin",
)
SHIFTED = {"b": Markup("<i>b</i>"), "inverse_filter_sums": Markup("inverse-filter sums")}
RECONSTRUCTION = {
    "cross_entropy": CROSS_ENTROPY,
    "energy_per_spin": Label(r"$|\Delta E|/N$"),
    "heat_capacity_per_spin": Label(r"$|\Delta c_V|$"),
}


@SECTION.family_figure("supp-training", "Supp.", "Training curves")
def draw_training(family: FamilyView) -> Chart:
    """L~ and CE per epoch at the landmarks, and of the machines for all temperatures."""
    panels, n_sites = [], need(next(iter(family.results.data), None), "there are no data").n_sites
    for value in [*landmarks(family), None]:
        role, title = ("union", plain(family.run.all_values)) if value is None else ("main", family.at(value))
        machines = [machine for machine in family.results.first_seeds(role) if machine.value == value]
        for key, label, scale in (
            ("pseudo_likelihood", axis("pseudo_likelihood_per_spin"), n_sites),
            ("cross_entropy", CROSS_ENTROPY, 1),
        ):
            panels.append(Panel(title, plain("epoch"), label, _histories(family, machines, key, scale)))
    kept = [panel for panel in panels if panel.series]
    need_some(kept, "training was too short to have curves")
    counts = Counter(machine.verdict.status for machine in family.results.machines)
    caption = text(
        "Pseudo-likelihood per spin and cross entropy against the epoch; full lines for training "
        "configurations, dotted ones for held-out configurations. All machines of this family: {}.",
        ", ".join(f"{number} {status}" for status, number in sorted(counts.items())),
    )  # fmt: skip
    return curves_chart(caption, kept, columns=2, height=1.9)


def _histories(
    family: FamilyView, machines: list[MachineResults], key: str, scale: float
) -> tuple[Series, ...]:
    curves = []
    for index, machine in enumerate(machines):
        arrays = family.run.arrays(machine.file)
        for prefix, dash in (("", "solid"), ("validation_", "dot")):
            values = arrays.get(f"history.{prefix}{key}")
            if values is not None and len(values) > 1:
                label = size_label(machine.n_hidden) + (" held out" if prefix else "")
                style: dict[str, Any] = {"colour": colour(index), "dash": dash}
                curves.append(series(label, arrays["history.epoch"], values / scale, **style))
    return tuple(curves)


@SECTION.family_figure("supp-zero-bias", "Supp.", "Machines without biases")
def draw_zero_bias(family: FamilyView) -> Chart:
    """Machines without biases beside those with them."""
    n_hidden = family.smallest("zero-bias")
    roles = {"main": "with biases", "zero-bias": "without biases"}
    panels = _side_by_side(family, n_hidden, WITHOUT_BIASES, roles, dash=None)
    caption = text(
        "Machines whose biases were held at zero beside machines with biases, both with {}: "
        "pseudo-likelihood, variance of the visible energy, variance of the absolute filter sum.",
        size_label(n_hidden),
    )  # fmt: skip
    return curves_chart(caption, panels)


def _side_by_side(
    family: FamilyView, n_hidden: int, names: Sequence[str], roles: Mapping[str, str], **style: Any
) -> list[Panel]:
    """A panel for each curve by its name. roles: what machines are called, by role. style: of the second."""
    panels = []
    for name in names:
        curves: list[Series] = []
        for index, (role, words) in enumerate(roles.items()):
            look = style if index else {}
            curves += curve_series(plain(words), family.curve(role, n_hidden, name), index, **look)
        if curves:
            panels.append(control_panel(family, axis(name), axis(name), curves))
    return panels


SECTION.include(filter_sums.SUPPLEMENT)


@SECTION.family_figure("supp-reconstruction", "Supp.", "Reconstruction error")
def draw_reconstruction(family: FamilyView) -> Chart:
    """How far generated configurations are from the data, against the number of hidden units."""
    if len(family.results.sizes()) < 2:
        raise Missing(ONE_SIZE if family.results.sizes() else NO_MACHINES["main"])
    panels = []
    for name, label in RECONSTRUCTION.items():
        curves: list[Series] = []
        for index, value in enumerate(landmarks(family)):
            pairs = [(n_hidden, _error(family, n_hidden, value, name)) for n_hidden in family.results.sizes()]
            curve = [(float(n_hidden), *pair) for n_hidden, pair in pairs if pair is not None]
            curves += curve_series(family.at(value), curve, index, width=1.2)
        panels += [Panel(label, N_HIDDEN, label, tuple(curves))] if curves else []
    caption = text(
        "Left: cross entropy between held-out configurations and their reconstruction. Then: distance of "
        "energy and heat capacity of <i>v</i><sup>(7)</sup>, seven steps from the <i>p</i><sub>h</sub> "
        "start, from the data. All against $n_h$."
    )  # fmt: skip
    return curves_chart(caption, panels)


def _error(family: FamilyView, n_hidden: int, value: float, name: str) -> tuple[float, float] | None:
    """How far what a machine generates is off in one quantity, with the standard error of that."""
    seen, data = family.observation(n_hidden, value), family.data_at(value)
    if name == "cross_entropy":
        return pair_of(seen.likelihood.held_out.cross_entropy) if seen and seen.likelihood else None
    made = seen.generation.magnetization_chain.thermal.get(name) if seen and seen.generation else None
    true = data.thermal.get(name) if data else None
    if made is None or true is None:
        return None
    return abs(made.value - true.value), math.hypot(made.error, true.error)


def unbalanced_machines(family: FamilyView) -> list[tuple[float, MachineResults, MachineResults]]:
    """Machines on data with unequal signs, each with its temperature and its twin on balanced data."""
    machines = family.results.first_seeds("unbalanced")
    rows = [(m.value, m, family.results.machine("main", m.n_hidden, m.value)) for m in machines]
    pairs = [(value, machine, twin) for value, machine, twin in rows if value is not None and twin]
    return need_some(pairs, NO_MACHINES["unbalanced"])


@SECTION.family_figure("text-signs", "Text", "Unequal signs")
def draw_unequal_signs(family: FamilyView) -> Chart:
    """Biases and inverse-filter sums of machines trained on data with more spins of one sign."""
    pairs = unbalanced_machines(family)
    panels = []
    for key in SHIFTED:
        for value, unequal, balanced in pairs:
            curves = (
                histogram(plain("balanced signs"), family.weights(balanced), key, BLUE),
                histogram(plain("unequal signs"), family.weights(unequal), key, VERMILION),
            )
            label = WEIGHTS[key]
            panels.append(Panel(label + " at " + family.at(value), label, DENSITY, curves))
    biases = [(value, short(moments_of(one, "b").mean, 2)) for value, one, _ in pairs]
    caption = text(
        "Visible biases and sums of inverse filters of machines trained on data in which a fraction {} of "
        "the configurations has positive magnetisation, beside machines trained on balanced data. Mean "
        "bias {}.", pairs[0][1].sector, family.list_at(biases),
    )  # fmt: skip
    return curves_chart(caption, panels, columns=min(2, len(pairs)))


@SECTION.family_figure("text-proportions", "Text", "Other proportions of the data")
def draw_other_proportions(family: FamilyView) -> Chart:
    """Machines for all temperatures, trained on equal and on other proportions."""
    n_hidden = family.smallest("union-proportions")
    roles = {"union": "equal", "union-proportions": "other proportions"}
    panels = _side_by_side(family, n_hidden, PROPORTIONS, roles)
    machine = family.results.first_seeds("union-proportions", n_hidden)[0]
    shares = [f"{len(list(group))} × {value:g}" for value, group in groupby(machine.proportions or ())]
    caption = text(
        "Machines with {} trained on all data together, in equal and in other proportions ({}, from the "
        "lowest {} to the highest): mean and variance of the visible energy, and "
        "pseudo-likelihood.", size_label(n_hidden), ", ".join(shares),
        family.run.results.study.control.name,
    )  # fmt: skip
    return curves_chart(caption, panels)


@SECTION.family_figure("supp-filters", "Supp.", "All filters")
def draw_all_filters(family: FamilyView) -> list[Chart]:
    """Every filter of the machines for which they were kept, which are some of the smallest."""
    charts = []
    for value, machine in family.smallest_machines():
        arrays = family.run.arrays(machine.weights.file if machine.weights else None)
        if "all_filters" in arrays and family.shape:
            filters = (arrays["all_filters"] * float(arrays["all_filters_scale"])).reshape(-1, *family.shape)
            layer = " One layer of the cube is shown." if len(family.shape) == 3 else ""
            words = "All {} filters of a machine at {}, in the order of the hidden units.{}"
            caption = text(words, len(filters), family.at(value), layer)
            id, title = f"-{value:g}-h{machine.n_hidden}", ", " + family.at(value)
            charts.append(Chart(caption, sheet_figure(filters), lossy=True, id=id, title=title))
    return need_some(charts, "no machine's filters were all kept (`all_filters` in the study)")


@SECTION.family_figure("supp-quantities", "Supp.", "Further quantities")
def draw_further_quantities(family: FamilyView) -> list[Chart]:
    """Quantities that are measured by a function of their own, which no other figure shows; often none."""
    data, panels = family.thermodynamics.curves, []
    for name, quantity in QUANTITIES.items():
        curves = curve_series(plain("Monte Carlo data"), points(data.get(name)), marker="circle-open")
        for role in ("main", "symmetric", "union"):
            curves += per_size(Column(family, role), name)
        if quantity.measure is not None and curves:
            panels.append(control_panel(family, axis(name), axis(name), curves))
    caption = text("Further quantities of this study, against {}.", family.run.control_symbol)
    return [curves_chart(caption, panels)] if panels else []


@SECTION.claim("unbalanced", "Text", "Unequal signs in the data shift ⟨$b_j$⟩ and the inverse-filter sums.")
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


@SECTION.claim(
    "proportions", "Text", "Other proportions of temperatures move $T_c$ of the all-temperature machine."
)
def proportions_move_tc(family: FamilyView) -> Ruling:
    """Some indicator moves by more than 2 standard errors."""
    others = {(i.row.indicator, i.n_hidden): i for i in estimates_by(family, "union-proportions", "")}
    equal = {(i.row.indicator, i.n_hidden): i for i in estimates_by(family, "union", "")}
    pairs = [(equal[key], others[key]) for key in equal if key in others]
    need_some(pairs, "the two kinds of machines have no indicator in common")
    moved = any(abs(b.value - a.value) > 2 * (a.error**2 + b.error**2) ** 0.5 for a, b in pairs)
    words = [text("{}: {} → {}", a.label, cell(a), cell(b)) for a, b in pairs]
    return decide(moved, "{}", Markup("; ").join(words))


@SECTION.claim("zero-bias", "Supp.", "Machines without biases give the same physics.")
def same_without_biases(family: FamilyView) -> Ruling:
    """L~ within 5 % at every common temperature."""
    n_hidden = family.smallest("zero-bias")
    without = likelihoods(family, "zero-bias")[n_hidden]
    usual = need(likelihoods(family).get(n_hidden), NO_MACHINES["main"])
    common = common_values(without, usual, reason=NO_COMMON)
    worst, x = max((abs(without[x] / usual[x] - 1), x) for x in common)
    words = "<i>L̃</i> differs by at most {}, at {} ({})"
    return decide(worst <= 0.05, words, percent(worst), family.at(x), size_label(n_hidden))


@SECTION.claim("reconstruction", "Supp.", "The reconstruction error falls with $n_h$.")
def reconstruction_improves(family: FamilyView) -> Ruling:
    """The cross entropy of larger machines is lower at most temperatures, nowhere higher by 2 errors."""
    return check_fall_with_size("cross_entropy", NO_LIKELIHOOD)(family)
