"""What tasks cost, roughly. It sets their order, the time shown as left and how much memory workers get."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

BASE_MEMORY = 400 << 20  # an interpreter with torch, numba and scipy


@dataclass(frozen=True)
class Cost:
    """What a task takes: seconds on one core, or with one GPU, and memory in bytes."""

    seconds: float
    memory: int
    gpus: int = 0


@dataclass(frozen=True)
class Room:
    """What tasks may use together: memory in bytes, and a number of GPUs."""

    memory: int
    gpus: int = 0

    def without(self, cost: Cost) -> Room:
        return Room(self.memory - cost.memory, self.gpus - cost.gpus)

    def holds(self, cost: Cost) -> bool:
        return cost.memory <= self.memory and cost.gpus <= self.gpus


def available_memory() -> int:
    """Bytes that the workers may use together: most of what is free now."""
    try:
        with open("/proc/meminfo") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(0.8 * 1024 * int(fields["MemAvailable"].split()[0]))
    except (OSError, KeyError, ValueError):
        return int(0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def worker_memory(costs: Iterable[Cost], n_workers: int) -> int:
    """Bytes that one worker may use: its part of what is free, or twice what its tasks should need."""
    largest = max((cost.memory for cost in costs), default=BASE_MEMORY)
    return max(available_memory() // n_workers, 2 * largest)
