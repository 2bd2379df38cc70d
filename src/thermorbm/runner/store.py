"""Results of tasks on disk: the reduced result of every task, and the large file of some.

A reduced result holds numbers and small arrays, in kilobytes: all that tables and figures need.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from thermorbm.errors import FileError
from thermorbm.records import as_plain
from thermorbm.runner.rundir import RunDirectory
from thermorbm.runner.task import Task
from thermorbm.storage import read_hdf5, read_metadata, stated_checksum, write_hdf5

KIND = "reduced"
PACKAGES = ("thermorbm", "torch", "numpy", "numba", "scipy", "h5py")
Read = TypeVar("Read")


@cache
def versions() -> Mapping[str, str]:
    """Of the programs that results here are made by."""
    return {**{name: version(name) for name in PACKAGES}, "python": platform.python_version()}


class Saved(Protocol):
    """What a large file is made from."""

    def save(self, path: Path) -> None: ...


@dataclass(frozen=True, eq=False)
class Product:
    """What a task has made: values and arrays of its reduced result, and the large part if there is one."""

    values: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    large: Saved | None = None


@dataclass(frozen=True, eq=False)
class Reduced:
    """values: numbers and texts as JSON can hold them, an estimate as {"value": x, "error": e}. arrays: what
    figures need. timing: seconds and the like, which differ between equal runs. versions: of the programs
    that made it. large: checksum of its large file, by which another file in its place is known.
    """

    task: Task
    values: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    timing: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    large: str | None = None

    @property
    def file(self) -> str:
        """Where it lies, relative to the run directory."""
        return f"reduced/{self.task.id}.h5"


class DamagedInput(Exception):
    """A result that a task needs is damaged or gone: the task that made it has to be done again."""

    def __init__(self, task_id: str, problem: str) -> None:
        self.task_id, self.problem = task_id, problem
        super().__init__(f"{task_id}: {problem}")


@dataclass(frozen=True)
class Store:
    """Reads and writes results in a run directory. A damaged one raises DamagedInput."""

    directory: RunDirectory

    def large(self, task_id: str, load: Callable[[Path], Read]) -> Read:
        def read() -> Read:
            path, reduced = self.directory.large(task_id), self.directory.reduced(task_id)
            made = read_values(reduced).large if reduced.exists() else None  # not sent along to a cluster
            if made is not None and made != stated_checksum(path):
                raise FileError(path, "is not the file that its task made")
            return load(path)

        return self._read(task_id, read)

    def reduced(self, task_id: str) -> Reduced:
        def read() -> Reduced:
            path = self.directory.reduced(task_id)
            result = read_reduced(path)
            if result.task.id != task_id:
                raise FileError(path, f"is the result of {result.task.id}")
            return result

        return self._read(task_id, read)

    def write_large(self, task: Task, product: Product) -> None:
        """The large part, if there is one; it is written first."""
        if product.large is not None:
            product.large.save(self.directory.large(task.id))

    def write_reduced(self, task: Task, product: Product, timing: Mapping[str, Any]) -> None:
        """The reduced result: when it is there the task counts as done."""
        large = None if product.large is None else stated_checksum(self.directory.large(task.id))
        result = Reduced(task, product.values, product.arrays, timing, versions(), large)
        write_reduced(self.directory.reduced(task.id), result)
        self.directory.checkpoint(task.id).unlink(missing_ok=True)

    def _read(self, task_id: str, read: Callable[[], Read]) -> Read:
        try:
            return read()
        except FileError as error:
            raise DamagedInput(task_id, error.problem) from error


def write_reduced(path: Path, result: Reduced) -> None:
    metadata = {
        "task": result.task.to_dict(),
        "values": as_plain(result.values),
        "timing": as_plain(result.timing),
        "versions": dict(result.versions),
        "large": result.large,
    }
    write_hdf5(path, KIND, result.arrays, metadata)


def read_reduced(path: Path) -> Reduced:
    """Reads a file of `write_reduced`; FileError if it is absent, damaged or something else."""
    arrays, metadata = read_hdf5(path, KIND)
    return _made(path, metadata, arrays)


def read_values(path: Path) -> Reduced:
    """The same without arrays."""
    return _made(path, read_metadata(path, KIND), {})


def _made(path: Path, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Reduced:
    try:
        task = Task.from_dict(metadata["task"])
        values, timing = dict(metadata["values"]), dict(metadata["timing"])
        made_by = {str(name): str(text) for name, text in metadata.get("versions", {}).items()}
        return Reduced(task, values, arrays, timing, made_by, metadata.get("large"))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(path, f"is not a valid reduced result: {error}", "make it again") from error


def damage(directory: RunDirectory, task: Task) -> str | None:
    """Why the reduced result of a task cannot be used, "" if it is not there; None if it is good."""
    path = directory.reduced(task.id)
    if not path.exists():
        return ""
    try:
        result = read_values(path)
    except FileError as error:
        return error.problem
    return None if result.task.id == task.id else f"is the result of {result.task.id}"


def is_done(directory: RunDirectory, task: Task) -> bool:
    """Whether everything that a task makes is there; of the large part only that it exists is looked at."""
    has_large = not task.makes_large or directory.large(task.id).exists()
    return has_large and damage(directory, task) is None
