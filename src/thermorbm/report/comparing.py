"""Whether curves of machines fall with the number of hidden units: a rule that several claims share."""

from __future__ import annotations

import math
from itertools import pairwise

from thermorbm.report.chart import near_critical
from thermorbm.report.labels import by_size, short
from thermorbm.report.run import ONE_SIZE, FamilyView, Missing, Values, points
from thermorbm.report.section import Answer, Check, decide

NOWHERE_HIGHER = (
    "larger machines are lower at most temperatures, and nowhere higher by more than 2 standard errors"
)


def sized_items(family: FamilyView, reason: str, least: int = 1) -> list[Values]:
    """Curves of machines for single temperatures, smallest first; Missing if there are fewer than `least`."""
    items = family.indicators()
    if len(items) < least:
        raise Missing(ONE_SIZE if items else reason)
    return items


def check_fall_with_size(curve: str, reason: str) -> Check:
    """Whether a curve of machines for single temperatures falls with the number of hidden units.

    Nowhere may one rise above the one before by more than two standard errors, and most of its points must be
    lower. reason: why the curve may be missing.
    """

    def check(family: FamilyView) -> Answer:
        items = sized_items(family, reason, least=2)
        curves = [{x: (y, error) for x, y, error in points(item, "curves", curve)} for item in items]
        if not all(curves):
            raise Missing(reason)
        common = sorted(set.intersection(*(set(one) for one in curves)))
        if not common:
            raise Missing("no temperature is common to all sizes")
        pairs = [(a[x], b[x]) for x in common for a, b in pairwise(curves)]
        steps = [(b[0] - a[0], math.hypot(a[1], b[1])) for a, b in pairs]
        lower = sum(step < 0 for step, _ in steps)
        holds = lower > len(steps) / 2 and all(step <= 2 * error for step, error in steps)
        place = min(common, key=lambda x: abs(x - near_critical(family)))
        sizes = [(item["n_hidden"], short(one[place][0])) for item, one in zip(items, curves, strict=True)]
        words = "lower in {} of {} comparisons; at {} {}"
        return decide(holds, words, lower, len(steps), family.at(place), by_size(sizes))

    return check
