"""Which task is next: pure bookkeeping, without processes or files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from graphlib import TopologicalSorter

from thermorbm.runner.task import Cost, Room, Task


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
        """The task that can start now, fits in the room, and has the longest work behind it; None if none.

        With nothing running any task may start, whatever it needs.
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
        return min(ready, key=lambda item: (-self._ranks[item], item), default=None)

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
