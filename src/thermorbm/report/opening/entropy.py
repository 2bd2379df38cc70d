"""First screen: the entropy of the data, between its two edges."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import control_panel, curve_series, first_look
from thermorbm.report.labels import (
    ENTROPY,
    NOTHING,
    PER_SPIN,
    PSEUDO_ENTROPY,
    UPPER_EDGE,
    Label,
    plain,
    short,
    text,
    with_error,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import FamilyView, Missing, Points, points
from thermorbm.report.sections.data import entropies
from thermorbm.report.sections.entropy import entropy_series
from thermorbm.report.style import GREY, colour
from thermorbm.study.results import Indicators

UPPER, LOWER = "entropy_upper_per_spin", "pseudo_entropy_per_spin"
KINDS = {"symmetric": "symmetric machines", "main": "dense machines", "union": "a machine for all of them"}


def best_machines(family: FamilyView) -> Indicators:
    """The machines with the lowest upper edge: symmetric ones where there are some, else the largest."""
    for role in KINDS:
        items = [item for item in family.results.indicators_of(role) if points(item.curves.get(UPPER))]
        if items:
            return min(items, key=lambda item: float(np.mean(item.curves[UPPER].values)))
    raise Missing("no upper edge of the entropy was computed")


Edge = dict[float, tuple[float, float]]


def edges(family: FamilyView) -> tuple[Edge, Edge]:
    """Lower and upper edge of the entropy per spin with its error, by the value of the control parameter.

    There is no lower one without a Hamiltonian.
    """
    curves = family.data_curve(LOWER), points(best_machines(family).curves[UPPER])
    lower, upper = ({x: (y, error) for x, y, error in curve} for curve in curves)
    return lower, upper


def as_points(edge: Edge) -> Points:
    return [(x, *pair) for x, pair in edge.items()]


def entropy_panel(family: FamilyView) -> Panel:
    """The exact curve, or the integrated one, with both edges and the range between them."""
    lower, upper = edges(family)
    shade = colour(first_look(best_machines(family).role))
    above, below = "upper bound " + UPPER_EDGE + PER_SPIN, "pseudo-entropy " + PSEUDO_ENTROPY + PER_SPIN
    curves = [
        *_between(lower, upper, shade),
        *entropy_series(family),
        *curve_series(above, as_points(upper), colour=shade, marker="triangle-down", dash="dot"),
        *curve_series(below, as_points(lower), colour=GREY, marker="circle-open", dash="dot"),
    ]
    return control_panel(family, NOTHING, plain("nats per spin"), curves, x_range=_span(upper))


def _span(upper: Edge) -> tuple[float, float] | None:
    """The values at which there is a bracket: an integrated curve may go much further."""
    margin = 0.03 * (max(upper) - min(upper))
    return (min(upper) - margin, max(upper) + margin) if margin else None


def _between(lower: Edge, upper: Edge, shade: str) -> list[Series]:
    """The range that holds the entropy, shaded, where both edges are there."""
    x = sorted(set(lower) & set(upper))
    if len(x) < 2:
        return []
    band = np.array([lower[v][0] for v in x]), np.array([upper[v][0] for v in x])
    return [series(NOTHING, x, band[1], colour=shade, dash=None, band=band, listed=False)]


def entropy_words(family: FamilyView) -> list[Markup]:
    """Two sentences: the bracket near the transition, and how it does elsewhere."""
    lower, upper = edges(family)
    who = KINDS[best_machines(family).role]
    common = sorted(set(lower) & set(upper))
    if not common:
        return _upper_words(family, upper, who)
    x = min(common, key=lambda value: abs(value - (family.critical or np.median(common))))
    exact = _entropies(family)
    words = text(
        "At {} the entropy per spin lies between the pseudo-entropy {} = {} and the upper bound {} = {} nats "
        "of {}",
        family.at(x), PSEUDO_ENTROPY + PER_SPIN, with_error(*lower[x]), UPPER_EDGE + PER_SPIN,
        with_error(*upper[x]), who,
    )  # fmt: skip
    words += text("; {} is {}.", _truth(family), short(exact[x], 5)) if x in exact else Markup(".")
    return [words, _holds_words(family, lower, upper, exact)]


def _entropies(family: FamilyView) -> dict[float, float]:
    try:
        return entropies(family)
    except Missing:
        return {}


def _truth(family: FamilyView) -> Label:
    kinds = {row.exact.source for row in family.results.balanced_data() if row.exact is not None}
    symbol = ENTROPY + PER_SPIN
    return "the exact " + symbol if "kaufman" in kinds else symbol + " by integration"


def _holds_words(family: FamilyView, lower: Edge, upper: Edge, exact: dict[float, float]) -> Markup:
    values = [x for x in sorted(set(lower) & set(upper)) if x in exact]
    if not values:
        return Markup("The entropy itself is not known here.")
    inside = sum(lower[x][0] - 2 * lower[x][1] <= exact[x] <= upper[x][0] + 2 * upper[x][1] for x in values)
    furthest = max(values, key=lambda x: upper[x][0] - exact[x])
    words = (
        "It lies between these bounds, within two standard errors, at {} of {} values of {}; the upper bound "
        "is loosest at {}, where it is too high by {}."
    )
    gap = with_error(upper[furthest][0] - exact[furthest], upper[furthest][1])
    return text(words, inside, len(values), family.run.control_symbol, family.at(furthest), gap)


def _upper_words(family: FamilyView, upper: Edge, who: str) -> list[Markup]:
    """Without a Hamiltonian there is an upper edge alone."""
    x, x2 = min(upper, key=lambda x: upper[x][0]), max(upper, key=lambda x: upper[x][0])
    words = text(
        "The entropy per spin of the data is at most {} nats at {} and {} at {}, by {}; free spins have "
        "ln 2 = 0.693.", with_error(*upper[x]), family.at(x), with_error(*upper[x2]), family.at(x2), who,
    )  # fmt: skip
    return [
        words,
        Markup("It is a bound from held-out configurations; how far below it the entropy lies is not known."),
    ]
