"""Runs the tasks of a plan on workers, here or elsewhere, until all are done or cannot be done."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path

from thermorbm.runner.clock import Clock
from thermorbm.runner.lock import Lock
from thermorbm.runner.pool import Answer, Workers
from thermorbm.runner.progress import Listener, Running, Snapshot, State, count, stages
from thermorbm.runner.rundir import RunDirectory
from thermorbm.runner.store import is_done
from thermorbm.runner.task import Cost, Room, Task, short_id
from thermorbm.storage import write_json

# A task is tried so often when its worker is killed, and a damaged result made again so often.
MOST_ATTEMPTS = 2
MOST_REMAKES = 3
TURN_SECONDS = 0.25
SHOWN_SECONDS = 0.1
STATE_SECONDS = 1.0


def needed(tasks: Mapping[str, Task], good: Iterable[str], has_large: Iterable[str]) -> set[str]:
    """Tasks to run: those without a good reduced result, and those whose large result such a task misses.

    The large file of a task whose readers are all done need not be there.
    """
    good, has_large = set(good), set(has_large)
    todo: set[str] = set()
    for task_id in reversed(ordered(tasks)):  # those that read, before those that are read
        if task_id not in good:
            todo.add(task_id)
        if task_id in todo:
            todo.update(item for item in tasks[task_id].large_inputs if item not in has_large)
    return todo


def ordered(tasks: Mapping[str, Task]) -> list[str]:
    """Every task after its inputs."""
    return list(TopologicalSorter({task_id: task.inputs for task_id, task in tasks.items()}).static_order())


class Schedule:
    """States of tasks: "done", "pending", "running", "failed" or "skipped"."""

    def __init__(self, tasks: Mapping[str, Task], todo: Iterable[str], costs: Mapping[str, Cost]) -> None:
        self._tasks, self._costs = tasks, costs
        self._dependants: dict[str, list[str]] = {task_id: [] for task_id in tasks}
        for task_id, task in tasks.items():
            for item in task.inputs:
                self._dependants[item].append(task_id)
        self.states = dict.fromkeys(tasks, "done") | dict.fromkeys(todo, "pending")

    @property
    def is_open(self) -> bool:
        """Whether anything is still to be done; what needs a failed task is not."""
        return any(state in ("pending", "running") for state in self.states.values())

    def next(self, room: Room) -> str | None:
        """The task that can start now, fits in the room, and comes first; None if none.

        Tasks that only read come before those that make something large for others to read, so that a run
        that is cut off has read what it has made; then those with the longest work behind them. With nothing
        running any task may start, whatever it needs.
        """
        running = [task_id for task_id, state in self.states.items() if state == "running"]
        for task_id in running:
            room = room.without(self._costs[task_id])
        ready = [
            task_id
            for task_id, state in self.states.items()
            if state == "pending"
            and (not running or room.holds(self._costs[task_id]))
            and all(self.states[item] == "done" for item in self._tasks[task_id].inputs)
        ]
        return min(ready, key=self._place_in_line, default=None)

    def _place_in_line(self, task_id: str) -> tuple[bool, float, str]:
        return self._tasks[task_id].makes_large, -self._ranks[task_id], task_id

    @cached_property
    def _ranks(self) -> dict[str, float]:
        """Seconds from the start of each task to the end of the longest chain of tasks behind it."""
        ranks: dict[str, float] = {}
        for task_id in reversed(ordered(self._tasks)):
            behind = max((ranks[item] for item in self._dependants[task_id]), default=0.0)
            ranks[task_id] = self._costs[task_id].seconds + behind
        return ranks

    def start(self, task_id: str) -> None:
        self.states[task_id] = "running"

    def finish(self, task_id: str) -> None:
        self.states[task_id] = "done"

    def retry(self, task_id: str) -> None:
        """Puts a task back; its inputs must be good."""
        self.states[task_id] = "pending"

    def remake(self, task_id: str, reader: str) -> None:
        """A result turned out to be damaged when `reader` read it: both are to be done, in that order."""
        if self.states[task_id] == "done":
            self.states[task_id] = "pending"
        self.states[reader] = "pending"

    def fail(self, task_id: str) -> list[str]:
        """Marks a task as failed and gives those that are skipped because they need its result."""
        self.states[task_id] = "failed"
        skipped: list[str] = []
        waiting = list(self._dependants[task_id])
        while waiting:
            item = waiting.pop()
            if self.states[item] == "pending":
                self.states[item] = "skipped"
                skipped.append(item)
                waiting += self._dependants[item]
        return skipped


@dataclass(frozen=True)
class Outcome:
    """Tasks by what became of them in this run. failed: id -> error."""

    done: tuple[str, ...]
    failed: Mapping[str, str]
    skipped: tuple[str, ...]


class Executor:
    """One run over the tasks that are to do."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        todo: Iterable[str],
        costs: Mapping[str, Cost],
        directory: RunDirectory,
        lock: Lock,
        listener: Listener,
        state: Path | None = None,
    ) -> None:
        """state: where to tell `status` what is under way."""
        self._tasks, self._directory, self._lock, self._listener = tasks, directory, lock, listener
        self._schedule, self._clock = Schedule(tasks, todo, costs), Clock(costs, tasks)
        self._state, self._n_workers = state or directory.state, 1
        self._attempts, self._remakes = Counter[str](), Counter[str]()
        self._done: list[str] = []
        self._failed: dict[str, str] = {}
        self._skipped: list[str] = []
        self._shown, self._state_written, self._waited = -SHOWN_SECONDS, -STATE_SECONDS, False

    def run(self, workers: Workers) -> Outcome:
        """Until nothing is left that could run."""
        try:
            with workers as pool:
                while self._schedule.is_open:  # also while a cluster has no workers yet
                    self._fill(pool)
                    self._note_missing_workers(pool)
                    for answer in pool.answers(TURN_SECONDS):
                        self._take(answer)
                    self._show()
        finally:
            self._clock.under_way.clear()
            self._listener.update(self._snapshot())
            self._write_state()
        return Outcome(tuple(self._done), self._failed, tuple(self._skipped))

    def _fill(self, pool: Workers) -> None:
        """Gives tasks to idle workers."""
        self._n_workers = max(1, pool.n_workers)
        while pool.n_idle and (task_id := self._schedule.next(pool.room)) is not None:
            if is_done(self._directory, self._tasks[task_id]):  # by another shard in the meantime
                self._finish(task_id, [])
                continue
            self._schedule.start(task_id)
            self._clock.start(task_id)
            self._attempts[task_id] += 1
            pool.give(self._tasks[task_id])

    def _note_missing_workers(self, pool: Workers) -> None:
        """Says once that the run waits, when a cluster has no workers (yet)."""
        if not pool.n_workers and not self._waited:
            self._waited = True
            self._listener.note("waiting for workers")

    def _take(self, answer: Answer) -> None:
        task_id, message = answer.task_id, answer.message
        if message["event"] == "progress":
            self._clock.report(task_id, message["fraction"])
            return
        self._clock.stop(task_id, message.get("seconds"))
        if message["event"] == "done":
            self._finish(task_id, message["notes"])
        elif message["event"] == "damaged":
            self._remake(message["input"], task_id, message["problem"])
        elif message["event"] == "died":
            self._revive(task_id, message["how"])
        else:
            self._fail(task_id, message["error"])

    def _finish(self, task_id: str, notes: list[str]) -> None:
        self._schedule.finish(task_id)
        self._done.append(task_id)
        for note in notes:
            self._listener.note(f"{short_id(task_id)}: {note}")

    def _remake(self, damaged: str, reader: str, problem: str) -> None:
        """A result is damaged: removes it and has it made again, but not for ever."""
        self._remakes[damaged] += 1
        if self._remakes[damaged] > MOST_REMAKES:
            self._fail(reader, f"{short_id(damaged)} is damaged again and again: {problem}")
            return
        self._listener.note(f"{short_id(damaged)}: result cannot be used ({problem}); computing it again")
        for path in (self._directory.reduced(damaged), self._directory.large(damaged)):
            path.unlink(missing_ok=True)
        self._attempts[reader] -= 1
        self._schedule.remake(damaged, reader)

    def _revive(self, task_id: str, how: str) -> None:
        if self._attempts[task_id] < MOST_ATTEMPTS:
            self._listener.note(f"{short_id(task_id)}: its worker was ended {how}; trying again")
            self._schedule.retry(task_id)
        else:
            self._fail(task_id, f"its worker was ended {MOST_ATTEMPTS} times, the last time {how}")

    def _fail(self, task_id: str, error: str) -> None:
        skipped = self._schedule.fail(task_id)
        self._failed[task_id] = error
        self._skipped += skipped
        record = {"error": error, "log": str(self._directory.log(task_id).relative_to(self._directory.path))}
        write_json(self._directory.failure(task_id), record)
        waiting = f"; {len(skipped)} tasks that need it are skipped" if skipped else ""
        self._listener.note(f"{short_id(task_id)}: FAILED: {error}{waiting}")

    def _show(self) -> None:
        self._lock.beat()
        if time.monotonic() - self._shown >= SHOWN_SECONDS:
            self._shown = time.monotonic()
            self._listener.update(self._snapshot())
        if time.monotonic() - self._state_written >= STATE_SECONDS:
            self._write_state()

    def _snapshot(self) -> Snapshot:
        states = self._schedule.states
        now, left = time.monotonic(), self._clock.time_left(states, self._n_workers)
        running = tuple(
            Running(short_id(task_id), now - item.start, item.fraction)
            for task_id, item in self._clock.under_way.items()
        )
        return Snapshot(count(states), stages(states, self._tasks), running, left)

    def _write_state(self) -> None:
        """Writes what is under way, for `status`, which sees from the result files what is done."""
        self._state_written = time.monotonic()
        snapshot = self._snapshot()
        last = next(reversed(self._failed.items()), None)
        last_error = None if last is None else f"{short_id(last[0])}: {last[1]}"
        state = State(snapshot.running, snapshot.eta, self._n_workers, last_error)
        write_json(self._state, asdict(state))
