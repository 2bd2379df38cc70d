"""What a run directory says about itself, while a runner is at it or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermorbm.errors import FileError
from thermorbm.study.lock import owner
from thermorbm.study.progress import count, stages
from thermorbm.study.rundir import RunDirectory, damage, read_json, read_plan, shard_owners


@dataclass(frozen=True)
class Status:
    """counts: tasks by state. stages: kind -> [done, all]. runner: pid and host of who is at it, or None.

    shards: the same of every shard at work, by its name. running: the tasks under way. eta_seconds: None when
    nobody is at it, or before one can tell. failed: id of task -> error. last_error: of the last run.
    """

    study: str
    counts: dict[str, int]
    stages: dict[str, tuple[int, int]]
    runner: dict[str, Any] | None
    shards: dict[str, dict[str, Any]]
    running: list[dict[str, Any]]
    eta_seconds: float | None
    failed: dict[str, str]
    last_error: str | None


def read_status(directory: RunDirectory) -> Status:
    """Counts results that are whole; a task that was never begun, or is to be done again, is pending."""
    tasks = read_plan(directory)
    runner, shards = owner(directory.lock), shard_owners(directory)
    states_told = [_read_state(directory.state)] if runner else []
    states_told += [_read_state(directory.path / "shards" / f"{name}.json") for name in shards]
    running = [task for state in states_told for task in state.get("running", [])]
    states = {
        task_id: "done" if damage(directory, task) is None else "pending" for task_id, task in tasks.items()
    }
    failed = _failures(directory, [task_id for task_id in tasks if states[task_id] != "done"])
    states |= dict.fromkeys(failed, "failed")
    under_way = {task["name"] for task in running}
    states |= {
        task_id: "running"
        for task_id, known in states.items()
        if known == "pending" and task_id.rsplit("-", 1)[0] in under_way
    }
    return Status(
        read_json(directory.path / "run.json")["study"],
        count(states),
        stages(states, tasks),
        runner,
        shards,
        running,
        max((state["eta_seconds"] for state in states_told if state.get("eta_seconds")), default=None),
        failed,
        _read_state(directory.state).get("last_error") or next(reversed(failed.values()), None),
    )


def _read_state(path: Path) -> dict[str, Any]:
    try:
        return read_json(path)
    except FileError:  # not begun
        return {}


def _failures(directory: RunDirectory, task_ids: list[str]) -> dict[str, str]:
    found = {}
    for task_id in task_ids:
        if directory.failure(task_id).exists():
            found[task_id] = str(read_json(directory.failure(task_id)).get("error"))
    return found
