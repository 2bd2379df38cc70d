"""The weights of machines that were trained on all temperatures together (figure 4)."""

from __future__ import annotations

import math

from markupsafe import Markup

from thermorbm.report.chart import (
    Chart,
    curves_chart,
    filter_rows,
    histogram,
    landmark_machines,
    lattice_filters,
)
from thermorbm.report.labels import DENSITY, WEIGHTS, Measured, plain, short, size_label, text, with_error
from thermorbm.report.panels import Panel, Series
from thermorbm.report.rules import FLAT, NO_DOMAINS, moments_of
from thermorbm.report.run import NO_MACHINES, FamilyView, need
from thermorbm.report.section import Check, FamilyFigure, Ruling, claim, compare, decide
from thermorbm.report.style import colour
from thermorbm.study.results import MachineResults

FILTERS_SHOWN = 4


def union_machine(family: FamilyView) -> MachineResults:
    """The smallest machine for all temperatures."""
    return need(family.results.machine("union", family.smallest("union"), None), NO_MACHINES["union"])


def draw_filters(family: FamilyView) -> Chart:
    """Figure 4a."""
    machine = union_machine(family)
    figure = filter_rows([(plain(family.run.all_values), *lattice_filters(family, machine))], FILTERS_SHOWN)
    caption = text(
        "Filters of a machine with {} that was trained on configurations of {} together; the "
        "colour scale spans two standard deviations of $W_{ij}$.", size_label(machine.n_hidden),
        family.run.all_values,
    )  # fmt: skip
    return Chart(caption, figure)


def draw_distributions(family: FamilyView) -> Chart:
    """Figures 4b and 4c."""
    panels = [Panel(label, label, DENSITY, _distributions(family, key)) for key, label in WEIGHTS.items()]
    caption = text(
        "Distributions in machines that were trained on {} together: couplings, visible and hidden biases "
        "(b) and sums of filters and inverse filters (c). {}", family.run.all_values,
        _peaks(union_machine(family)),
    )  # fmt: skip
    return curves_chart(caption, panels)


def _distributions(family: FamilyView, key: str) -> tuple[Series, ...]:
    """One distribution for each size."""
    return tuple(
        histogram(size_label(machine.n_hidden), family.weights(machine), key, colour(index))
        for index, machine in enumerate(family.results.first_seeds("union"))
    )


def _peaks(machine: MachineResults) -> Markup:
    """Sarle's coefficient of the two distributions that should have two peaks."""
    hidden, sums = (short(moments_of(machine, name).bimodality, 2) for name in ("c", "filter_sums"))
    return text(
        "Sarle's coefficient of bimodality, 1/3 for a Gaussian, 5/9 for a flat distribution and 1 for two "
        "sharp peaks, is {} for $c_i$ and {} for the filter sums at {}.",
        hidden, sums, size_label(machine.n_hidden),
    )  # fmt: skip


def largest_domain(machine: MachineResults) -> Measured:
    """The share of sites in a filter's largest domain, mean over the machine's filters."""
    return need(need(machine.weights, NO_DOMAINS).largest_domain, NO_DOMAINS)


@claim("union-domain", "Fig. 4", "Each filter of the all-temperature machine has one large domain.")
def one_large_domain(family: FamilyView) -> Ruling:
    """Its largest domain covers a larger share of the lattice, by 3 standard errors, than in the machine at
    high temperature, whose filters have no order.
    """
    share = largest_domain(union_machine(family))
    value, machine, _ = landmark_machines(family)[-1]
    hot = largest_domain(machine)
    shares = [with_error(item.value, item.error) for item in (share, hot)]
    words = "the largest domain covers a share of {} of a filter, {} in the machine at {}"
    error = math.hypot(share.error, hot.error)
    return compare(share.value - hot.value, error, words, *shares, family.at(value))


def check_two_peaks(name: str) -> Check:
    """Whether a distribution of the all-temperature machine has two peaks."""

    def check(family: FamilyView) -> Ruling:
        """Sarle's coefficient above 5/9."""
        coefficient = moments_of(union_machine(family), name).bimodality
        return decide(coefficient > FLAT, "Sarle's coefficient {}", short(coefficient, 2))

    return check


BIASES = claim("union-c", "Fig. 4", "Its hidden biases $c_i$ have two peaks.")(check_two_peaks("c"))
SUMS = claim("union-sums", "Fig. 4", "Its filter sums have two peaks.")(check_two_peaks("filter_sums"))

FIGURES = (
    FamilyFigure("fig-4a", "Fig. 4a", "Filters of a machine for all data together", draw_filters),
    FamilyFigure("fig-4bc", "Fig. 4b, c", "Weights of a machine for all data together", draw_distributions),
)
CLAIMS = (one_large_domain, BIASES, SUMS)
