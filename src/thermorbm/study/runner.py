"""A study from its TOML file to `results.json`: what `thermorbm run` does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermorbm.errors import FileError, InputError
from thermorbm.study.collect import collect
from thermorbm.study.executor import Executor, Outcome
from thermorbm.study.lock import Lock, locked
from thermorbm.study.plan import Plan, plan_study
from thermorbm.study.progress import Listener
from thermorbm.study.rundir import RunDirectory, clear, damage, open_run, prepare, remove_leftovers
from thermorbm.study.schedule import needed
from thermorbm.study.tasks import LARGE, Task
from thermorbm.study.toml import load_study


@dataclass(frozen=True)
class RunSummary:
    """What a run did. n_tasks: of the study. n_found: of them done before. results: of `results.json`."""

    directory: RunDirectory
    n_tasks: int
    n_found: int
    outcome: Outcome
    results: Mapping[str, Any]

    @property
    def is_complete(self) -> bool:
        return not self.outcome.failed and not self.outcome.skipped

    @property
    def not_certified(self) -> list[str]:
        """Configurations whose certificate did not pass."""
        return [
            f"{family['name']} at {row['value']}"
            for family in self.results["families"]
            for row in (*family["data"], *family["energies"])
            if row["certificate"] is not None and not row["certificate"]["passed"]
        ]


def run_study(
    toml: Path, out: Path | None, listener: Listener, n_workers: int | None = None, fresh: bool = False
) -> RunSummary:
    """Runs what is not done yet of the study in `toml`, in the run directory `out`, runs/NAME by default.

    fresh: removes what earlier runs left there first. One runner per directory; a second one is refused.
    """
    if n_workers is not None and n_workers < 1:
        raise InputError("workers", n_workers, "a whole number >= 1")
    plan = _planned(toml)
    if out is None:
        out = Path("runs") / plan.study.name
        out.parent.mkdir(exist_ok=True)
    directory = open_run(out, plan.study.name)
    with locked(directory.lock) as lock:
        if fresh:
            clear(directory)
        prepare(directory, toml.read_text(), plan.tasks.values())
        todo = survey(plan.tasks, directory, listener)
        outcome = _execute(plan.tasks, todo, directory, lock, listener, n_workers or available_cores())
        results = collect(plan.study, plan.tasks, directory)
    return RunSummary(directory, len(plan.tasks), len(plan.tasks) - len(todo), outcome, results)


def _planned(toml: Path) -> Plan:
    study = load_study(toml)
    try:
        return plan_study(study)
    except InputError as error:
        raise FileError(toml, str(error)) from error


def survey(tasks: Mapping[str, Task], directory: RunDirectory, listener: Listener) -> set[str]:
    """Tasks to run; damaged results are removed, and said so."""
    good = set()
    for task_id, task in tasks.items():
        problem = damage(directory, task)
        if problem is None:
            good.add(task_id)
        elif problem:
            name = task_id.rsplit("-", 1)[0]
            listener.note(f"{name}: result cannot be used ({problem}); computing it again")
            directory.reduced(task_id).unlink(missing_ok=True)
    has_large = {
        task_id for task_id, task in tasks.items() if task.kind in LARGE and directory.large(task_id).exists()
    }
    return needed(tasks, good, has_large)


def _execute(
    tasks: Mapping[str, Task],
    todo: set[str],
    directory: RunDirectory,
    lock: Lock,
    listener: Listener,
    n_workers: int,
) -> Outcome:
    for task_id in todo:
        directory.failure(task_id).unlink(missing_ok=True)
    if not todo:
        return Outcome((), {}, ())
    n_useful = min(n_workers, len(todo))
    try:
        return Executor(tasks, todo, directory, lock, listener, n_useful).run()
    finally:
        remove_leftovers(directory)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
