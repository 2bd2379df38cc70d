"""A study divided among the jobs of an array: each does its share, the last one to end joins them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from thermorbm.errors import InputError
from thermorbm.runner.task import ANCHOR, LAST, REPEATED, Cost, Task

MOST_SHARDS = 10_000


@dataclass(frozen=True)
class Shard:
    """One of `count` shares, numbered from 1."""

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_SHARDS:
            raise InputError("shard", str(self), f"one of at most {MOST_SHARDS}")
        if not 1 <= self.number <= self.count:
            raise InputError("shard", str(self), f"numbered from 1 to {self.count}")

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def file_name(self) -> str:
        return f"{self.number}-of-{self.count}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """From "3/16"."""
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
        if match is None:
            raise InputError("shard", text, "like 3/16: number and count")
        return cls(int(match[1]), int(match[2]))


def share(shard: Shard, tasks: Mapping[str, Task], costs: Mapping[str, Cost]) -> set[str]:
    """The ids of the tasks that this shard does, with all that they need.

    Tasks that join results of several shards are in no share: the last shard to end does them. The dearest
    pieces of work are given out first, each to the shard whose total stays least. A task marked as repeated
    may be done by several shards; its results are the same bits everywhere. All shards compute the same
    division, because it follows from the plan alone.
    """
    shares: list[set[str]] = [set() for _ in range(shard.count)]
    loads = [0.0] * shard.count
    for piece in sorted(_pieces(tasks), key=lambda piece: (-_seconds(piece, costs), min(piece))):
        totals = [load + _seconds(piece - mine, costs) for load, mine in zip(loads, shares, strict=True)]
        best = totals.index(min(totals))
        shares[best] |= piece
        loads[best] = totals[best]
    return shares[shard.number - 1]


def _seconds(piece: Iterable[str], costs: Mapping[str, Cost]) -> float:
    return sum(costs[task_id].seconds for task_id in sorted(piece))


def _pieces(tasks: Mapping[str, Task]) -> list[set[str]]:
    """An anchor with all tasks that need it, or another task alone; each with everything it needs."""
    pieces: dict[str, set[str]] = {}
    for task_id, task in tasks.items():
        if task.sharing in (REPEATED, LAST):
            continue
        needs = _needs(task, tasks)
        anchor = next((item for item in sorted(needs) if tasks[item].sharing == ANCHOR), task_id)
        pieces.setdefault(anchor, set()).update((task_id, *needs))
    return list(pieces.values())


def _needs(task: Task, tasks: Mapping[str, Task]) -> set[str]:
    needs: set[str] = set()
    for item in task.inputs:
        needs |= {item, *_needs(tasks[item], tasks)}
    return needs
