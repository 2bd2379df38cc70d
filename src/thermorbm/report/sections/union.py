"""The weights of machines that were trained on all temperatures together (figure 4)."""

from __future__ import annotations

from markupsafe import Markup

from thermorbm.report.chart import Chart, curves_chart, histogram, landmark_machines, lattice_filters
from thermorbm.report.images import filter_rows
from thermorbm.report.labels import (
    DENSITY,
    FILTER_SUM,
    INVERSE_SUM,
    B,
    C,
    W,
    percent,
    plain,
    short,
    size_label,
    text,
)
from thermorbm.report.moments import FLAT, NO_DOMAINS, moments_of
from thermorbm.report.panels import Panel, Series
from thermorbm.report.run import NO_MACHINES, FamilyView, Values, estimate, need
from thermorbm.report.section import Answer, Check, FamilyFigure, claim, decide
from thermorbm.report.style import colour

FILTERS_SHOWN = 4
TWO_PEAKS_RULE = "Sarle's coefficient above 5/9"


def union_machine(family: FamilyView) -> Values:
    """The smallest machine for all temperatures."""
    return need(family.machine("union", family.smallest("union"), None), NO_MACHINES["union"])


def draw_filters(family: FamilyView) -> Chart:
    """Figure 4a."""
    machine = union_machine(family)
    figure = filter_rows([(plain("all temperatures"), *lattice_filters(family, machine))], FILTERS_SHOWN)
    caption = text(
        "Filters of a machine with {} that was trained on configurations of all temperatures together; the "
        "colour scale spans two standard deviations of {}.", size_label(machine["n_hidden"]), W,
    )  # fmt: skip
    return Chart(caption, figure)


def draw_distributions(family: FamilyView) -> Chart:
    """Figures 4b and 4c."""
    keys = {"W": W, "b": B, "c": C, "filter_sums": FILTER_SUM, "inverse_filter_sums": INVERSE_SUM}
    panels = [Panel(label, label, DENSITY, _distributions(family, key)) for key, label in keys.items()]
    caption = text(
        "Distributions in machines that were trained on all temperatures together: couplings, visible and "
        "hidden biases (b) and sums of filters and inverse filters (c). {}", _peaks(union_machine(family)),
    )  # fmt: skip
    return curves_chart(caption, panels)


def _distributions(family: FamilyView, key: str) -> tuple[Series, ...]:
    """One distribution for each size."""
    return tuple(
        histogram(size_label(machine["n_hidden"]), family.weights(machine), key, colour(index))
        for index, machine in enumerate(family.machines("union"))
    )


def _peaks(machine: Values) -> Markup:
    """Sarle's coefficient of the two distributions that should have two peaks."""
    hidden, sums = (short(moments_of(machine, name)["bimodality"], 2) for name in ("c", "filter_sums"))
    return text(
        "Sarle's coefficient of bimodality, 1/3 for a Gaussian, 5/9 for a flat distribution and 1 for two "
        "sharp peaks, is {} for {} and {} for the filter sums at {}.",
        hidden, C, sums, size_label(machine["n_hidden"]),
    )  # fmt: skip


@claim(
    "union-domain",
    "Fig. 4",
    "Each filter of the all-temperature machine has one large domain.",
    "its largest domain covers more of the lattice than in the machine at high temperature",
)
def one_large_domain(family: FamilyView) -> Answer:
    """Needs `largest_domain`: the share of sites in a filter's largest domain, mean over filters."""
    share, _ = need(estimate(union_machine(family), "weights", "largest_domain"), NO_DOMAINS)
    value, machine, _ = landmark_machines(family)[-1]
    hot, _ = need(estimate(machine, "weights", "largest_domain"), NO_DOMAINS)
    words = "the largest domain covers {} of a filter, {} in the machine at {}"
    return decide(share > hot, words, percent(share), percent(hot), family.at(value))


def check_two_peaks(name: str) -> Check:
    """Whether a distribution of the all-temperature machine has two peaks."""

    def check(family: FamilyView) -> Answer:
        coefficient = float(moments_of(union_machine(family), name)["bimodality"])
        return decide(coefficient > FLAT, "Sarle's coefficient {}", short(coefficient, 2))

    return check


BIASES = claim("union-c", "Fig. 4", "Its hidden biases <i>c<sub>i</sub></i> have two peaks.", TWO_PEAKS_RULE)(
    check_two_peaks("c")
)
SUMS = claim("union-sums", "Fig. 4", "Its filter sums have two peaks.", TWO_PEAKS_RULE)(
    check_two_peaks("filter_sums")
)

FIGURES = (
    FamilyFigure("fig-4a", "Fig. 4a", "Filters of the all-temperature machine", draw_filters),
    FamilyFigure("fig-4bc", "Fig. 4b, c", "Weights of the all-temperature machine", draw_distributions),
)
CLAIMS = (one_large_domain, BIASES, SUMS)
