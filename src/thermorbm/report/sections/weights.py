"""Filters and inverse filters: couplings, biases and filters (figures 2 and 3a), also of machines for all
temperatures together (figure 4). Sums of filters have a file of their own.
"""

from __future__ import annotations

import math

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import (
    Chart,
    curves_chart,
    filter_rows,
    histogram,
    landmark_histograms,
    landmark_machines,
    lattice_filters,
    near_critical,
    peak_of,
)
from thermorbm.report.labels import (
    DENSITY,
    WEIGHTS,
    Measured,
    cell,
    list_with,
    percent,
    plain,
    short,
    size_label,
    text,
)
from thermorbm.report.panels import Panel
from thermorbm.report.rules import (
    FLAT,
    NO_DOMAINS,
    check_gaussian,
    largest_ratio,
    mean_in_deviations,
    moments_of,
)
from thermorbm.report.run import NO_MACHINES, NO_WEIGHTS, FamilyView, Missing, Points, need
from thermorbm.report.section import Check, Ruling, Section, compare, decide
from thermorbm.report.sections import filter_sums
from thermorbm.report.style import colour
from thermorbm.study.results import MachineResults

SECTION = Section("weights", "Filters and inverse filters")

FILTERS_SHOWN, UNION_FILTERS_SHOWN = 5, 4
NO_MAJORITY = "signs of weights were not counted"
NEAR = 0.1  # a peak of a curve on a coarse grid counts as near T_c within a tenth of it


@SECTION.family_figure("fig-2", "Fig. 2", "Couplings and biases")
def draw_distributions(family: FamilyView) -> Chart:
    panels = [
        Panel(label, label, DENSITY, landmark_histograms(family, key))
        for key, label in list(WEIGHTS.items())[:3]
    ]
    size = size_label(family.smallest())
    caption = text(
        "Distributions of the couplings $W_{ij}$, visible biases $b_j$ and hidden biases $c_i$ of machines "
        "with {} below, near and above the transition. {}", size, _spreads(family),
    )  # fmt: skip
    return curves_chart(caption, panels)


def _spreads(family: FamilyView) -> Markup:
    """Standard deviations of W at the landmarks, and where the variance is largest."""
    spreads = [
        (value, short(moments_of(machine, "W").variance ** 0.5, 3))
        for value, machine, _ in landmark_machines(family)
    ]
    peak = peak_of(weight_variances(family))
    where = "" if peak is None else family.at(peak[0])
    words = "The standard deviation of $W_{ij}$ is {}; its variance is largest at {}."
    return text(words, family.list_at(spreads), where)


def weight_variances(family: FamilyView) -> Points:
    """The variance of W of the smallest machines against the control parameter."""
    return [(x, m.weights.W.variance, 0.0) for x, m in family.smallest_machines() if m.weights]


@SECTION.family_figure("fig-3a", "Fig. 3a", "Filters")
def draw_filters(family: FamilyView) -> Chart:
    rows = [
        (family.at(value), *lattice_filters(family, machine))
        for value, machine, _ in landmark_machines(family)
    ]
    layer = " One layer of the cube is shown." if len(family.shape or []) == 3 else ""
    starts = {machine.recipe.get("start") for _, machine, _ in landmark_machines(family)}
    layer += " The first unit carries the order from the start." if starts == {"order"} else ""
    signs = [(filters > 0).reshape(len(filters), -1).mean(axis=1) for _, filters, _ in rows]
    majorities = [float(np.maximum(positive, 1 - positive).mean()) for positive in signs]
    shares = [(percent(share, digits=0), row[0]) for share, row in zip(majorities, rows, strict=True)]
    caption = text(
        "The first {} filters of machines with {}, wrapped to the lattice; each row has its own colour "
        "scale, two standard deviations of $W_{ij}$ to either side of zero.{} In these filters the more "
        "frequent sign has {} of the weights.",
        FILTERS_SHOWN, size_label(family.smallest()), layer, list_with(" at ", shares),
    )  # fmt: skip
    return Chart(caption, filter_rows(rows, FILTERS_SHOWN))


