"""How far a run has come and how long it will take, for displays and for `status`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from thermorbm.study.costs import Cost
from thermorbm.study.tasks import Task

STATES = ("done", "running", "pending", "failed", "skipped")


@dataclass(frozen=True)
class Running:
    """A task under way. fraction: of it that is done, 0 where the task does not tell."""

    name: str
    seconds: float
    fraction: float


@dataclass(frozen=True)
class Snapshot:
    """counts: tasks by state. stages: kind -> (done, all). eta: seconds left, None before one can tell."""

    counts: Mapping[str, int]
    stages: Mapping[str, tuple[int, int]]
    running: tuple[Running, ...]
    eta: float | None


class Listener(Protocol):
    """Who is told about a run."""

    def note(self, text: str) -> None:
        """One line that the user should see."""

    def update(self, snapshot: Snapshot) -> None:
        """Called a few times a second."""


@dataclass
class Clock:
    """Learns from finished tasks how far the estimated costs are off, kind by kind."""

    costs: Mapping[str, Cost]
    tasks: Mapping[str, Task]
    started: dict[str, float] = field(default_factory=dict)
    fractions: dict[str, float] = field(default_factory=dict)
    _measured: dict[str, float] = field(default_factory=dict)
    _estimated: dict[str, float] = field(default_factory=dict)

    def start(self, task_id: str) -> None:
        self.started[task_id], self.fractions[task_id] = time.monotonic(), 0.0

    def stop(self, task_id: str, seconds: float | None = None) -> None:
        """seconds: what it took, None if it did not finish."""
        del self.started[task_id], self.fractions[task_id]
        if seconds is not None:
            kind = self.tasks[task_id].kind
            self._measured[kind] = self._measured.get(kind, 0.0) + seconds
            self._estimated[kind] = self._estimated.get(kind, 0.0) + self.costs[task_id].seconds

    def running(self) -> tuple[Running, ...]:
        now = time.monotonic()
        return tuple(
            Running(task_id.rsplit("-", 1)[0], now - start, self.fractions[task_id])
            for task_id, start in self.started.items()
        )

    def eta(self, states: Mapping[str, str], n_workers: int) -> float | None:
        """Seconds left: the work that remains over the number of workers, or the longest task under way."""
        if not self._measured:
            return None
        now = time.monotonic()
        waiting = sum(self._expected(task_id) for task_id, state in states.items() if state == "pending")
        rest = [self._left(task_id, now - start) for task_id, start in self.started.items()]
        return max([(waiting + sum(rest)) / n_workers, *rest])

    def _expected(self, task_id: str) -> float:
        kind = self.tasks[task_id].kind
        known = kind if kind in self._measured else None
        measured = self._measured[kind] if known else sum(self._measured.values())
        estimated = self._estimated[kind] if known else sum(self._estimated.values())
        return self.costs[task_id].seconds * measured / estimated

    def _left(self, task_id: str, elapsed: float) -> float:
        fraction = self.fractions[task_id]
        if fraction > 0.05:
            return elapsed * (1 - fraction) / fraction
        return max(0.0, self._expected(task_id) - elapsed)


def count(states: Mapping[str, str]) -> dict[str, int]:
    """Number of tasks in every state."""
    found = list(states.values())
    return {state: found.count(state) for state in STATES}


def stages(states: Mapping[str, str], tasks: Mapping[str, Task]) -> dict[str, tuple[int, int]]:
    """Done and all tasks of every kind."""
    found: dict[str, tuple[int, int]] = {}
    for task_id, state in states.items():
        done, total = found.get(tasks[task_id].kind, (0, 0))
        found[tasks[task_id].kind] = done + (state == "done"), total + 1
    return found
