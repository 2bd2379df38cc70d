"""Moments of the distributions of weights: what several claims about weights compare."""

from __future__ import annotations

import math
from collections.abc import Callable

from markupsafe import Markup

from thermorbm.report.chart import landmark_machines
from thermorbm.report.labels import list_with, short, text
from thermorbm.report.run import FamilyView, Values, look, need

# Sarle's coefficient of a flat distribution; two peaks give more, one gives less.
FLAT = 5 / 9
NOT_LOOKED_AT = "the weights were not looked at"
NO_DOMAINS = "domains of filters were not measured"


def moments_of(machine: Values | None, name: str) -> Values:
    """Mean, variance and shape of one kind of weights or sums of a machine."""
    return need(look(machine, "weights", name), NOT_LOOKED_AT)


def moments_at_landmarks(family: FamilyView, name: str, moment: str) -> tuple[list[float], Markup]:
    """One of the moments below, near and above T_c, as numbers and in words."""
    rows = [
        (value, float(moments_of(machine, name)[moment])) for value, machine, _ in landmark_machines(family)
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
    for machine in family.smallest_machines():
        moments = moments_of(machine, name)
        rows.append((ratio(moments["mean"], math.sqrt(moments["variance"])), machine["value"]))
    return max(rows)


def mean_in_deviations(mean: float, deviation: float) -> float:
    return abs(mean) / (deviation or 1.0)
