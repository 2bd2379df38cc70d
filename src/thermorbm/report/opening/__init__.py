"""The first screen: four pictures, each with what it says in sentences made from the numbers.

A file here has one of these pictures, or two that take each other's place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from thermorbm.report.drawing import PagePanels, page_panels
from thermorbm.report.opening.claims import Mark, claim_marks, count_words
from thermorbm.report.opening.entropy import entropy_panel, entropy_words
from thermorbm.report.opening.learnt import Strip, filter_strips, learnt_panel, learnt_words
from thermorbm.report.opening.transition import (
    order_panel,
    order_words,
    scaling_panel,
    scaling_words,
    transition_panel,
    transition_words,
)
from thermorbm.report.panels import Panel
from thermorbm.report.run import FamilyView, Missing, Run
from thermorbm.report.section import Gap, Judged, attempt

WIDTH, HEIGHT = 480, 188  # of a picture, in units of its text
NO_CURVES = PagePanels((), ())


@dataclass(frozen=True, eq=False)
class Card:
    """A quarter of the first screen. section: where there is more, as an id of the page."""

    id: str
    title: str
    section: str
    words: Sequence[Markup] = ()
    curves: PagePanels = NO_CURVES
    strips: Sequence[Strip] = ()
    marks: Sequence[Mark] = ()
    gap: Gap | None = None


def opening_cards(run: Run, judged: Sequence[Judged]) -> list[Card]:
    """The four cards; one that lacks its numbers says why. Finite-size scaling without machines has two."""
    if run.results.scalings and not any(family.machines for family in run.results.families):
        return [_transition_card(run), _order_card(run)]
    last = _claims_card(judged) if run.speaks_of_paper else _order_card(run)
    return [_transition_card(run), _entropy_card(run), _learnt_card(run), last]


def _transition_card(run: Run) -> Card:
    """By finite-size scaling where lattices of several sides were compared, else by the best indicators."""
    if run.results.scalings:
        card = Card("card-transition", "Where is the transition?", "section-scaling")
        result = attempt(card.title, partial(_scaling, run, card))
        if not isinstance(result, Gap):
            return result
        if result.is_failure:  # a mistake of the report, which the page is to show
            return Card(card.id, card.title, card.section, gap=result)
    card = Card("card-transition", "Where is the transition?", "section-critical")
    return _of_first_family(run, card, partial(_with_curves, card, transition_panel, transition_words))


def _scaling(run: Run, card: Card) -> Card:
    curves = page_panels(card.id, [scaling_panel(run)], width=WIDTH, height=HEIGHT)
    return Card(card.id, card.title, card.section, scaling_words(run), curves)


def _entropy_card(run: Run) -> Card:
    card = Card("card-entropy", "What is the entropy?", "section-entropy")
    return _of_first_family(run, card, partial(_with_curves, card, entropy_panel, entropy_words))


def _order_card(run: Run) -> Card:
    card = Card("card-order", "How ordered are the data?", "section-data")
    return _of_first_family(run, card, partial(_with_curves, card, order_panel, order_words))


def _learnt_card(run: Run) -> Card:
    card = Card("card-learnt", "What did the machines learn?", "section-weights")
    return _of_first_family(run, card, partial(_learnt, card))


def _learnt(card: Card, family: FamilyView) -> Card:
    """Filters on their lattice; where there is none, or nothing is known of the model, the couplings."""
    knows_couplings = bool(family.results.first_seeds("symmetric")) and not family.results.is_ising
    strips = [] if knows_couplings else filter_strips(family.from_random_weights)
    if strips:
        return Card(card.id, card.title, card.section, learnt_words(family), strips=strips)
    return _with_curves(card, learnt_panel, learnt_words, family)


def _claims_card(judged: Sequence[Judged]) -> Card:
    """Every claim as a mark that unfolds."""
    title, marks = "What of the paper holds?", claim_marks(judged)
    return Card("card-claims", title, "claims", [count_words(marks)], marks=marks)


def _with_curves(
    card: Card,
    draw: Callable[[FamilyView], Panel],
    write: Callable[[FamilyView], list[Markup]],
    family: FamilyView,
) -> Card:
    curves = page_panels(card.id, [draw(family)], width=WIDTH, height=HEIGHT)
    return Card(card.id, card.title, card.section, write(family), curves)


def _of_first_family(run: Run, card: Card, make: Callable[[FamilyView], Card]) -> Card:
    """The card of the first family that has the numbers, or an empty one with the reason."""
    result = attempt(card.title, partial(_first, run, make))
    if isinstance(result, Gap):
        return Card(card.id, card.title, card.section, gap=result)
    return result


def _first(run: Run, make: Callable[[FamilyView], Card]) -> Card:
    reason = "there are no data"
    for family in run.views:
        try:
            return make(family)
        except Missing as missing:
            reason = str(missing)
    raise Missing(reason)
