"""Claims about the weights: figures 2, 3 and 4."""

from __future__ import annotations

import math

from markupsafe import Markup

from thermorbm.report.chart import (
    landmark_machines,
    near_critical,
    peak_of,
    smallest,
)
from thermorbm.report.claims.critical import peak_answer
from thermorbm.report.claims.kinds import FLAT, Answer, claim, need
from thermorbm.report.labels import at, percent, short
from thermorbm.report.run import Family, Values, look
from thermorbm.report.weights import weight_variances

NOT_LOOKED_AT = "the weights were not looked at"
NEAR = 0.1  # a peak of a curve on a coarse grid counts as near T_c within a tenth of it


def moments_of(machine: Values | None, name: str) -> Values:
    return need(look(machine, "weights", name), NOT_LOOKED_AT)


def _at_landmarks(family: Family, name: str, what: str, digits: int = 2) -> tuple[list[float], Markup]:
    """One of the moments below, near and above T_c, as numbers and in words."""
    rows = [
        (value, float(moments_of(machine, name)[what])) for value, machine, _ in landmark_machines(family)
    ]
    told = [Markup("{} at {}").format(short(x, digits), at(family.run, value).markup) for value, x in rows]
    return [x for _, x in rows], Markup(", ").join(told)


def _is_gaussian(family: Family, name: str) -> tuple[bool, Markup]:
    kurtosis, told = _at_landmarks(family, name, "excess_kurtosis")
    skewness, _ = _at_landmarks(family, name, "skewness")
    holds = all(abs(k) <= 1 for k in kurtosis) and all(abs(s) <= 0.5 for s in skewness)
    return holds, Markup("excess kurtosis {}; largest |skewness| {}").format(
        told, short(max(map(abs, skewness)), 2)
    )


def gaussian(family: Family) -> Answer:
    return _is_gaussian(family, "W")


def mean_zero(family: Family) -> Answer:
    ratios = []
    for machine in family.machines("main", smallest(family)):
        moments = moments_of(machine, "W")
        ratios.append((abs(moments["mean"]) / math.sqrt(moments["variance"]), machine["value"]))
    ratio, value = max(ratios)
    return ratio <= 0.1, Markup("|mean| at most {} standard deviations, at {}").format(
        short(ratio, 2), at(family.run, value).markup
    )


def variance_peak(family: Family) -> Answer:
    critical = need(family.critical, "T_c is not known")
    x, value = need(peak_of(weight_variances(family)), NOT_LOOKED_AT)
    variances = weight_variances(family)["values"]
    told = Markup("largest at {}: {}, against {} at the lowest and {} at the highest temperature").format(
        at(family.run, x).markup, short(value, 3), short(variances[0], 3), short(variances[-1], 3)
    )
    return abs(x / critical - 1) <= NEAR, told


def biases_small(family: Family) -> Answer:
    told, largest = [], 0.0
    for name in ("b", "c"):
        rows = []
        for machine in family.machines("main", smallest(family)):
            moments = moments_of(machine, name)
            rows.append((math.sqrt(moments["mean"] ** 2 + moments["variance"]), machine["value"]))
        rms, value = max(rows)
        largest = max(largest, rms)
        told.append(Markup("<i>{}</i>: {} at {}").format(name, short(rms, 2), at(family.run, value).markup))
    return largest <= 0.1, Markup("largest root mean square {}").format(Markup(", ").join(told))


def biases_symmetric(family: Family) -> Answer:
    told, holds = [], True
    for name in ("b", "c"):
        rows = []
        for machine in family.machines("main", smallest(family)):
            moments = moments_of(machine, name)
            deviation = math.sqrt(moments["variance"]) or 1.0
            rows.append((abs(moments["mean"]) / deviation, machine["value"]))
        ratio, value = max(rows)
        holds &= ratio <= 1
        told.append(Markup("<i>{}</i>: {} at {}").format(name, short(ratio, 2), at(family.run, value).markup))
    return holds, Markup("largest |mean| in standard deviations {}").format(Markup(", ").join(told))


def _uniform_share(machine: Values) -> float:
    """The part of the variance of W that is between the means of filters: 1 if each filter is uniform."""
    total = float(moments_of(machine, "W")["variance"])
    return float(moments_of(machine, "filter_sums")["variance"]) / total if total > 0 else 0.0


def _share(family: Family, place: int) -> tuple[float, Markup]:
    value, machine, _ = landmark_machines(family)[place]
    share = _uniform_share(machine)
    told = Markup("{} of the variance of <i>W</i> lies between the means of filters at {}").format(
        percent(share), at(family.run, value).markup
    )
    return share, told


