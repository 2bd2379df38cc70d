"""Every claim of the paper with the numbers that this study has for it, and a verdict."""

from __future__ import annotations

from thermorbm.report.claims import critical, energy, entropy, hidden, union, weights
from thermorbm.report.claims.kinds import FAILS, HOLDS, UNTESTED, Claim, Finding, Judged, judge
from thermorbm.report.run import Run

FIGURES = (
    "Fig. 2",
    "Fig. 3a",
    "Fig. 3b",
    "Fig. 3c",
    "Fig. 4",
    "Tab. 1",
    "Fig. 5",
    "Fig. 6",
    "Fig. 7",
    "Fig. 8",
)
ORDER = (*FIGURES, "Tab. 2", "App. A", "App. B, C", "Text", "Supp.")
CLAIMS: tuple[Claim, ...] = tuple(
    sorted(
        (*weights.CLAIMS, *union.CLAIMS, *hidden.CLAIMS, *energy.CLAIMS, *critical.CLAIMS, *entropy.CLAIMS),
        key=lambda claim: ORDER.index(claim.part),
    )
)


def judge_all(run: Run) -> list[Judged]:
    """All claims in the order of the paper."""
    return [judge(claim, run) for claim in CLAIMS]


__all__ = ["CLAIMS", "FAILS", "HOLDS", "UNTESTED", "Claim", "Finding", "Judged", "judge_all"]
