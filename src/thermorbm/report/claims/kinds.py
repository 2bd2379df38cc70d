"""A claim of the paper, the rule that decides it, and what was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from markupsafe import Markup

from thermorbm.report.chart import near_critical
from thermorbm.report.labels import at, short, size_label
from thermorbm.report.run import Family, Missing, Run, Values, look

HOLDS, FAILS, UNTESTED = "holds", "does not hold", "not tested"
# Sarle's coefficient of a flat distribution; two peaks give more, one gives less.
FLAT = 5 / 9
NOWHERE_HIGHER = (
    "larger machines are lower at most temperatures, and nowhere higher by more than 2 standard errors"
)

T = TypeVar("T")
Answer = tuple[bool, Markup]
Check = Callable[[Family], Answer]


@dataclass(frozen=True)
class Claim:
    """check: whether it holds in a family, and the numbers that say so; Missing if they are not known."""

    id: str
    part: str
    statement: Markup
    rule: str
    check: Check


@dataclass(frozen=True)
class Finding:
    """family: its name, "" where the study as a whole tells nothing."""

    family: str
    verdict: str
    measured: Markup


@dataclass(frozen=True)
class Judged:
    """A claim with what was found, family by family."""

    claim: Claim
    findings: tuple[Finding, ...]


def claim(id: str, part: str, statement: str, rule: str, check: Check) -> Claim:
    """`statement` is markup written by us."""
    return Claim(id, part, Markup(statement), rule, check)


def judge(item: Claim, run: Run) -> Judged:
    """The claim in every family that can tell; one line if none can."""
    findings, reasons = [], dict[str, str]()
    for family in run.families:
        try:
            holds, measured = item.check(family)
        except Missing as missing:
            reasons[family.name] = str(missing)
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            reasons[family.name] = f"the results are not as expected ({type(error).__name__}: {error})"
        else:
            findings.append(Finding(family.name, HOLDS if holds else FAILS, measured))
    return Judged(item, tuple(findings) or (Finding("", UNTESTED, _why(reasons)),))


def _why(reasons: dict[str, str]) -> Markup:
    """One reason where all families agree, else one for each."""
    different = list(dict.fromkeys(reasons.values()))
    if len(different) == 1:
        return Markup("{}").format(different[0])
    return Markup("; ").join(Markup("{}: {}").format(name, reason) for name, reason in reasons.items())


def need(found: T | None, reason: str) -> T:
    """What was found, or Missing."""
    if found is None:
        raise Missing(reason)
    return found


def listed(parts: Sequence[Markup | str]) -> Markup:
    return Markup("; ").join(parts)


def fall(curves: Sequence[Values], near: float) -> tuple[bool, str, float, list[float]]:
    """Whether stored curves lie the lower the later they come in the list.

    Nowhere may one rise above the one before by more than two standard errors, and most of its points must be
    lower. Gives also how often they are lower, in words, and the values at the common x nearest to `near`.
    """
    tables = [
        {x: (y, e or 0.0) for x, y, e in zip(c["x"], c["values"], c["errors"], strict=True)} for c in curves
    ]
    common = sorted(set.intersection(*(set(table) for table in tables)))
    if not common:
        raise Missing("no temperature is common to all sizes")
    steps = [(b[x][0] - a[x][0], math.hypot(a[x][1], b[x][1])) for x in common for a, b in pairwise(tables)]
    lower = sum(step < 0 for step, _ in steps)
    holds = lower > len(steps) / 2 and all(step <= 2 * error for step, error in steps)
    place = min(common, key=lambda x: abs(x - near))
    return (
        holds,
        f"lower in {lower} of {len(steps)} comparisons",
        place,
        [table[place][0] for table in tables],
    )


def falls_with_size(family: Family, curve: str, reason: str) -> Answer:
    """Whether a curve of machines for single temperatures falls with the number of hidden units."""
    items = family.indicators()
    if len(items) < 2:
        raise Missing("there is one number of hidden units only" if items else reason)
    curves = [need(look(item, "curves", curve), reason) for item in items]
    holds, told, place, values = fall(curves, near_critical(family))
    numbers = [
        Markup("{}: {}").format(size_label(item["n_hidden"]).markup, short(value))
        for item, value in zip(items, values, strict=True)
    ]
    return holds, Markup("{}; at {} {}").format(told, at(family.run, place).markup, listed(numbers))
