"""A study from its TOML file to `results.json`: what `thermorbm run` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from thermorbm.errors import FileError, InputError
from thermorbm.study.costs import Cost, Room, available_memory, estimate_costs, worker_memory
from thermorbm.study.executor import Executor, Outcome
from thermorbm.study.lock import Lock, locked
from thermorbm.study.plan import Plan, plan_study
from thermorbm.study.pool import Pool, Workers, wanted_workers
from thermorbm.study.progress import Listener
from thermorbm.study.rundir import (
    RunDirectory,
    clear,
    damage,
    is_done,
    open_run,
    prepare,
    remove_leftovers,
    shard_owners,
)
from thermorbm.study.schedule import needed, ordered
from thermorbm.study.shards import Shard, share
from thermorbm.study.tasks import LARGE, Task
from thermorbm.study.toml import load_study

if TYPE_CHECKING:
    from thermorbm.study.results import Results

# Shards that begin together prepare the directory one after the other.
SHARD_PATIENCE_SECONDS = 120.0

# Workers for tasks of these costs, by id.
MakeWorkers = Callable[[RunDirectory, Mapping[str, Cost]], Workers]


@dataclass(frozen=True)
class RunSummary:
    """What a run did. n_tasks: of the study, or of the shard. n_found: of them done before.

    results: of `results.json`; None for a shard that was not the last.
    """

    directory: RunDirectory
    n_tasks: int
    n_found: int
    outcome: Outcome
    results: Results | None

    @property
    def is_complete(self) -> bool:
        return not self.outcome.failed and not self.outcome.skipped

    @property
    def not_certified(self) -> list[str]:
        """Configurations whose certificate did not pass."""
        return [] if self.results is None else self.results.not_certified


def run_study(
    toml: Path,
    out: Path | None,
    listener: Listener,
    n_workers: int | None = None,
    fresh: bool = False,
    cluster: str | None = None,
) -> RunSummary:
    """Runs what is not done yet of the study in `toml`, in the run directory `out`, runs/NAME by default.

    fresh: removes what earlier runs left there first. cluster: who does the tasks, see
    `cluster.open_cluster`; processes of this computer by default. One runner per directory; a second one
    is refused.
    """
    make = _cluster_workers(cluster, n_workers) if cluster else _local_workers(n_workers)
    plan, directory = _begin(toml, out)
    with locked(directory.lock) as lock:
        _refuse_beside_shards(directory)
        if fresh:
            clear(directory)
        prepare(directory, toml.read_text(), plan.tasks.values())
        todo = survey(plan.tasks, directory, listener)
        outcome = _execute(plan.tasks, todo, _Job(directory, lock, listener, make))
        results = _collected(plan, directory)
    return RunSummary(directory, len(plan.tasks), len(plan.tasks) - len(todo), outcome, results)


def run_shard(
    toml: Path, out: Path | None, listener: Listener, shard: Shard, n_workers: int | None = None
) -> RunSummary:
    """Runs one share of a study, beside the other shards or one after the other, in a directory that all see.

    The shard that finds all others' work done also does what joins them, and writes `results.json`.
    """
    make = _local_workers(n_workers)
    plan, directory = _begin(toml, out)
    costs = estimate_costs(plan.tasks)
    mine = share(shard, plan.tasks, costs)
    tasks = {task_id: task for task_id, task in plan.tasks.items() if task_id in mine}
    place = directory.path / "shards" / shard.file_name
    with ExitStack() as stack:
        with locked(directory.lock, SHARD_PATIENCE_SECONDS):
            prepare(directory, toml.read_text(), plan.tasks.values())
            lock = stack.enter_context(locked(place.with_suffix(".lock")))
        todo = survey(tasks, directory, listener)
        job = _Job(directory, lock, listener, make, place.with_suffix(".json"))
        outcome = _execute(tasks, todo, job)
    results = _join(plan, directory, listener, make)
    return RunSummary(directory, len(tasks), len(tasks) - len(todo), outcome, results)


def _join(plan: Plan, directory: RunDirectory, listener: Listener, make: MakeWorkers) -> Results | None:
    """If no share is left to do: does the rest and collects; else None."""
    with locked(directory.lock, SHARD_PATIENCE_SECONDS) as lock:
        hopeless = _hopeless(plan.tasks, directory)
        left = [
            task_id
            for task_id, task in plan.tasks.items()
            if task.kind != "estimate" and task_id not in hopeless and damage(directory, task) is not None
        ]
        if left:
            return None
        todo = survey(plan.tasks, directory, listener) - hopeless
        _execute(plan.tasks, todo, _Job(directory, lock, listener, make))
        return _collected(plan, directory)


def _collected(plan: Plan, directory: RunDirectory) -> Results:
    from thermorbm.study.collect import collect  # brings scipy with it

    return collect(plan.study, plan.tasks, directory)


def _hopeless(tasks: Mapping[str, Task], directory: RunDirectory) -> set[str]:
    """Tasks that failed, and those that need them."""
    found: set[str] = set()
    for task_id in ordered(tasks):
        is_failed = directory.failure(task_id).exists() and not is_done(directory, tasks[task_id])
        if is_failed or not found.isdisjoint(tasks[task_id].inputs):
            found.add(task_id)
    return found


def _begin(toml: Path, out: Path | None) -> tuple[Plan, RunDirectory]:
    plan = _planned(toml)
    return plan, open_run(out or Path("runs") / plan.study.name, plan.study.name)


def _refuse_beside_shards(directory: RunDirectory) -> None:
    for name, who in shard_owners(directory).items():
        problem = f"is in use by shard {name}, pid {who['pid']} on {who['host']}"
        raise FileError(directory.path, problem, "wait for it or stop it")


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
    todo = needed(tasks, good, has_large)
    for task_id, task in tasks.items():
        if task.kind == "train" and task_id not in todo:  # a kill may come between a result and the clean-up
            directory.checkpoint(task_id).unlink(missing_ok=True)
    return todo


@dataclass(frozen=True)
class _Job:
    """Where tasks are done, by whom, and who is told. state: for `status`, state.json unless given."""

    directory: RunDirectory
    lock: Lock
    listener: Listener
    make_workers: MakeWorkers
    state: Path | None = None


def _execute(tasks: Mapping[str, Task], todo: set[str], job: _Job) -> Outcome:
    for task_id in todo:
        job.directory.failure(task_id).unlink(missing_ok=True)
    if not todo:
        return Outcome((), {}, ())
    costs = estimate_costs(tasks)
    executor = Executor(tasks, todo, costs, job.directory, job.lock, job.listener, job.state)
    try:
        return executor.run(job.make_workers(job.directory, {task_id: costs[task_id] for task_id in todo}))
    finally:
        remove_leftovers(job.directory)


def _local_workers(n_workers: int | None) -> MakeWorkers:
    n_wanted = wanted_workers(n_workers)

    def make(directory: RunDirectory, costs: Mapping[str, Cost]) -> Workers:
        n_useful = min(n_wanted, len(costs))
        room = Room(available_memory(), _local_gpus(costs))
        return Pool(directory.path, n_useful, room, worker_memory(costs.values(), n_useful))

    return make


def _cluster_workers(cluster: str, n_workers: int | None) -> MakeWorkers:
    from thermorbm.study.cluster import ClusterWorkers, open_cluster

    n_wanted = wanted_workers(n_workers)
    return lambda directory, costs: ClusterWorkers(directory, open_cluster(cluster, n_wanted), costs)


def _local_gpus(costs: Mapping[str, Cost]) -> int:
    if not any(cost.gpus for cost in costs.values()):
        return 0
    import torch

    return torch.cuda.device_count()
