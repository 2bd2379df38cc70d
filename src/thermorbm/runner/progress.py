"""How far a run has come and how long it will take, while it runs or from its directory alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from thermorbm.errors import FileError
from thermorbm.records import BadRecord, from_plain
from thermorbm.runner.lock import owner
from thermorbm.runner.rundir import RunDirectory, read_plan, shard_owners
from thermorbm.runner.store import damage
from thermorbm.runner.task import Task, short_id
from thermorbm.storage import read_json

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
    failed = {
        task_id: str(read_json(directory.failure(task_id)).get("error"))
        for task_id in tasks
        if states[task_id] != "done" and directory.failure(task_id).exists()
    }
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
