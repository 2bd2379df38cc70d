"""Runs all tasks of a study, or one share of them, in a run directory; repeats nothing that is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from thermorbm.errors import FileError
from thermorbm.runner.executor import Executor, Outcome, needed, ordered
from thermorbm.runner.lock import Lock, locked
from thermorbm.runner.pool import Pool, Workers, wanted_workers
from thermorbm.runner.progress import Listener
from thermorbm.runner.rundir import (
    RunDirectory,
    clear,
    open_run,
    prepare,
    remove_leftovers,
    shard_owners,
)
from thermorbm.runner.shards import Shard, share
from thermorbm.runner.store import damage, is_done
from thermorbm.runner.task import LAST, Cost, Room, Task, available_memory, short_id, worker_memory

# Shards that begin together prepare the directory one after the other.
SHARD_PATIENCE_SECONDS = 120.0

Results = TypeVar("Results")
# Workers for tasks of these costs, by id.
MakeWorkers = Callable[[RunDirectory, Mapping[str, Cost]], Workers]


@dataclass(frozen=True)
class Work(Generic[Results]):
    """All that is to do. name: of the study. text: of the study's file, which is kept beside the results.

    tasks, costs: by id. collect: puts the results in a run directory together when all is done.
    """

    name: str
    text: str
    tasks: Mapping[str, Task]
    costs: Mapping[str, Cost]
    collect: Callable[[RunDirectory], Results]

    def open(self, out: Path | None, fresh: bool = False) -> RunDirectory:
        """The run directory `out`, runs/NAME by default."""
        return open_run(out or Path("runs") / self.name, self.name, fresh)


@dataclass(frozen=True)
class RunSummary(Generic[Results]):
    """What a run did. n_tasks: of the study, or of the shard. n_before: of them done before this run.

    results: of the study; None for a shard that was not the last.
    """

    directory: RunDirectory
    n_tasks: int
    n_before: int
    outcome: Outcome
    results: Results | None

    @property
    def is_complete(self) -> bool:
        return not self.outcome.failed and not self.outcome.skipped


def run_all(
    work: Work[Results],
    out: Path | None,
    listener: Listener,
    n_workers: int | None = None,
    fresh: bool = False,
    cluster: str | None = None,
) -> RunSummary[Results]:
    """Runs what is not done yet in the run directory `out`, runs/NAME by default.

    fresh: removes what earlier runs left there first. cluster: who does the tasks, see
    `cluster.open_cluster`; processes of this computer by default. One runner per directory; a second one
    is refused.
    """
    make = _cluster_workers(cluster, n_workers) if cluster else _local_workers(n_workers)
    directory = work.open(out, fresh)
    with locked(directory.lock) as lock:
        _refuse_beside_shards(directory)
        if fresh:
            clear(directory)
        prepare(directory, work.text, work.tasks.values())
        todo = survey(work.tasks, directory, listener)
        outcome = _execute(work, todo, _Place(directory, lock, listener, make))
        results = work.collect(directory)
    return RunSummary(directory, len(work.tasks), len(work.tasks) - len(todo), outcome, results)


def run_share(
    work: Work[Results], out: Path | None, listener: Listener, shard: Shard, n_workers: int | None = None
) -> RunSummary[Results]:
    """Runs one share of a study, beside the other shards or one after the other, in a directory that all see.

    The shard that finds the work of all others done also does what joins them, and collects the results.
    """
    make = _local_workers(n_workers)
    directory = work.open(out)
    mine = share(shard, work.tasks, work.costs)
    tasks = {task_id: task for task_id, task in work.tasks.items() if task_id in mine}
    files = directory.path / "shards" / shard.file_name
    with ExitStack() as stack:
        with locked(directory.lock, SHARD_PATIENCE_SECONDS):
            prepare(directory, work.text, work.tasks.values())
            lock = stack.enter_context(locked(files.with_suffix(".lock")))
        todo = survey(tasks, directory, listener)
        place = _Place(directory, lock, listener, make, files.with_suffix(".json"))
        outcome = _execute(Work(work.name, "", tasks, work.costs, work.collect), todo, place)
    results = _join(work, directory, listener, make)
    return RunSummary(directory, len(tasks), len(tasks) - len(todo), outcome, results)


def _join(
    work: Work[Results], directory: RunDirectory, listener: Listener, make: MakeWorkers
) -> Results | None:
    """If no share is left to do: does the rest and collects; else None."""
    with locked(directory.lock, SHARD_PATIENCE_SECONDS) as lock:
        out_of_reach = _out_of_reach(work.tasks, directory)
        left = [
            task_id
            for task_id, task in work.tasks.items()
            if task.sharing != LAST and task_id not in out_of_reach and damage(directory, task) is not None
        ]
        if left:
            return None
        todo = survey(work.tasks, directory, listener) - out_of_reach
        _execute(work, todo, _Place(directory, lock, listener, make))
        return work.collect(directory)


def _out_of_reach(tasks: Mapping[str, Task], directory: RunDirectory) -> set[str]:
    """Tasks that failed, and those that need their results."""
    out_of_reach: set[str] = set()
    for task_id in ordered(tasks):
        is_failed = directory.failure(task_id).exists() and not is_done(directory, tasks[task_id])
        if is_failed or not out_of_reach.isdisjoint(tasks[task_id].inputs):
            out_of_reach.add(task_id)
    return out_of_reach


def _refuse_beside_shards(directory: RunDirectory) -> None:
    for name, who in shard_owners(directory).items():
        problem = f"is in use by shard {name}, pid {who['pid']} on {who['host']}"
        raise FileError(directory.path, problem, "wait for it or stop it")


def survey(tasks: Mapping[str, Task], directory: RunDirectory, listener: Listener) -> set[str]:
    """The tasks that have to run. Damaged results are removed, with a note to the listener."""
    good = set()
    for task_id, task in tasks.items():
        problem = damage(directory, task)
        if problem is None:
            good.add(task_id)
        elif problem:
            listener.note(f"{short_id(task_id)}: result cannot be used ({problem}); computing it again")
            directory.reduced(task_id).unlink(missing_ok=True)
    has_large = {
        task_id for task_id, task in tasks.items() if task.makes_large and directory.large(task_id).exists()
    }
    todo = needed(tasks, good, has_large)
    for task_id, task in tasks.items():
        if task.has_checkpoint and task_id not in todo:  # a kill may come between result and clean-up
            directory.checkpoint(task_id).unlink(missing_ok=True)
    return todo


@dataclass(frozen=True)
class _Place:
    """Where tasks are done, by which workers, and what shows the run. state: a file for `status`."""

    directory: RunDirectory
    lock: Lock
    listener: Listener
    make_workers: MakeWorkers
    state: Path | None = None


def _execute(work: Work[Results], todo: set[str], place: _Place) -> Outcome:
    for task_id in todo:
        place.directory.failure(task_id).unlink(missing_ok=True)
    if not todo:
        return Outcome((), {}, ())
    executor = Executor(
        work.tasks, todo, work.costs, place.directory, place.lock, place.listener, place.state
    )
    costs = {task_id: work.costs[task_id] for task_id in todo}
    try:
        return executor.run(place.make_workers(place.directory, costs))
    finally:
        remove_leftovers(place.directory)


def _local_workers(n_workers: int | None) -> MakeWorkers:
    n_wanted = wanted_workers(n_workers)

    def make(directory: RunDirectory, costs: Mapping[str, Cost]) -> Workers:
        n_useful = min(n_wanted, len(costs))
        room = Room(available_memory(), _local_gpus(costs))
        return Pool(directory.path, n_useful, room, worker_memory(costs.values(), n_useful))

    return make


def _cluster_workers(cluster: str, n_workers: int | None) -> MakeWorkers:
    from thermorbm.runner.cluster import ClusterWorkers, open_cluster

    n_wanted = wanted_workers(n_workers)
    return lambda directory, costs: ClusterWorkers(directory, open_cluster(cluster, n_wanted), costs)


def _local_gpus(costs: Mapping[str, Cost]) -> int:
    if not any(cost.gpus for cost in costs.values()):
        return 0
    import torch

    return torch.cuda.device_count()