@SECTION.claim("w-gaussian", "Fig. 2", "The couplings $W_{ij}$ are Gaussian.")
def couplings_gaussian(family: FamilyView) -> Ruling:
    """Moments: |excess kurtosis| <= 1 and |skewness| <= 0.5 below, near and above T_c."""
    is_gaussian, moments = check_gaussian(family, "W")
    return decide(is_gaussian, "{}", moments)


@SECTION.claim("w-mean", "Fig. 2", "Their mean is zero.")
def couplings_mean_zero(family: FamilyView) -> Ruling:
    """Deviation from zero: |mean| <= 0.1 standard deviations at every temperature."""
    ratio, value = largest_ratio(family, "W", mean_in_deviations)
    return decide(
        ratio <= 0.1, "|mean| at most {} standard deviations, at {}", short(ratio, 2), family.at(value)
    )


@SECTION.claim("w-variance", "Fig. 2", "Their variance is largest near $T_c$.")
def variance_largest_near_critical(family: FamilyView) -> Ruling:
    """The temperature of the largest variance is within 10 % of T_c."""
    critical, variances = need(family.critical, "T_c is not known"), weight_variances(family)
    x, largest = need(peak_of(variances), NO_WEIGHTS)
    if len(variances) < 3:
        raise Missing("there are fewer than three temperatures")
    return decide(
        abs(x / critical - 1) <= NEAR,
        "largest at {}: {}, against {} at the lowest and {} at the highest temperature",
        family.at(x), short(largest, 3), short(variances[0][1], 3), short(variances[-1][1], 3),
    )  # fmt: skip


@SECTION.claim("biases-small", "Fig. 2", "Biases $b_j$, $c_i$ are near zero.")
def biases_small(family: FamilyView) -> Ruling:
    """Root mean square <= 0.1 at every temperature."""
    largest = {name: largest_ratio(family, name, math.hypot) for name in ("b", "c")}
    return decide(
        max(rms for rms, _ in largest.values()) <= 0.1,
        "largest root mean square {}",
        _by_bias(family, largest),
    )


@SECTION.claim("biases-symmetric", "Fig. 2", "Biases are symmetric about zero for balanced data.")
def biases_symmetric(family: FamilyView) -> Ruling:
    """Deviation from zero: |mean| <= one standard deviation at every temperature."""
    largest = {name: largest_ratio(family, name, mean_in_deviations) for name in ("b", "c")}
    return decide(
        all(ratio <= 1 for ratio, _ in largest.values()),
        "largest |mean| in standard deviations {}",
        _by_bias(family, largest),
    )


def _by_bias(family: FamilyView, largest: dict[str, tuple[float, float]]) -> Markup:
    parts = [
        text("<i>{}</i>: {} at {}", name, short(x, 2), family.at(value))
        for name, (x, value) in largest.items()
    ]
    return Markup(", ").join(parts)


def majority(machine: MachineResults) -> Measured:
    """The share of the sign that most weights of a filter have, mean over filters."""
    return need(need(machine.weights, NO_MAJORITY).majority_sign, NO_MAJORITY)


@SECTION.claim(
    "filters-low", "Fig. 3a", "At low temperature the weights of a filter tend to be mostly of one sign.", 2
)
def one_sign_when_cold(family: FamilyView) -> Ruling:
    """The sign of most weights of a filter has a larger share, by 3 standard errors, at the low temperature
    than at the high one, where the paper sees both signs alike.
    """
    need(family.critical, "T_c is not known")
    (low, cold, _), *_, (high, hot, _) = landmark_machines(family)
    in_cold, in_heat = majority(cold), majority(hot)
    words = family.list_at([(low, cell(in_cold)), (high, cell(in_heat))])
    error = math.hypot(in_cold.error, in_heat.error)
    return compare(in_cold.value - in_heat.value, error, "share of the majority sign {}", words)


@SECTION.claim("filters-high", "Fig. 3a", "At high temperature the signs in a filter mix.", 2)
def mixed_signs_when_hot(family: FamilyView) -> Ruling:
    """At most a fifth of the variance of W lies between the means of filters at the high temperature."""
    need(family.critical, "T_c is not known")
    value, machine, _ = landmark_machines(family)[-1]
    total = moments_of(machine, "W").variance
    share = moments_of(machine, "filter_sums").variance / total if total > 0 else 0.0
    words = "{} of the variance of <i>W</i> lies between the means of filters at {}"
    return decide(share <= 0.2, words, percent(share), family.at(value))


