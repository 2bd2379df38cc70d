"""A task: a piece of work whose result is named by the hash of all that determines it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import SeedSequence

# Raised by one when the meaning of a kind's result changes: results of older code are then not used.
VERSIONS = {
    "sample": 1,
    "import": 1,
    "energies": 1,
    "measure": 1,
    "train": 2,
    "weights": 2,
    "observe": 3,
    "partition": 2,
    "bracket": 2,
    "interactions": 2,
    "estimate": 4,
}
# What a kind makes beside its reduced result: configurations, or a machine. They lie in the cache.
LARGE = {"sample": "dataset", "import": "dataset", "train": "machine"}
# Kinds that read what their inputs have in the cache, and not only their reduced results.
READS_LARGE = frozenset({"measure", "train", "weights", "observe", "partition", "bracket", "interactions"})
HASH_LENGTH = 16


@dataclass(frozen=True)
class Task:
    """kind: what to do. name: for people and file names. parameters: all that determines the result beside
    the inputs. inputs: ids of the tasks whose results are used. labels: where the result belongs in the
    report; they do not change it.
    """

    kind: str
    name: str
    hash: str
    parameters: Mapping[str, Any] = field(repr=False)
    inputs: tuple[str, ...] = field(default=(), repr=False)
    labels: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        """kind/name-hash: unique in a study, and the path of its files."""
        return f"{self.kind}/{self.name}-{self.hash}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            "hash": self.hash,
            "parameters": dict(self.parameters),
            "inputs": list(self.inputs),
            "labels": dict(self.labels),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Task:
        return cls(**{**stored, "inputs": tuple(stored["inputs"])})


def make_task(
    kind: str,
    name: str,
    parameters: Mapping[str, Any],
    inputs: Sequence[Task] = (),
    labels: Mapping[str, Any] | None = None,
) -> Task:
    """A task with its hash: of kind, version, parameters and the hashes of its inputs, in order."""
    essence = {
        "kind": kind,
        "version": VERSIONS[kind],
        "parameters": parameters,
        "inputs": [task.hash for task in inputs],
    }
    text = json.dumps(essence, sort_keys=True, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
    return Task(kind, name, digest, parameters, tuple(task.id for task in inputs), labels or {})


def derived_seed(seed: int, *names: object) -> int:
    """A seed that depends on the study's seed and on these names, and on no other task."""
    digest = hashlib.sha256("\0".join(str(name) for name in names).encode()).digest()
    key = tuple(int(word) for word in np.frombuffer(digest, "<u4"))
    return int(SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)[0] >> 1)
