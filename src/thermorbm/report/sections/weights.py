"""Filters and inverse filters: couplings, biases and filters of machines for single temperatures.

Figures 2 and 3a; sums of filters and machines for all temperatures have files of their own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from thermorbm.report.chart import (
    Chart,
    curves_chart,
    filter_rows,
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
    list_with,
    percent,
    short,
    size_label,
    text,
    with_error,
)
from thermorbm.report.panels import Panel
from thermorbm.report.rules import NO_DOMAINS, check_gaussian, largest_ratio, mean_in_deviations, moments_of
from thermorbm.report.run import NO_WEIGHTS, FamilyView, Points, need
from thermorbm.report.section import Ruling, Section, compare, decide
from thermorbm.report.sections import filter_sums, union
from thermorbm.study.results import MachineResults

SECTION = Section("weights", "Filters and inverse filters")

FILTERS_SHOWN = 5
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
        (short(moments_of(machine, "W").variance ** 0.5, 3), family.at(value))
        for value, machine, _ in landmark_machines(family)
    ]
    peak = peak_of(weight_variances(family))
    where = "" if peak is None else family.at(peak[0])
    return text(
        "The standard deviation of $W_{ij}$ is {}; its variance is largest at {}.",
        list_with(" at ", spreads),
        where,
    )


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
    shares = [(percent(_majority(filters), digits=0), label) for label, filters, _ in rows]
    caption = text(
        "The first {} filters of machines with {}, wrapped to the lattice; each row has its own colour "
        "scale, two standard deviations of $W_{ij}$ to either side of zero.{} In these filters the more "
        "frequent sign has {} of the weights.",
        FILTERS_SHOWN, size_label(family.smallest()), layer, list_with(" at ", shares),
    )  # fmt: skip
    return Chart(caption, filter_rows(rows, FILTERS_SHOWN))


def _majority(filters: NDArray[Any]) -> float:
    """The share of weights that have the more frequent sign of their filter, averaged over filters."""
    positive = (filters > 0).reshape(len(filters), -1).mean(axis=1)
    return float(np.maximum(positive, 1 - positive).mean())


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
    need(len(variances) > 2 or None, "there are fewer than three temperatures")
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


def uniform_share(family: FamilyView, place: int) -> tuple[float, Markup]:
    """The part of the variance of W that is between the means of filters: 1 if each filter is uniform.

    place: which of the landmarks.
    """
    need(family.critical, "T_c is not known")
    value, machine, _ = landmark_machines(family)[place]
    total = moments_of(machine, "W").variance
    share = moments_of(machine, "filter_sums").variance / total if total > 0 else 0.0
    words = "{} of the variance of <i>W</i> lies between the means of filters at {}"
    return share, text(words, percent(share), family.at(value))


NO_MAJORITY = "signs of weights were not counted"


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
    rows = [(majority(machine), family.at(value)) for value, machine in ((low, cold), (high, hot))]
    words = list_with(" at ", [(with_error(share.value, share.error), place) for share, place in rows])
    difference = rows[0][0].value - rows[1][0].value
    error = math.hypot(rows[0][0].error, rows[1][0].error)
    return compare(difference, error, "share of the majority sign {}", words)


@SECTION.claim("filters-high", "Fig. 3a", "At high temperature the signs in a filter mix.", 2)
def mixed_signs_when_hot(family: FamilyView) -> Ruling:
    """At most a fifth of the variance of W lies between the means of filters at the high temperature."""
    share, words = uniform_share(family, -1)
    return decide(share <= 0.2, "{}", words)


@SECTION.claim("filters-near", "Fig. 3a", "Near $T_c$ filters have clusters of many sizes.", 2)
def clusters_near_critical(family: FamilyView) -> Ruling:
    """The size of the largest domain differs most between filters near T_c."""
    spreads = {
        value: need(need(machine.weights, NO_DOMAINS).largest_domain_spread, NO_DOMAINS)
        for value, machine, _ in landmark_machines(family)
    }
    words = list_with(" at ", [(short(spread, 2), family.at(value)) for value, spread in spreads.items()])
    widest = max(spreads, key=lambda value: spreads[value])
    return decide(widest == near_critical(family), "spread of the largest domain's share of sites {}", words)


SECTION.include(filter_sums.PART)
SECTION.include(union.PART)
