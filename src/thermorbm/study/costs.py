"""What tasks will cost, roughly: it decides their order and the time shown as left, and nothing else."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from thermorbm.exact import TC_2D, TC_3D
from thermorbm.study.tasks import Task

FLIPS_PER_SECOND = 5e9
FLOPS_PER_SECOND = 1e11
BASE_MEMORY = 400 << 20  # an interpreter with torch, numba and scipy
GUESSED_SAMPLES = 10_000  # of users' data, which are not opened to plan


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


@dataclass(frozen=True)
class _Data:
    n_samples: int
    n_sites: int


def estimate_costs(tasks: Mapping[str, Task]) -> dict[str, Cost]:
    """The cost of every task."""
    found = {task_id: _cost(task, tasks) for task_id, task in tasks.items()}
    return {task_id: replace(cost, gpus=gpus(tasks[task_id])) for task_id, cost in found.items()}


def gpus(task: Task) -> int:
    """How many GPUs a task wants; all others want one core."""
    return int(task.parameters.get("device") == "cuda")


def _cost(task: Task, tasks: Mapping[str, Task]) -> Cost:
    if task.kind in ("sample", "energies"):
        return _sampling(task.parameters)
    if task.kind == "estimate":
        return Cost(1.0, BASE_MEMORY)
    inputs = [tasks[item] for item in task.inputs]
    data = _data_of(inputs)
    packed = data.n_samples * data.n_sites // 8
    if "filters" in task.parameters:
        return _symmetric_training(task.parameters, data, packed)
    if task.kind == "train":
        return _training(task.parameters, data, packed)
    if inputs and "filters" in inputs[0].parameters:
        return _symmetric_reading(task, inputs[0].parameters, data, packed)
    if task.kind in ("partition", "bracket"):
        return _annealing(task, inputs[0].parameters["n_hidden"], data, packed)
    if task.kind in ("weights", "observe"):
        return _observing(task, inputs[0].parameters["n_hidden"], data, packed)
    return Cost(0.2 + data.n_samples * data.n_sites * 4e-9, BASE_MEMORY + 4 * packed)


def _sampling(parameters: Mapping[str, Any]) -> Cost:
    """Samples five autocorrelation times apart, after a pilot of as long again."""
    shape, n_samples = parameters["shape"], parameters["samples"] + parameters.get("held_out", 0)
    n_sites = math.prod(shape)
    critical = {2: TC_2D, 3: TC_3D}.get(len(shape), 2.0 * len(shape))
    distance = abs(parameters["temperature"] / critical - 1)
    length = min(max(shape), 0.5 / max(distance, 1e-9))
    sweeps = 5 * (1 + 0.03 * length**2.1)
    return Cost(
        0.3 + 1.5 * n_samples * n_sites * sweeps / FLIPS_PER_SECOND, BASE_MEMORY + n_samples * n_sites
    )


def _training(parameters: Mapping[str, Any], data: _Data, packed: int) -> Cost:
    recipe, n_hidden = parameters["recipe"], parameters["n_hidden"]
    batch, per_epoch = recipe["batch_size"], max(1, data.n_samples // recipe["batch_size"])
    n_updates = max(recipe["epochs"] * per_epoch, recipe.get("least_updates", 0))
    products = 2 * batch * data.n_sites * n_hidden * (3 + 2 * recipe["gibbs_steps"]) / FLOPS_PER_SECOND
    draws = batch * (data.n_sites + n_hidden) * recipe["gibbs_steps"] * 2e-9
    memory = BASE_MEMORY + 3 * packed + 40 * data.n_sites * n_hidden
    return Cost(1 + n_updates * (5e-4 + products + draws), memory)


def _symmetric_training(parameters: Mapping[str, Any], data: _Data, packed: int) -> Cost:
    recipe = parameters["recipe"]
    per_epoch = max(1, data.n_samples // recipe["batch_size"])
    n_updates = max(recipe["epochs"] * per_epoch, recipe.get("least_updates", 0))
    units = recipe["batch_size"] * parameters["n_hidden"]
    return Cost(1 + n_updates * (1e-3 + units * 1e-8), BASE_MEMORY + 3 * packed + 64 * units)


def _symmetric_reading(task: Task, parameters: Mapping[str, Any], data: _Data, packed: int) -> Cost:
    """A few thousand Gibbs steps of 64 chains, for ln Z and the bound, or a few hundred."""
    steps = 200 if task.kind == "interactions" else 2000
    units = 64 * parameters["n_hidden"]
    return Cost(1 + steps * units * 1e-8, BASE_MEMORY + 2 * packed + 256 * units)


def _observing(task: Task, n_hidden: int, data: _Data, packed: int) -> Cost:
    memory = BASE_MEMORY + 2 * packed + 16 * data.n_sites * n_hidden
    if task.kind == "weights":
        return Cost(0.3 + data.n_sites * n_hidden * 2e-7, memory)
    products = 6 * data.n_samples * data.n_sites * n_hidden / FLOPS_PER_SECOND
    conditionals = 5000 * data.n_sites * n_hidden * 1e-10  # every spin of 5000 configurations flipped
    return Cost(0.5 + products + conditionals, memory)


def _annealing(task: Task, n_hidden: int, data: _Data, packed: int) -> Cost:
    """Some hundred rungs, four times for 64 chains or once for 256."""
    steps = 4 * 500 * 64
    flops = 4 * data.n_sites * n_hidden
    per_chain = flops / (FLOPS_PER_SECOND / 2) + 2e-9 * (data.n_sites + n_hidden)
    memory = BASE_MEMORY + 2 * packed + 4 * data.n_sites * (n_hidden + 2000)
    return Cost(0.3 + steps * per_chain, memory)


def _data_of(inputs: list[Task]) -> _Data:
    """Configurations that a task reads: those of its datasets, or of the machine's where it reads none."""
    found = [task.parameters for task in inputs if task.kind == "sample"]
    if not found:
        return _Data(GUESSED_SAMPLES, 1024)
    n_samples = sum(parameters["samples"] + parameters["held_out"] for parameters in found)
    return _Data(n_samples, math.prod(found[0]["shape"]))


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
