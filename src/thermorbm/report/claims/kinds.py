"""A claim of the paper, the rule that decides it, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup

from thermorbm.report.run import Family, Missing, Run

HOLDS, FAILS, UNTESTED = "holds", "does not hold", "not tested"
# Sarle's coefficient of a flat distribution; two peaks give more, one gives less.
FLAT = 5 / 9

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
