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


def edges(family: FamilyView) -> tuple[Points, Points]:
    """Lower and upper edge of the entropy per spin; no lower one without a Hamiltonian."""
    upper = points(best_machines(family).curves[UPPER])
    return points(family.thermodynamics.curves.get(LOWER)), upper


def entropy_panel(family: FamilyView) -> Panel:
    """The exact curve, or the integrated one, with both edges and the range between them."""
    lower, upper = edges(family)
    shade = colour(first_look(best_machines(family).role))
    above, below = "upper bound " + UPPER_EDGE + PER_SPIN, "pseudo-entropy " + PSEUDO_ENTROPY + PER_SPIN
    curves = [
        *_between(lower, upper, shade),
        *entropy_series(family),
        *curve_series(above, upper, colour=shade, marker="triangle-down", dash="dot"),
        *curve_series(below, lower, colour=GREY, marker="circle-open", dash="dot"),
    ]
    return control_panel(family, NOTHING, plain("nats per spin"), curves, x_range=_span(upper))


def _span(upper: Points) -> tuple[float, float] | None:
    """The values at which there is a bracket: an integrated curve may go much further."""
    x = [place for place, _, _ in upper]
    margin = 0.03 * (max(x) - min(x))
    return (min(x) - margin, max(x) + margin) if margin else None


def _between(lower: Points, upper: Points, shade: str) -> list[Series]:
    """The range that holds the entropy, shaded, where both edges are there."""
    low, high = {x: y for x, y, _ in lower}, {x: y for x, y, _ in upper}
    x = sorted(set(low) & set(high))
    if len(x) < 2:
        return []
    band = np.array([low[v] for v in x]), np.array([high[v] for v in x])
    return [series(NOTHING, x, band[1], colour=shade, dash=None, band=band, listed=False)]


def entropy_words(family: FamilyView) -> list[Markup]:
    """Two sentences: the bracket near the transition, and how it does elsewhere."""
    lower, upper = edges(family)
    who = KINDS[best_machines(family).role]
    low, high = ({x: (y, error) for x, y, error in edge} for edge in (lower, upper))
    common = sorted(set(low) & set(high))
    if not common:
        return _upper_words(family, upper, who)
    x = min(common, key=lambda value: abs(value - (family.critical or np.median(common))))
    exact = _entropies(family)
    words = text(
        "At {} the entropy per spin lies between the pseudo-entropy {} = {} and the upper bound {} = {} nats "
        "of {}",
        family.at(x), PSEUDO_ENTROPY + PER_SPIN, with_error(*low[x]), UPPER_EDGE + PER_SPIN,
        with_error(*high[x]), who,
    )  # fmt: skip
    words += text("; {} is {}.", _truth(family), short(exact[x], 5)) if x in exact else Markup(".")
    return [words, _holds_words(family, low, high, exact)]


def _entropies(family: FamilyView) -> dict[float, float]:
    try:
        return entropies(family)
    except Missing:
        return {}


def _truth(family: FamilyView) -> Label:
    kinds = {row.exact.source for row in family.results.balanced_data() if row.exact is not None}
    symbol = ENTROPY + PER_SPIN
    return "the exact " + symbol if "kaufman" in kinds else symbol + " by integration"


def _holds_words(
    family: FamilyView,
    low: dict[float, tuple[float, float]],
    high: dict[float, tuple[float, float]],
    exact: dict[float, float],
) -> Markup:
    values = [x for x in sorted(set(low) & set(high)) if x in exact]
    if not values:
        return Markup("The entropy itself is not known here.")
    inside = sum(_is_inside(exact[x], low[x], high[x]) for x in values)
    furthest = max(values, key=lambda x: high[x][0] - exact[x])
    words = (
        "It lies between these bounds, within two standard errors, at {} of {} values of {}; the upper bound "
        "is loosest at {}, where it is too high by {}."
    )
    gap = with_error(high[furthest][0] - exact[furthest], high[furthest][1])
    return text(words, inside, len(values), family.run.control_symbol, family.at(furthest), gap)


def _is_inside(entropy: float, low: tuple[float, float], high: tuple[float, float]) -> bool:
    return low[0] - 2 * low[1] <= entropy <= high[0] + 2 * high[1]


def _upper_words(family: FamilyView, upper: Points, who: str) -> list[Markup]:
    """Without a Hamiltonian there is an upper edge alone."""
    (x, y, error), (x2, y2, error2) = min(upper, key=lambda p: p[1]), max(upper, key=lambda p: p[1])
    words = text(
        "The entropy per spin of the data is at most {} nats at {} and {} at {}, by {}; free spins have "
        "ln 2 = 0.693.", with_error(y, error), family.at(x), with_error(y2, error2), family.at(x2), who,
    )  # fmt: skip
    return [
        words,
        Markup("It is a bound from held-out configurations; how far below it the entropy lies is not known."),
    ]
