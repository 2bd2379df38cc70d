"""Steps, tasks and costs: a step is a kind of work, a task is a piece of it, named by what determines it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence

if TYPE_CHECKING:
    from thermorbm.runner.store import Product, Store

HASH_LENGTH = 16
# kind/name-hash, the path of a task's files: two names without a way out of the run directory.
ID = re.compile(r"[A-Za-z0-9_-]{1,40}/[A-Za-z0-9][A-Za-z0-9._+=-]{0,200}")
BASE_MEMORY = 400 << 20  # an interpreter with torch, numba and scipy
ASSUMED_MEMORY = 8 << 30  # where the system does not say how much there is: Windows

# How the shards of a batch array divide tasks, see `shards`.
WITH_ANCHOR = "with anchor"  # done by the shard that does the anchor it needs, or alone
ANCHOR = "anchor"
REPEATED = "repeated"  # cheap: every shard that needs the result makes it
LAST = "last"  # joins results of several shards, so it is done when all others are


@dataclass(frozen=True)
class Task:
    """kind: the name of its step. name: for people and file names. parameters: all that determines the result
    beside the inputs. inputs: ids of the tasks whose results are used. labels: where the result belongs in
    the report; they do not change it. The rest is copied from the step, see `Step`. large_inputs: those
    inputs whose large file is read, and not only the reduced result.
    """

    kind: str
    name: str
    hash: str
    parameters: Mapping[str, Any] = field(repr=False)
    inputs: tuple[str, ...] = field(default=(), repr=False)
    labels: Mapping[str, Any] = field(default_factory=dict, repr=False)
    large_inputs: tuple[str, ...] = field(default=(), repr=False)
    module: str = field(default="", repr=False)
    makes_large: bool = field(default=False, repr=False)
    has_checkpoint: bool = field(default=False, repr=False)
    needs_local_files: bool = field(default=False, repr=False)
    sharing: str = field(default=WITH_ANCHOR, repr=False)

    @property
    def id(self) -> str:
        """kind/name-hash: unique in a study, and the path of its files."""
        return f"{self.kind}/{self.name}-{self.hash}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Task:
        """From `to_dict`; ValueError or TypeError where a value does not fit, or an id is no path of ours."""
        fields = dict(stored)
        lists = {key: tuple(fields.get(key, ())) for key in ("inputs", "large_inputs")}
        task = cls(**{**fields, **lists})
        for task_id in (task.id, *task.inputs, *task.large_inputs):
            if not isinstance(task_id, str) or not ID.fullmatch(task_id):
                raise ValueError(f"{task_id!r:.60} is not the id of a task")
        if not isinstance(task.labels, Mapping) or not isinstance(task.parameters, Mapping):
            raise TypeError("labels and parameters must be tables")
        return task

    def run(self, store: Store, progress: Progress, note: Note) -> Product:
        """Does the work. The module of the step is loaded only now: it may bring compilers with it."""
        step: Step = import_module(self.module).STEP
        return step.run(self, store, progress, note)


Progress = Callable[[float], None]
Note = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """A kind of task. One file declares one step as its `STEP`.

    name: begins the path of its files. version: raised by one when the meaning of the result changes, so that
    results of older code are not used. run: gets the task, a store with the results of its inputs, and two
    callbacks, for the fraction done and for lines that the user should read; gives what it has made.
    makes_large: it also makes a large file, in the cache. reads_large: it reads such files of its inputs.
    has_checkpoint: when asked to stop it writes a checkpoint first. needs_local_files: it reads files of the
    user, which lie where the runner is. sharing: see above.
    """

    name: str
    version: int
    run: Callable[[Task, Store, Progress, Note], Product] = field(repr=False)
    makes_large: bool = False
    reads_large: bool = False
    has_checkpoint: bool = False
    needs_local_files: bool = False
    sharing: str = WITH_ANCHOR

    def task(
        self,
        name: str,
        parameters: Mapping[str, Any],
        inputs: Sequence[Task] = (),
        labels: Mapping[str, Any] | None = None,
    ) -> Task:
        """A task with its hash: of kind, version, parameters and the hashes of its inputs, in order."""
        essence = {
            "kind": self.name,
            "version": self.version,
            "parameters": parameters,
            "inputs": [task.hash for task in inputs],
        }
        text = json.dumps(essence, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return Task(
            kind=self.name,
            name=name,
            hash=hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH],
            parameters=parameters,
            inputs=tuple(task.id for task in inputs),
            labels=labels or {},
            large_inputs=tuple(task.id for task in inputs if self.reads_large and task.makes_large),
            module=self.run.__module__,
            makes_large=self.makes_large,
            has_checkpoint=self.has_checkpoint,
            needs_local_files=self.needs_local_files,
            sharing=self.sharing,
        )


def short_id(task_id: str) -> str:
    """kind/name, without the hash: as people read it."""
    return task_id.rsplit("-", 1)[0]


def derived_seed(seed: int, *names: object) -> int:
    """A seed that depends on the study's seed and on these names, and on no other task."""
    digest = hashlib.sha256("\0".join(str(name) for name in names).encode()).digest()
    key = tuple(int(word) for word in np.frombuffer(digest, "<u4"))
    return int(SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)[0] >> 1)


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
    except (OSError, KeyError, ValueError):  # not Linux
        if not hasattr(os, "sysconf"):
            return ASSUMED_MEMORY
        return int(0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def worker_memory(costs: Iterable[Cost], n_workers: int) -> int:
    """Bytes that one worker may use: its part of what is free, or twice what its tasks should need."""
    largest = max((cost.memory for cost in costs), default=BASE_MEMORY)
    return max(available_memory() // n_workers, 2 * largest)
