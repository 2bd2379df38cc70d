"""Rules that several claims share: shapes of distributions, and curves that fall with size."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from markupsafe import Markup

from thermorbm.report.chart import landmark_machines, near_critical
from thermorbm.report.labels import by_size, list_with, short, text
from thermorbm.report.run import NO_WEIGHTS, ONE_SIZE, FamilyView, Missing, need, points
from thermorbm.report.section import Check, Ruling, decide
from thermorbm.study.results import Indicators, Machine, Moments

# Sarle's coefficient of a flat distribution; two peaks give more, one gives less.
FLAT = 5 / 9
NO_DOMAINS = "domains of filters were not measured"


def moments_of(machine: Machine, name: str) -> Moments:
    """Mean, variance and shape of one kind of weights or sums of a machine."""
    moments: Moments = getattr(need(machine.weights, NO_WEIGHTS), name)
    return moments


def moments_at_landmarks(family: FamilyView, name: str, moment: str) -> tuple[list[float], Markup]:
    """One of the moments below, near and above T_c, as numbers and in words."""
    rows = [
        (value, float(getattr(moments_of(machine, name), moment)))
        for value, machine, _ in landmark_machines(family)
    ]
    return [x for _, x in rows], list_with(" at ", [(short(x, 2), family.at(value)) for value, x in rows])


def check_gaussian(family: FamilyView, name: str) -> tuple[bool, Markup]:
    """Whether a distribution is Gaussian at the landmarks, and the moments that say so."""
    kurtosis, kurtosis_words = moments_at_landmarks(family, name, "excess_kurtosis")
    skewness, _ = moments_at_landmarks(family, name, "skewness")
    is_gaussian = all(abs(k) <= 1 for k in kurtosis) and all(abs(s) <= 0.5 for s in skewness)
    largest = short(max(map(abs, skewness)), 2)
    return is_gaussian, text("excess kurtosis {}; largest |skewness| {}", kurtosis_words, largest)


def largest_ratio(
    family: FamilyView, name: str, ratio: Callable[[float, float], float]
) -> tuple[float, float]:
    """The largest ratio(mean, standard deviation) of the smallest machines, and the value where it is."""
    rows = []
    for value, machine in family.smallest_machines():
        moments = moments_of(machine, name)
        rows.append((ratio(moments.mean, math.sqrt(moments.variance)), value))
    return max(rows)


def mean_in_deviations(mean: float, deviation: float) -> float:
    return abs(mean) / (deviation or 1.0)


def sized_items(family: FamilyView, reason: str, least: int = 1) -> list[Indicators]:
    """Curves of machines for single temperatures, smallest first; Missing if there are fewer than `least`."""
    items = family.results.indicators_of()
    if len(items) < least:
        raise Missing(ONE_SIZE if items else reason)
    return items


def check_fall_with_size(curve: str, reason: str) -> Check:
    """Whether a curve of machines for single temperatures falls with the number of hidden units.

    reason: why the curve may be missing.
    """

    def check(family: FamilyView) -> Ruling:
        """Larger machines are lower at most temperatures, and nowhere higher by more than 2 errors."""
        items = sized_items(family, reason, least=2)
        name = family.scored(curve)
        curves = [{x: (y, error) for x, y, error in points(item.curves.get(name))} for item in items]
        if not all(curves):
            raise Missing(reason)
        common = sorted(set.intersection(*(set(one) for one in curves)))
        if not common:
            raise Missing("no temperature is common to all sizes")
        pairs = [(a[x], b[x]) for x in common for a, b in pairwise(curves)]
        steps = [(b[0] - a[0], math.hypot(a[1], b[1])) for a, b in pairs]
        lower = sum(step < 0 for step, _ in steps)
        holds = lower > len(steps) / 2 and all(step <= 2 * error for step, error in steps)
        place = min(common, key=lambda x: abs(x - near_critical(family)))
        sizes = [(item.n_hidden, short(one[place][0])) for item, one in zip(items, curves, strict=True)]
        words = "lower in {} of {} comparisons; at {} {}"
        return decide(holds, words, lower, len(steps), family.at(place), by_size(sizes))

    return check
