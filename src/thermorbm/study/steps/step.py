"""What all steps of studies share: how they are declared, where they are planned, the rows they leave."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from thermorbm.runner.task import BASE_MEMORY, Cost, Step, Task, derived_seed
from thermorbm.study.named import n_sites_of

if TYPE_CHECKING:
    from thermorbm.dataset import Dataset
    from thermorbm.model import Machine
    from thermorbm.runner.store import Reduced, Store
    from thermorbm.study.spec import Control, Family, Sector, Variant

Values = dict[str, Any]

FLOPS_PER_SECOND = 1.4e11  # of one core with numbers of 16 bits
GUESSED_SAMPLES, GUESSED_SITES = 10_000, 1024  # of users' data, which are not opened to plan


@dataclass(frozen=True)
class DataPlace:
    """One dataset of a family, where steps that read datasets are planned."""

    family: Family
    value: float
    sector: Sector
    dataset: Task


@dataclass(frozen=True)
class MachinePlace:
    """One machine of a family, where steps that read machines are planned.

    trained: the task that trains it. value: None if it was trained on all temperatures together. datasets: by
    the value of the control parameter, those that the machine is read with. turns: see `plan`. made: the
    tasks that earlier steps have planned for it, by kind.
    """

    seed: int
    control: Control
    family: Family
    variant: Variant
    n_hidden: int
    n_filters: int
    value: float | None
    trained: Task
    datasets: Mapping[float, Task]
    turns: Sequence[float] | None
    made: dict[str, list[Task]] = field(default_factory=dict)

    def has(self, part: str) -> bool:
        """Whether the study asks for that part, of the family and of this variant."""
        return part in self.family.parts and part in (self.variant.parts or self.family.parts)

    def derived_seed(self, what: str, value: float | None = None) -> int:
        return derived_seed(self.seed, what, self.trained.name, *(() if value is None else (repr(value),)))

    def task(self, step: Step, parameters: Values, inputs: Sequence[Task] = ()) -> Task:
        """A task that reads the machine, and further inputs."""
        trained = self.trained
        return step.task(trained.name, parameters, [trained, *inputs], trained.labels)

    def task_at(self, value: float, step: Step, parameters: Values, inputs: Sequence[Task] = ()) -> Task:
        """A task that reads the machine with the dataset at one value, and further inputs."""
        trained, at = self.trained, f"-{self.control.at(value)}" if self.value is None else ""
        labels = {**trained.labels, "value": value}
        return step.task(f"{trained.name}{at}", parameters, [trained, self.datasets[value], *inputs], labels)


class Rows:
    """The rows of `results.json` while they are put together. Tasks come after their inputs."""

    def __init__(self, families: Iterable[Values]) -> None:
        self._families = {family["name"]: family for family in families}
        self._rows: dict[str, Values] = {}
        self.extrapolations: list[Values] = []
        self.scalings: list[Values] = []

    def family(self, result: Reduced) -> Values:
        return self._families[result.task.labels["family"]]

    def add(self, result: Reduced, table: str, row: Values) -> None:
        """A row of a table of the result's family."""
        self.family(result)[table].append(row)
        self._rows[result.task.id] = row

    def of_input(self, result: Reduced) -> Values:
        """The row that the first input left; an empty one that is lost if it left none."""
        return self._rows.get(result.task.inputs[0], {"observations": []})

    def observation(self, result: Reduced) -> Values:
        """What the machine that is the first input says at the result's value: the row of it."""
        value, rows = result.task.labels["value"], self.of_input(result)["observations"]
        row = next((row for row in rows if row["value"] == value), None)
        if row is None:
            row = {"value": value, "file": None}
            rows.append(row)
        return row


def no_tasks(place: Any) -> list[Task]:
    return []


@dataclass(frozen=True)
class StudyStep(Step):
    """A step of studies. leave: puts a reduced result into the rows of `results.json`. cost: of a task with
    these inputs. of_data, of_machine: the tasks of this step for a dataset or a machine, if it has any.
    """

    leave: Callable[[Rows, Reduced], None] = field(kw_only=True, repr=False)
    cost: Callable[[Task, Sequence[Task]], Cost] = field(kw_only=True, repr=False)
    of_data: Callable[[DataPlace], list[Task]] = field(kw_only=True, repr=False, default=no_tasks)
    of_machine: Callable[[MachinePlace], list[Task]] = field(kw_only=True, repr=False, default=no_tasks)


def read_dataset(store: Store, task_id: str) -> Dataset:
    from thermorbm.dataset import Dataset

    return store.large(task_id, Dataset.load)


def read_machine(store: Store, task_id: str) -> Machine:
    from thermorbm.model import load_machine

    return store.large(task_id, load_machine)


def weights_hash(machine: Machine) -> str:
    """SHA-256 of a machine's arrays: another processor may train it to other last bits from the same seed."""
    digest = hashlib.sha256()
    for name, array in sorted(machine.stored.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def split(data: Dataset) -> tuple[Dataset, Dataset]:
    """Configurations for training, and those held out: the last ones, as many as the dataset says."""
    n_train = len(data) - data.n_held_out
    return data[:n_train], data[n_train:]


@dataclass(frozen=True)
class DataSize:
    """How much a task reads. packed: bytes of all configurations."""

    n_samples: int
    n_sites: int

    @property
    def packed(self) -> int:
        return self.n_samples * self.n_sites // 8


def data_size(inputs: Iterable[Task]) -> DataSize:
    """Of the datasets among the inputs; guessed where there are none, or users' own."""
    sampled = [task.parameters for task in inputs if task.kind == "sample"]
    if not sampled:
        return DataSize(GUESSED_SAMPLES, GUESSED_SITES)
    n_samples = sum(parameters["samples"] + parameters["held_out"] for parameters in sampled)
    return DataSize(n_samples, n_sites_of(sampled[0]))


def scan_cost(task: Task, inputs: Sequence[Task]) -> Cost:
    """Of reading all configurations once."""
    size = data_size(inputs)
    return Cost(0.2 + size.n_samples * size.n_sites * 6e-9, BASE_MEMORY + 4 * size.packed)


def symmetric_cost(n_steps: int, inputs: Sequence[Task]) -> Cost:
    """Of so many Gibbs steps of 64 chains of a symmetric machine, the first input."""
    units = 64 * inputs[0].parameters["n_hidden"]
    return Cost(1 + n_steps * units * 1e-8, BASE_MEMORY + 2 * data_size(inputs).packed + 256 * units)


def annealing_cost(task: Task, inputs: Sequence[Task]) -> Cost:
    """Of ln Z: some hundred rungs, four times for 64 chains."""
    if "filters" in inputs[0].parameters:
        return symmetric_cost(2000, inputs)
    size, n_hidden = data_size(inputs), inputs[0].parameters["n_hidden"]
    steps, flops = 4 * 500 * 64, 4 * size.n_sites * n_hidden
    per_chain = flops / (FLOPS_PER_SECOND / 2) + 2e-9 * (size.n_sites + n_hidden)
    memory = BASE_MEMORY + 2 * size.packed + 4 * size.n_sites * (n_hidden + 2000)
    return Cost(0.3 + steps * per_chain, memory)
