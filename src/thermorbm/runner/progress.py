"""How far a run has come and how long it will take, while it runs or from its directory alone."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from thermorbm.errors import FileError
from thermorbm.records import BadRecord, from_plain
from thermorbm.runner.lock import owner
from thermorbm.runner.rundir import RunDirectory, read_plan, shard_owners
from thermorbm.runner.store import damage
from thermorbm.runner.task import Cost, Task, short_id
from thermorbm.storage import read_json

# What the estimated costs weigh beside what was measured: so many seconds, or this share of all work. The
# first tasks, which load compilers, would otherwise speak for all.
PRIOR_SECONDS, PRIOR_SHARE = 20.0, 0.05
# The time left that is shown follows what is estimated within this share of it.
INERTIA_SECONDS, INERTIA_SHARE = 3.0, 0.15

STATES = ("done", "running", "pending", "failed", "skipped")


@dataclass(frozen=True)
class Running:
    """A task under way. fraction: of it that is done, 0 where the task does not report it."""

    name: str
    seconds: float
    fraction: float


@dataclass(frozen=True)
class Snapshot:
    """counts: tasks by state. stages: kind -> (done, all). eta: seconds left, None before it is estimated."""

    counts: Mapping[str, int]
    stages: Mapping[str, tuple[int, int]]
    running: tuple[Running, ...]
    eta: float | None


class Listener(Protocol):
    """What shows a run to the user: it is called with notes and with how far the run is."""

    def note(self, text: str) -> None:
        """One line that the user should see."""

    def update(self, snapshot: Snapshot) -> None:
        """Called a few times a second."""


@dataclass
class Clock:
    """Learns from finished tasks how far the estimated costs are off, kind by kind.

    The ratio of a kind is drawn towards that of all kinds, and that one towards 1, as if PRIOR_SECONDS more
    had been measured to be so; and the end that is shown moves slowly. So the time left does not wander.
    """

    costs: Mapping[str, Cost]
    tasks: Mapping[str, Task]
    started: dict[str, float] = field(default_factory=dict)
    fractions: dict[str, float] = field(default_factory=dict)
    _measured: dict[str, float] = field(default_factory=dict)
    _estimated: dict[str, float] = field(default_factory=dict)
    _announced: tuple[float, float] | None = (
        None  # when the time left was asked for, and the end that was shown
    )

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
            Running(short_id(task_id), now - start, self.fractions[task_id])
            for task_id, start in self.started.items()
        )

    def eta(self, states: Mapping[str, str], n_workers: int) -> float | None:
        """Seconds left: the work that remains over the number of workers, or the longest task under way."""
        if not self._measured:
            return None
        now, ratios = time.monotonic(), self._ratios()
        expected = {
            task_id: ratios[self.tasks[task_id].kind] * self.costs[task_id].seconds
            for task_id, state in states.items()
            if state == "pending" or task_id in self.started
        }
        rest = [
            _rest(expected.pop(task_id), now - start, self.fractions[task_id])
            for task_id, start in self.started.items()
        ]
        return self._steadied(now, max([(sum(expected.values()) + sum(rest)) / n_workers, *rest]))

    def _ratios(self) -> dict[str, float]:
        """Measured over estimated seconds, for every kind of task."""
        prior = max(PRIOR_SECONDS, PRIOR_SHARE * sum(cost.seconds for cost in self.costs.values()))
        overall = (sum(self._measured.values()) + prior) / (sum(self._estimated.values()) + prior)
        return {
            kind: (self._measured.get(kind, 0.0) + prior * overall) / (self._estimated.get(kind, 0.0) + prior)
            for kind in {task.kind for task in self.tasks.values()}
        }

    def _steadied(self, now: float, left: float) -> float:
        """The time left by an end that moves slowly towards the one that is estimated."""
        if self._announced is None or left == 0:
            self._announced = now, now + left
        asked, end = self._announced
        weight = -math.expm1(-(now - asked) / max(INERTIA_SECONDS, INERTIA_SHARE * left))
        end += weight * (now + left - end)
        self._announced = now, end
        return max(0.0, end - now)


def _rest(expected: float, elapsed: float, fraction: float) -> float:
    """Seconds left of a task: as expected at its begin, and more and more by its own pace."""
    if fraction == 0:
        return max(0.0, expected - elapsed)
    return (1 - fraction) * ((1 - fraction) * expected + elapsed)


def count(states: Mapping[str, str]) -> dict[str, int]:
    """Number of tasks in every state."""
    all_states = list(states.values())
    return {state: all_states.count(state) for state in STATES}


def stages(states: Mapping[str, str], tasks: Mapping[str, Task]) -> dict[str, tuple[int, int]]:
    """Done and all tasks of every kind."""
    counts: dict[str, tuple[int, int]] = {}
    for task_id, state in states.items():
        done, total = counts.get(tasks[task_id].kind, (0, 0))
        counts[tasks[task_id].kind] = done + (state == "done"), total + 1
    return counts


@dataclass(frozen=True)
class State:
    """What a runner writes down for `status`: what is under way, and the last error of a task."""

    running: tuple[Running, ...] = ()
    eta_seconds: float | None = None
    workers: int = 0
    last_error: str | None = None


@dataclass(frozen=True)
class Status:
    """counts: tasks by state. stages: kind -> [done, all]. runner: pid and host of the runner, or None.

    shards: the same of every shard at work, by its name. running: the tasks under way. eta_seconds: None when
    no runner works, or before it can be estimated. failed: id of task -> error. last_error: of the last run.
    """

    study: str
    counts: dict[str, int]
    stages: dict[str, tuple[int, int]]
    runner: dict[str, Any] | None
    shards: dict[str, dict[str, Any]]
    running: tuple[Running, ...]
    eta_seconds: float | None
    failed: dict[str, str]
    last_error: str | None


def read_status(directory: RunDirectory) -> Status:
    """Counts results that are whole; a task that was never begun, or is to be done again, is pending."""
    tasks = read_plan(directory)
    runner, shards = owner(directory.lock), shard_owners(directory)
    last = _read_state(directory.state)
    at_work = [last] if runner else []
    at_work += [_read_state(directory.path / "shards" / f"{name}.json") for name in shards]
    running = tuple(task for state in at_work for task in state.running)
    states = {
        task_id: "done" if damage(directory, task) is None else "pending" for task_id, task in tasks.items()
    }
    failed = _failures(directory, [task_id for task_id in tasks if states[task_id] != "done"])
    states |= dict.fromkeys(failed, "failed")
    under_way = {task.name for task in running}
    states |= {
        task_id: "running"
        for task_id, state in states.items()
        if state == "pending" and short_id(task_id) in under_way
    }
    return Status(
        read_json(directory.path / "run.json")["study"],
        count(states),
        stages(states, tasks),
        runner,
        shards,
        running,
        max((state.eta_seconds for state in at_work if state.eta_seconds), default=None),
        failed,
        last.last_error or next(reversed(failed.values()), None),
    )


def _read_state(path: Path) -> State:
    """What stands there; nothing where a run has not begun, or where the file is not one of a runner."""
    try:
        return from_plain(State, read_json(path))
    except (FileError, BadRecord):
        return State()


def _failures(directory: RunDirectory, task_ids: list[str]) -> dict[str, str]:
    failures = {}
    for task_id in task_ids:
        if directory.failure(task_id).exists():
            failures[task_id] = str(read_json(directory.failure(task_id)).get("error"))
    return failures
