"""First screen: every claim of the paper as one mark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from thermorbm.report.labels import text
from thermorbm.report.section import Judged, Judgement

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
