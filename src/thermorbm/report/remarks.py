"""The paper's side remarks as figures: unequal signs in the data, other proportions of temperatures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from thermorbm.report.chart import (
    NO_MACHINES,
    Chart,
    critical_mark,
    curve_series,
    curves_chart,
    histogram,
    name_of,
    smallest,
    weights_of,
)
from thermorbm.report.energy import MEAN, VARIANCE
from thermorbm.report.labels import (
    DENSITY,
    PER_SPIN,
    PSEUDO_LIKELIHOOD,
    Label,
    at,
    control_label,
    plain,
    short,
    size_label,
)
from thermorbm.report.panels import Panel, Series
from thermorbm.report.run import Family, Missing, Values
from thermorbm.report.style import BLUE, VERMILION
from thermorbm.report.weights import INVERSE_SUM, B

PROPORTIONS = {
    "visible_energy_mean_per_spin": MEAN,
    "visible_energy_variance_per_spin": VARIANCE,
    "pseudo_likelihood_per_spin": PSEUDO_LIKELIHOOD + PER_SPIN,
}


def unequal_signs(family: Family) -> Chart:
    """Biases and inverse-filter sums of machines trained on data with more spins of one sign."""
    pairs = _pairs(family)
    panels = [
        Panel(label + " at " + at(family.run, one["value"]), label, DENSITY, _two(family, one, other, key))
        for key, label in (("b", B), ("inverse_filter_sums", INVERSE_SUM))
        for one, other in pairs
    ]
    told = [
        Markup("{} at {}").format(short(one["weights"]["b"]["mean"], 2), at(family.run, one["value"]).markup)
        for one, _ in pairs
    ]
    caption = Markup(
        "Visible biases and sums of inverse filters of machines trained on data in which a fraction {} of "
        "the configurations has positive magnetisation, beside machines trained on balanced data. Mean "
        "bias {}."
    ).format(pairs[0][0]["sector"], Markup(", ").join(told))
    title = "Unequal signs: " + name_of(family)
    return curves_chart(
        f"text-signs-{family.name}", "Text", title, caption, panels, columns=min(2, len(pairs))
    )


def _pairs(family: Family) -> list[tuple[Values, Values]]:
    """Machines on unbalanced data with their balanced twins."""
    pairs = []
    for machine in family.machines("unbalanced"):
        twin = family.machine("main", machine["n_hidden"], machine["value"])
        if twin is not None and twin.get("weights") and machine.get("weights"):
            pairs.append((machine, twin))
    if not pairs:
        raise Missing(NO_MACHINES["unbalanced"])
    return pairs


def _two(family: Family, one: Values, other: Values, key: str) -> tuple[Series, ...]:
    found = []
    for machine, text, colour in ((other, "balanced signs", BLUE), (one, "unequal signs", VERMILION)):
        numbers, arrays = weights_of(family, machine)
        found.append(histogram(plain(text), arrays, key, int(numbers[key]["n_values"]), colour=colour))
    return tuple(found)


def other_proportions(family: Family) -> Chart:
    """Machines for all temperatures, trained on equal and on other proportions."""
    n_hidden = smallest(family, "union-proportions")
    panels = [
        Panel(label, control_label(family.run), label, tuple(found), critical_mark(family))
        for name, label in PROPORTIONS.items()
        if (found := _both(family, n_hidden, name))
    ]
    machine = family.machines("union-proportions", n_hidden)[0]
    caption = Markup(
        "Machines with {} trained on all temperatures, in equal and in other proportions ({}, from the "
        "lowest temperature to the highest): mean and variance of the visible energy, and "
        "pseudo-likelihood."
    ).format(size_label(n_hidden).markup, _proportions(machine["proportions"]))
    title: Label = "Other proportions of temperatures: " + name_of(family)
    return curves_chart(f"text-proportions-{family.name}", "Text", title, caption, panels)


def _proportions(given: Sequence[float]) -> str:
    """12 × 1, 8 × 4."""
    return ", ".join(f"{len(list(group))} × {value:g}" for value, group in groupby(given))


def _both(family: Family, n_hidden: int, name: str) -> list[Series]:
    found: list[Series] = []
    for index, (role, text) in enumerate((("union", "equal"), ("union-proportions", "other proportions"))):
        items = [item for item in family.indicators(role) if item["n_hidden"] == n_hidden]
        for item in items[:1]:
            found += curve_series(plain(text), item["curves"].get(name), index)
    return found