def one_sign(family: Family) -> Answer:
    need(family.critical, "T_c is not known")
    share, told = _share(family, 0)
    return share >= 0.5, told


def mixed_signs(family: Family) -> Answer:
    need(family.critical, "T_c is not known")
    share, told = _share(family, -1)
    return share <= 0.2, told


def clusters_near_critical(family: Family) -> Answer:
    """Needs `largest_domain_spread`: how much filters differ in the size of their largest domain."""
    rows = []
    for value, machine, _ in landmark_machines(family):
        spread = need(
            look(machine, "weights", "largest_domain_spread"), "domains of filters were not measured"
        )
        rows.append((value, float(spread)))
    told = Markup(", ").join(
        Markup("{} at {}").format(short(spread, 2), at(family.run, value).markup) for value, spread in rows
    )
    most = max(rows, key=lambda row: row[1])[0]
    return most == near_critical(family), Markup("spread of the largest domain's share of sites {}").format(
        told
    )


def bimodal_to_unimodal(family: Family) -> Answer:
    found, told = _at_landmarks(family, "filter_sums", "bimodality")
    return found[0] > FLAT > found[-1], Markup("Sarle's coefficient {}").format(told)


def filter_sum_peak(family: Family) -> Answer:
    return peak_answer(family, "main", "filter_sum_abs_variance")


def inverse_sums_gaussian(family: Family) -> Answer:
    is_gaussian, told = _is_gaussian(family, "inverse_filter_sums")
    ratios = []
    for _, machine, _ in landmark_machines(family):
        moments = moments_of(machine, "inverse_filter_sums")
        ratios.append(abs(moments["mean"]) / (math.sqrt(moments["variance"]) or 1.0))
    told += Markup("; |mean| at most {} standard deviations").format(short(max(ratios), 2))
    return is_gaussian and max(ratios) <= 1, told


def correlation_peak(family: Family) -> Answer:
    return peak_answer(family, "main", "correlation")


CLAIMS = (
    claim(
        "w-gaussian",
        "Fig. 2",
        "The couplings <i>W<sub>ij</sub></i> are Gaussian.",
        "|excess kurtosis| <= 1 and |skewness| <= 0.5 below, near and above T_c",
        gaussian,
    ),
    claim(
        "w-mean",
        "Fig. 2",
        "Their mean is zero.",
        "|mean| <= 0.1 standard deviations at every temperature",
        mean_zero,
    ),
    claim(
        "w-variance",
        "Fig. 2",
        "Their variance is largest near <i>T</i><sub>c</sub>.",
        "the temperature of the largest variance is within 10 % of T_c",
        variance_peak,
    ),
    claim(
        "biases-small",
        "Fig. 2",
        "Biases <i>b<sub>j</sub></i>, <i>c<sub>i</sub></i> are near zero.",
        "root mean square <= 0.1 at every temperature",
        biases_small,
    ),
    claim(
        "biases-symmetric",
        "Fig. 2",
        "Biases are symmetric about zero for balanced data.",
        "|mean| <= one standard deviation at every temperature",
        biases_symmetric,
    ),
    claim(
        "filters-low",
        "Fig. 3a",
        "At low temperature the weights of a filter have one sign.",
        "at least half of the variance of W lies between the means of filters at the low temperature",
        one_sign,
    ),
    claim(
        "filters-high",
        "Fig. 3a",
        "At high temperature the signs in a filter mix.",
        "at most a fifth of the variance of W lies between the means of filters at the high temperature",
        mixed_signs,
    ),
    claim(
        "filters-near",
        "Fig. 3a",
        "Near <i>T</i><sub>c</sub> filters have clusters of many sizes.",
        "the size of the largest domain differs most between filters near T_c",
        clusters_near_critical,
    ),
    claim(
        "filter-sums",
        "Fig. 3b",
        "The distribution of filter sums goes from two peaks to one.",
        "Sarle's coefficient above 5/9 at the low and below at the high temperature",
        bimodal_to_unimodal,
    ),
    claim(
        "filter-sum-peak",
        "Fig. 3b",
        "The variance of |filter sum| peaks at <i>T</i><sub>c</sub>.",
        "T_c of every size within 8 % of its own target",
        filter_sum_peak,
    ),
    claim(
        "inverse-sums",
        "Fig. 3c",
        "Inverse-filter sums are Gaussian with a mean near zero.",
        "|excess kurtosis| <= 1, |skewness| <= 0.5 and |mean| <= one standard deviation",
        inverse_sums_gaussian,
    ),
    claim(
        "correlation-peak",
        "Fig. 3c",
        "The correlation of inverse filters at fixed distance peaks near <i>T</i><sub>c</sub>.",
        "T_c of every size within 8 % of its own target",
        correlation_peak,
    ),
)
