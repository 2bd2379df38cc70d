"""Results of other tasks as a worker reads them, and what a task produces as a worker writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import FileError
from thermorbm.model import Machine, load_machine
from thermorbm.study.reduced import Reduced, read_reduced, write_reduced
from thermorbm.study.rundir import RunDirectory
from thermorbm.study.tasks import Task

Found = TypeVar("Found")


class DamagedInput(Exception):
    """A result that a task needs is damaged or gone: whoever made it has to make it again."""

    def __init__(self, task_id: str, problem: str) -> None:
        self.task_id, self.problem = task_id, problem
        super().__init__(f"{task_id}: {problem}")


@dataclass(frozen=True, eq=False)
class Product:
    """What a task has made: values and arrays of its reduced result, and the large part if there is one."""

    values: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    large: Dataset | Machine | None = None


@dataclass(frozen=True)
class Store:
    """Reads results from a run directory; damage is told by DamagedInput, with the task to do again."""

    directory: RunDirectory

    def dataset(self, task_id: str) -> Dataset:
        return self._read(task_id, lambda: Dataset.load(self.directory.large(task_id)))

    def machine(self, task_id: str) -> Machine:
        return self._read(task_id, lambda: load_machine(self.directory.large(task_id)))

    def reduced(self, task_id: str) -> Reduced:
        return self._read(task_id, lambda: read_reduced(self.directory.reduced(task_id)))

    def write_large(self, task: Task, product: Product) -> None:
        """The large part, if there is one; it comes first."""
        if product.large is not None:
            product.large.save(self.directory.large(task.id))

    def write_reduced(self, task: Task, product: Product, timing: Mapping[str, Any]) -> None:
        """The reduced result: when it is there the task counts as done."""
        write_reduced(self.directory.reduced(task.id), Reduced(task, product.values, product.arrays, timing))
        self.directory.checkpoint(task.id).unlink(missing_ok=True)

    def _read(self, task_id: str, read: Callable[[], Found]) -> Found:
        try:
            return read()
        except FileError as error:
            raise DamagedInput(task_id, error.problem) from error
