"""Figure 4: the weights of machines that were trained on all temperatures together."""

from __future__ import annotations

from markupsafe import Markup

from thermorbm.report.chart import NO_MACHINES, Chart, curves_chart, histogram, name_of, smallest, weights_of
from thermorbm.report.images import filter_rows
from thermorbm.report.labels import DENSITY, plain, short, size_label
from thermorbm.report.panels import Panel, Series
from thermorbm.report.run import Family, Missing, Values
from thermorbm.report.style import colour
from thermorbm.report.weights import FILTER_SUM, INVERSE_SUM, B, C, W

FILTERS_SHOWN = 4


def figure_4a(family: Family) -> Chart:
    machine = _machine(family)
    numbers, arrays = weights_of(family, machine)
    if "filters" not in arrays:
        raise Missing("the configurations have no lattice on which to wrap filters")
    deviation = float(numbers["W"]["variance"]) ** 0.5
    figure = filter_rows([(plain("all temperatures"), arrays["filters"], deviation)], FILTERS_SHOWN)
    caption = Markup(
        "Filters of a machine with {} that was trained on configurations of all temperatures together; the "
        "colour scale spans two standard deviations of {}."
    ).format(size_label(machine["n_hidden"]).markup, W.markup)
    title = "Filters of the all-temperature machine: " + name_of(family)
    return Chart(f"fig-4a-{family.name}", "Fig. 4a", title, caption, figure)


def figure_4bc(family: Family) -> Chart:
    keys = {"W": W, "b": B, "c": C, "filter_sums": FILTER_SUM, "inverse_filter_sums": INVERSE_SUM}
    panels = [Panel(label, label, DENSITY, _distributions(family, key)) for key, label in keys.items()]
    caption = Markup(
        "Distributions in machines that were trained on all temperatures together: couplings, visible and "
        "hidden biases (b) and sums of filters and inverse filters (c). {}"
    ).format(_peaks(_machine(family)))
    title = "Weights of the all-temperature machine: " + name_of(family)
    return curves_chart(f"fig-4bc-{family.name}", "Fig. 4b, c", title, caption, panels)


def _machine(family: Family) -> Values:
    machine = family.machine("union", smallest(family, "union"), None)
    if machine is None:
        raise Missing(NO_MACHINES["union"])
    return machine


def _distributions(family: Family, key: str) -> tuple[Series, ...]:
    """One distribution for each size."""
    found = []
    for index, machine in enumerate(family.machines("union")):
        numbers, arrays = weights_of(family, machine)
        label = size_label(machine["n_hidden"])
        found.append(histogram(label, arrays, key, int(numbers[key]["n_values"]), colour=colour(index)))
    return tuple(found)


def _peaks(machine: Values) -> Markup:
    """Sarle's coefficient of the two distributions that should have two peaks."""
    weights = machine["weights"]
    return Markup(
        "Sarle's coefficient of bimodality, 1/3 for a Gaussian, 5/9 for a flat distribution and 1 for two "
        "sharp peaks, is {} for {} and {} for the filter sums at {}."
    ).format(
        short(weights["c"]["bimodality"], 2),
        C.markup,
        short(weights["filter_sums"]["bimodality"], 2),
        size_label(machine["n_hidden"]).markup,
    )
