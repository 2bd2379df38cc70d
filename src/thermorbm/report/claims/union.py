"""Claims about machines for all temperatures (figure 4), and about unequal signs in the data."""

from __future__ import annotations

import math
from collections.abc import Callable

from markupsafe import Markup

from thermorbm.report.chart import NO_MACHINES, landmark_machines, smallest
from thermorbm.report.claims.kinds import FLAT, Answer, claim, listed, need
from thermorbm.report.claims.weights import moments_of
from thermorbm.report.labels import at, percent, short
from thermorbm.report.run import Family, Missing, Values, estimate


def _union(family: Family) -> Values:
    return need(family.machine("union", smallest(family, "union"), None), NO_MACHINES["union"])


def _two_peaks(name: str) -> Callable[[Family], Answer]:
    def check(family: Family) -> Answer:
        value = float(moments_of(_union(family), name)["bimodality"])
        return value > FLAT, Markup("Sarle's coefficient {}").format(short(value, 2))

    return check


def one_large_domain(family: Family) -> Answer:
    """Needs `largest_domain`: the share of sites in a filter's largest domain, mean over filters."""
    pair = need(estimate(_union(family), "weights", "largest_domain"), "domains of filters were not measured")
    high = landmark_machines(family)[-1]
    other = need(estimate(high[1], "weights", "largest_domain"), "domains of filters were not measured")
    told = Markup("the largest domain covers {} of a filter, {} in the machine at {}").format(
        percent(pair[0]), percent(other[0]), at(family.run, high[0]).markup
    )
    return pair[0] > other[0], told


def unbalanced_shift(family: Family) -> Answer:
    """Whether unequal signs move <b> and the inverse-filter sums."""
    told, moved = [], []
    for machine in family.machines("unbalanced"):
        twin = family.machine("main", machine["n_hidden"], machine["value"])
        parts = []
        for name, text in (("b", "<i>b</i>"), ("inverse_filter_sums", "inverse-filter sums")):
            shifted, usual = (
                _mean_in_errors(machine, name),
                _mean_in_errors(need(twin, NO_MACHINES["main"]), name),
            )
            moved.append(abs(shifted) > max(3.0, abs(usual)))
            parts.append(
                Markup("{}: {}, balanced {}").format(Markup(text), short(shifted, 2), short(usual, 2))
            )
        told.append(
            Markup("{}: {}").format(at(family.run, machine["value"]).markup, Markup("; ").join(parts))
        )
    if not told:
        raise Missing(NO_MACHINES["unbalanced"])
    return all(moved), Markup("means in standard errors over units, {}").format(listed(told))


def _mean_in_errors(machine: Values, name: str) -> float:
    moments = moments_of(machine, name)
    error = math.sqrt(moments["variance"] / moments["n_values"])
    return float(moments["mean"]) / error if error > 0 else 0.0


CLAIMS = (
    claim(
        "union-domain",
        "Fig. 4",
        "Each filter of the all-temperature machine has one large domain.",
        "its largest domain covers more of the lattice than in the machine at high temperature",
        one_large_domain,
    ),
    claim(
        "union-c",
        "Fig. 4",
        "Its hidden biases <i>c<sub>i</sub></i> have two peaks.",
        "Sarle's coefficient above 5/9",
        _two_peaks("c"),
    ),
    claim(
        "union-sums",
        "Fig. 4",
        "Its filter sums have two peaks.",
        "Sarle's coefficient above 5/9",
        _two_peaks("filter_sums"),
    ),
    claim(
        "unbalanced",
        "Text",
        "Unequal signs in the data shift ⟨<i>b<sub>j</sub></i>⟩ and the inverse-filter sums.",
        "both means more than 3 standard errors from zero, and further than with balanced data",
        unbalanced_shift,
    ),
)
