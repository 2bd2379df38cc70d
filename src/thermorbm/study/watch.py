"""What people see of a study that runs: one line of what is done, the time left, and what is going on."""

from __future__ import annotations

import math
import time

from thermorbm.runner.progress import Snapshot
from thermorbm.shown import LiveLine

# What tasks of a kind do; a kind that is not here is called by its name.
WORDS = {
    "sample": "sampling configurations",
    "ladder": "sampling temperatures together",
    "import": "reading your configurations",
    "measure": "averaging configurations",
    "energies": "sampling energies",
    "train": "training machines",
    "weights": "reading weights",
    "observe": "reading machines",
    "interactions": "reading couplings",
    "partition": "computing ln Z",
    "bracket": "bounding entropies",
    "estimate": "estimating transitions",
    "scaling": "joining lattices of several sides",
}


class LiveListener:
    """Shows a run as a bar over its time with one line beside it, drawn in place; notes scroll by above."""

    def __init__(self, line: LiveLine) -> None:
        self._line, self._began, self._share = line, time.monotonic(), 0.0

    def note(self, text: str) -> None:
        self._line.note(" ".join(text.split()))

    def update(self, snapshot: Snapshot) -> None:
        elapsed = time.monotonic() - self._began
        if snapshot.eta is not None:  # a bar does not go back
            self._share = max(self._share, elapsed / (elapsed + snapshot.eta or 1.0))
        self._line.show(line_of(snapshot), self._share)


def line_of(snapshot: Snapshot) -> str:
    """What is done, the time that is left and what is going on, which a narrow terminal may cut off."""
    done, failed = snapshot.counts["done"], snapshot.counts["failed"]
    counts = f"{done} of {sum(snapshot.counts.values())} tasks done"
    trouble = f"{failed} failed" if failed else ""
    stages = [(WORDS.get(kind, kind), *snapshot.stages[kind]) for kind in kinds_under_way(snapshot)]
    doing = ", ".join(f"{words} ({done} of {total})" for words, done, total in stages)
    return "; ".join(part for part in (counts, trouble, time_left(snapshot.eta), doing) if part)


def kinds_under_way(snapshot: Snapshot) -> list[str]:
    """Kinds of the tasks under way, in the order of the study."""
    kinds = {task.name.split("/", 1)[0] for task in snapshot.running}
    return [kind for kind in snapshot.stages if kind in kinds]


# A time below the first number of seconds is told in multiples of the second; steps are below a fifth.
STEPS = ((95, 10), (30 * 60, 60), (60 * 60, 5 * 60), (145 * 60, 10 * 60), (10 * 3600, 1800), (math.inf, 3600))


def time_left(seconds: float | None) -> str:
    """In words no finer than it is known."""
    if seconds is None:
        return "time left not known yet"
    if seconds < 10:
        return "a few seconds left"
    step = next(step for below, step in STEPS if seconds < below)
    rounded = step * round(seconds / step)
    if rounded < 120:
        return f"about {rounded} s left"
    if rounded < 145 * 60:
        return f"about {rounded // 60} min left"
    return f"about {rounded / 3600:g} h left"