@SECTION.claim("filters-near", "Fig. 3a", "Near $T_c$ filters have clusters of many sizes.", 2)
def clusters_near_critical(family: FamilyView) -> Ruling:
    """The size of the largest domain differs most between filters near T_c."""
    spreads = {
        value: need(need(machine.weights, NO_DOMAINS).largest_domain_spread, NO_DOMAINS)
        for value, machine, _ in landmark_machines(family)
    }
    words = family.list_at([(value, short(spread, 2)) for value, spread in spreads.items()])
    widest = max(spreads, key=lambda value: spreads[value])
    return decide(widest == near_critical(family), "spread of the largest domain's share of sites {}", words)


SECTION.include(filter_sums.PART)


def union_machine(family: FamilyView) -> MachineResults:
    """The smallest machine for all temperatures."""
    return need(family.results.machine("union", family.smallest("union"), None), NO_MACHINES["union"])


@SECTION.family_figure("fig-4a", "Fig. 4a", "Filters of a machine for all data together")
def draw_union_filters(family: FamilyView) -> Chart:
    machine = union_machine(family)
    row = (plain(family.run.all_values), *lattice_filters(family, machine))
    caption = text(
        "Filters of a machine with {} that was trained on configurations of {} together; the "
        "colour scale spans two standard deviations of $W_{ij}$.", size_label(machine.n_hidden),
        family.run.all_values,
    )  # fmt: skip
    return Chart(caption, filter_rows([row], UNION_FILTERS_SHOWN))


@SECTION.family_figure("fig-4bc", "Fig. 4b, c", "Weights of a machine for all data together")
def draw_union_distributions(family: FamilyView) -> Chart:
    machines, size = family.results.first_seeds("union"), size_label(family.smallest("union"))
    panels = []
    for key, label in WEIGHTS.items():
        curves = [
            histogram(size_label(machine.n_hidden), family.weights(machine), key, colour(index))
            for index, machine in enumerate(machines)
        ]
        panels.append(Panel(label, label, DENSITY, tuple(curves)))
    hidden, sums = (
        short(moments_of(union_machine(family), name).bimodality, 2) for name in ("c", "filter_sums")
    )
    caption = text(
        "Distributions in machines that were trained on {} together: couplings, visible and hidden biases "
        "(b) and sums of filters and inverse filters (c). Sarle's coefficient of bimodality, 1/3 for a "
        "Gaussian, 5/9 for a flat distribution and 1 for two sharp peaks, is {} for $c_i$ and {} for the "
        "filter sums at {}.", family.run.all_values, hidden, sums, size,
    )  # fmt: skip
    return curves_chart(caption, panels)


def largest_domain(machine: MachineResults) -> Measured:
    """The share of sites in a filter's largest domain, mean over the machine's filters."""
    return need(need(machine.weights, NO_DOMAINS).largest_domain, NO_DOMAINS)


@SECTION.claim("union-domain", "Fig. 4", "Each filter of the all-temperature machine has one large domain.")
def one_large_domain(family: FamilyView) -> Ruling:
    """Its largest domain covers a larger share of the lattice, by 3 standard errors, than in the machine at
    high temperature, whose filters have no order.
    """
    share = largest_domain(union_machine(family))
    value, machine, _ = landmark_machines(family)[-1]
    hot = largest_domain(machine)
    words = "the largest domain covers a share of {} of a filter, {} in the machine at {}"
    error = math.hypot(share.error, hot.error)
    return compare(share.value - hot.value, error, words, cell(share), cell(hot), family.at(value))


def check_two_peaks(name: str) -> Check:
    """Whether a distribution of the all-temperature machine has two peaks."""

    def check(family: FamilyView) -> Ruling:
        """Sarle's coefficient above 5/9."""
        coefficient = moments_of(union_machine(family), name).bimodality
        return decide(coefficient > FLAT, "Sarle's coefficient {}", short(coefficient, 2))

    return check


SECTION.claim("union-c", "Fig. 4", "Its hidden biases $c_i$ have two peaks.")(check_two_peaks("c"))
SECTION.claim("union-sums", "Fig. 4", "Its filter sums have two peaks.")(check_two_peaks("filter_sums"))
