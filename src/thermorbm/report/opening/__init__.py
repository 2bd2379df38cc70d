"""The first screen: four pictures, each with what it says in sentences made from the numbers.

The last has every claim of the paper as one mark. Of each other picture a file here has the curves and the
sentences, or of two that take each other's place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from markupsafe import Markup

from thermorbm.report.drawing import PagePanels, page_panels
from thermorbm.report.labels import text
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
from thermorbm.report.run import FamilyView, Run, first_complete
from thermorbm.report.section import Gap, Judged, Judgement, attempt

WIDTH, HEIGHT = 480, 188  # of a picture, in units of its text
NO_CURVES = PagePanels((), ())
MIXED = "mixed"
SIGNS = {
    Judgement.HOLDS.value: "✓",
    MIXED: "±",
    Judgement.FAILS.value: "✗",
    Judgement.INCONCLUSIVE.value: "?",
    Judgement.UNTESTED.value: "–",
    Judgement.BROKEN.value: "!",
}
SHARES = {
    Judgement.HOLDS.value: "{} hold",
    Judgement.FAILS.value: "{} do not hold",
    MIXED: "{} hold on some lattices or machines and not on others",
    Judgement.INCONCLUSIVE.value: "for {} the errors are too large to tell",
    Judgement.BROKEN.value: "for {} the report failed",
}


@dataclass(frozen=True)
class Mark:
    """A claim and what became of it in all families together. verdict: "mixed" where they disagree."""

    judged: Judged
    verdict: str

    @property
    def sign(self) -> str:
        return SIGNS[self.verdict]


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
    entropy = Card("card-entropy", "What is the entropy?", "section-entropy")
    learnt = Card("card-learnt", "What did the machines learn?", "section-weights")
    return [
        _transition_card(run),
        _of_first_family(run, entropy, _with_curves(entropy_panel, entropy_words)),
        _of_first_family(run, learnt, _show_learnt),
        _claims_card(judged) if run.speaks_of_paper else _order_card(run),
    ]


Fill = Callable[[Card, FamilyView], Card]


def _transition_card(run: Run) -> Card:
    """By finite-size scaling where lattices of several sides were compared, else by the best indicators."""
    card = Card("card-transition", "Where is the transition?", "section-scaling")
    if run.results.scalings:
        result = attempt(card.title, lambda: _filled(card, scaling_panel(run), scaling_words(run)))
        if not isinstance(result, Gap):
            return result
        if result.is_failure:  # a mistake of the report, which the page is to show
            return replace(card, gap=result)
    card = replace(card, section="section-critical")
    return _of_first_family(run, card, _with_curves(transition_panel, transition_words))


def _order_card(run: Run) -> Card:
    card = Card("card-order", "How ordered are the data?", "section-data")
    return _of_first_family(run, card, _with_curves(order_panel, order_words))


def _show_learnt(card: Card, family: FamilyView) -> Card:
    """Filters on their lattice; where there is none, or nothing is known of the model, the couplings."""
    knows_couplings = bool(family.results.first_seeds("symmetric")) and not family.results.is_ising
    strips = [] if knows_couplings else filter_strips(family.from_random_weights)
    if strips:
        return replace(card, words=learnt_words(family), strips=strips)
    return _filled(card, learnt_panel(family), learnt_words(family))


def _claims_card(judged: Sequence[Judged]) -> Card:
    """Every claim as a mark that unfolds."""
    marks = claim_marks(judged)
    return Card("card-claims", "What of the paper holds?", "claims", [count_words(marks)], marks=marks)


def _filled(card: Card, panel: Panel, words: Sequence[Markup]) -> Card:
    return replace(card, words=words, curves=page_panels(card.id, [panel], width=WIDTH, height=HEIGHT))


def _with_curves(draw: Callable[[FamilyView], Panel], write: Callable[[FamilyView], list[Markup]]) -> Fill:
    return lambda card, family: _filled(card, draw(family), write(family))


def _of_first_family(run: Run, card: Card, fill: Fill) -> Card:
    """The card of the first family that has the numbers, or an empty one with the reason."""
    result = attempt(card.title, partial(first_complete, run.views, partial(fill, card), "there are no data"))
    return replace(card, gap=result) if isinstance(result, Gap) else result


def claim_marks(judged: Sequence[Judged]) -> list[Mark]:
    """A mark for each claim; those that hold come first, those that were not tested last."""
    marks = [Mark(item, verdict_of(item)) for item in judged]
    order = list(SIGNS)
    return sorted(marks, key=lambda mark: order.index(mark.verdict))


def verdict_of(item: Judged) -> str:
    """What all families say, leaving out those that cannot tell."""
    verdicts = {finding.judgement for finding in item.findings} - {Judgement.UNTESTED}
    if Judgement.BROKEN in verdicts:
        return Judgement.BROKEN.value
    if {Judgement.HOLDS, Judgement.FAILS} <= verdicts:
        return MIXED
    decided = verdicts & {Judgement.HOLDS, Judgement.FAILS} or verdicts
    return decided.pop().value if decided else Judgement.UNTESTED.value


def count_words(marks: Sequence[Mark]) -> Markup:
    """One sentence: how many claims hold."""
    counts = Counter(mark.verdict for mark in marks)
    tested = len(marks) - counts[Judgement.UNTESTED.value]
    shares = [words.format(counts[kind]) for kind, words in SHARES.items() if counts[kind]]
    words = "Of the paper's {} claims {} were tested by fixed rules{}{}."
    return text(words, len(marks), tested, ": " if shares else "", ", ".join(shares))
