"""What a run directory has to show: for each family its temperatures, with data and machines of some kinds.

A kind is a way of training: dense, dense as the paper's, symmetric. Of each kind the machines of one size are
shown, the smallest, of the first seed, at single temperatures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import FileError
from thermorbm.explorer.datasets import ShownData, kept_data, shown_data
from thermorbm.model import Machine, load_machine
from thermorbm.report.run import FILE, Run
from thermorbm.runner.rundir import RunDirectory, read_plan
from thermorbm.runner.store import DamagedInput, Store
from thermorbm.study import results

NOT_KEPT = (
    "the weights of this machine are not in the run directory: published results leave them out, and cache/ "
    "may have been deleted"
)
NOT_TRAINED = "there is no such machine here"
# (role, as_paper) of each kind by its key, in the order of choice.
KINDS = {"dense": ("main", False), "symmetric": ("symmetric", False), "as-paper": ("main", True)}
NAMES = {"dense": "Dense", "symmetric": "Symmetric", "as-paper": "Dense, as the paper's"}
PAIR = ("dense", "symmetric")  # side by side
# What arrays of any type and shape lead to: reduced results may come from somebody else.
MISFIT = (ValueError, TypeError, ArithmeticError, LookupError)

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ShownMachine:
    """A machine of one kind at one temperature. load: reads it, None where its weights are not there.

    facts: what the study says of it, in sentences. filters: the first ones, (n, n_sites), where those are all
    that was kept.
    """

    load: Callable[[], Machine] | None
    facts: Sequence[str]
    filters: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Point:
    """One value of the control parameter. machines: by kind. missing: why a kind has none, by kind."""

    value: float
    data: ShownData | None
    machines: Mapping[str, ShownMachine]
    missing: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class FamilyContent:
    """A family with its points, lowest value first. kinds: name for people by key; there may be none.

    shape: sides of its picture, None where it is not known: those of the lattice, with the sites of a cell
    side by side. notes: sentences on what is not there.
    """

    name: str
    shape: tuple[int, ...] | None
    n_sites: int
    critical: float | None
    kinds: Mapping[str, str]
    points: Sequence[Point]
    notes: Sequence[str] = field(default_factory=tuple)


def contents(run: Run) -> list[FamilyContent]:
    """All families of the run that have data or machines."""
    reader = _Reader(run)
    families = [reader.family(family) for family in run.results.families]
    return [family for family in families if family.points]


def progress_notes(run: Run) -> list[str]:
    """How far the study is, where it is not complete."""
    tasks = run.results.tasks
    if tasks.done == tasks.total:
        return []
    missing = sum(name.startswith("train/") for name in tasks.missing)
    failed = sum(row.task.startswith("train/") for row in tasks.failed)
    words = [f"This study is not complete: {tasks.done} of {tasks.total} tasks are done"]
    words += [f"{missing} machines are not trained yet"] if missing else []
    words += [f"the training of {failed} failed"] if failed else []
    note = ", ".join(words) + ("" if missing or failed else ", the training of all machines among them")
    return [f"{note}. The page shows what there is; make it again later."]


class _Reader:
    """Reads large and reduced results of one run."""

    def __init__(self, run: Run) -> None:
        self._run, self._directory = run, RunDirectory(run.path)
        self._store = Store(self._directory)
        self._datasets = dict(_dataset_tasks(self._directory))

    def family(self, family: results.FamilyResults) -> FamilyContent:
        chosen = {key: _machines_of(family, *KINDS[key]) for key in KINDS}
        chosen = {key: machines for key, machines in chosen.items() if machines}
        notes = [
            f"No {NAMES[key].lower()} machines were trained on {family.name}."
            for key in PAIR
            if key not in chosen
        ]
        values = {row.value for row in family.balanced_data()}
        values |= {value for machines in chosen.values() for value in machines}
        n_sites = family.n_sites or max((row.n_sites for row in family.data), default=0)
        points = [self._point(family, value, chosen, notes, n_sites) for value in sorted(values)]
        kinds = {key: _kind_name(key, next(iter(machines.values()))) for key, machines in chosen.items()}
        shape = picture_shape(family.shape, points, n_sites)
        return FamilyContent(family.name, shape, n_sites, family.critical_temperature, kinds, points, notes)

    def _point(
        self,
        family: results.FamilyResults,
        value: float,
        chosen: Mapping[str, Mapping[float, results.MachineResults]],
        notes: list[str],
        n_sites: int,
    ) -> Point:
        rows = {key: machines[value] for key, machines in chosen.items() if value in machines}
        machines = {key: self._machine(row, notes, n_sites) for key, row in rows.items()}
        missing = {key: NOT_TRAINED for key in chosen if key not in rows}
        missing |= {key: NOT_KEPT for key, machine in machines.items() if machine.load is None}
        words, data = f"Configurations at {value:g}", None
        with _noting(words, notes):
            data = self._large_data(family, value, n_sites)
        with _noting(words, notes):
            data = data or self._kept_data(family, value, rows, n_sites)
        return Point(value, data, machines, missing)

    def _large_data(self, family: results.FamilyResults, value: float, n_sites: int) -> ShownData | None:
        task_id = self._datasets.get((family.name, value))
        if task_id is None or not self._directory.large(task_id).exists():
            return None
        data = self._store.large(task_id, Dataset.load)
        if data.n_sites != n_sites:
            raise ValueError(f"they have {data.n_sites} sites, not {n_sites}")
        return shown_data(data, family.is_ising)

    def _kept_data(
        self,
        family: results.FamilyResults,
        value: float,
        rows: Mapping[str, results.MachineResults],
        n_sites: int,
    ) -> ShownData | None:
        row = next((row for row in family.balanced_data() if row.value == value), None)
        if row is None:
            return None
        seen = [machine.observation() for machine in rows.values()]
        files = [item.file for item in seen if isinstance(item, results.Observation)]
        observed: Arrays = next((arrays for file in files if (arrays := self._run.arrays(file))), {})
        return kept_data(observed, self._run.arrays(row.file), row.thermal, n_sites)

    def _machine(self, row: results.MachineResults, notes: list[str], n_sites: int) -> ShownMachine:
        facts, words = _facts(row), f"The machine {row.variant} at {row.value:g}"
        load, filters = None, None
        with _noting(words, notes):
            load = self._loader(_task_id(row.file), n_sites)
        with _noting(words, notes):
            filters = None if load else self._kept_filters(row)
        return ShownMachine(load, facts, filters)

    def _loader(self, task_id: str | None, n_sites: int) -> Callable[[], Machine] | None:
        """What reads the machine, tried once; None where its weights were not kept."""
        if task_id is None or not self._directory.large(task_id).exists():
            return None
        n_visible = self._store.large(task_id, load_machine).n_visible
        if n_visible != n_sites:
            raise ValueError(f"it has {n_visible} visible units for {n_sites} sites")
        return lambda: self._store.large(task_id, load_machine)

    def _kept_filters(self, row: results.MachineResults) -> NDArray[Any] | None:
        """All filters where they were kept, else the first few, else None. -> (n, n_sites)."""
        if not isinstance(row.weights, results.Weights):
            return None
        arrays = self._run.arrays(row.weights.file)
        if "all_filters" in arrays and "all_filters_scale" in arrays:
            filters = arrays["all_filters"] * float(arrays["all_filters_scale"])
            return filters.reshape(len(filters), -1).astype(np.float64)
        first = arrays.get("filters")
        return None if first is None else first.reshape(len(first), -1).astype(np.float64)


@contextmanager
def _noting(words: str, notes: list[str]) -> Iterator[None]:
    """What cannot be read or shown becomes a note, and the page goes on without it."""
    try:
        yield
    except DamagedInput as error:
        notes.append(f"{words} cannot be read: {error.problem}.")
    except MISFIT as error:
        notes.append(f"{words} cannot be shown: {error}.")


def picture_shape(
    shape: tuple[int, ...] | None, points: Sequence[Point], n_sites: int
) -> tuple[int, ...] | None:
    """Sides of the picture of n_sites on a lattice of that shape, or on that of the Hamiltonian."""
    models = [point.data.hamiltonian for point in points if point.data and point.data.hamiltonian]
    if shape is None and models and models[0].grid is not None:
        shape = models[0].grid.shape
    if not shape or min(shape) < 1 or n_sites % math.prod(shape):
        return None
    return (*shape[:-1], shape[-1] * (n_sites // math.prod(shape)))


def _dataset_tasks(directory: RunDirectory) -> Iterator[tuple[tuple[str, float], str]]:
    """((family, value), id) of the tasks that made the balanced configurations; none without a plan."""
    try:
        tasks = read_plan(directory).values()
    except FileError:
        return
    for task in tasks:
        labels, value = task.labels, task.labels.get("value", 0.0)
        is_balanced = task.kind in ("sample", "import") and labels.get("sector") == "symmetric"
        if is_balanced and isinstance(value, int | float):
            yield (str(labels.get("family")), float(value)), task.id


def _machines_of(
    family: results.FamilyResults, role: str, as_paper: bool
) -> dict[float, results.MachineResults]:
    """The smallest machines of a kind from the first seed, by value."""
    rows = [row for row in family.first_seeds(role) if bool(row.as_paper) == as_paper]
    smallest = min((row.n_hidden for row in rows), default=0)
    return {row.value: row for row in rows if row.value is not None and row.n_hidden == smallest}


def _kind_name(key: str, machine: results.MachineResults) -> str:
    if machine.filters:
        side = f" of side {machine.kernel}" if machine.kernel else ""
        return f"{NAMES[key]}, {machine.filters} filters{side}"
    return f"{NAMES[key]}, {machine.n_hidden} hidden units"


def _facts(row: results.MachineResults) -> list[str]:
    facts = [f"Training: {row.verdict.status}."]
    seen = row.observation()
    if isinstance(seen, results.Observation) and seen.correlations_learnt is not None:
        facts.append(f"Share of the correlations learnt: {seen.correlations_learnt}.")
    return facts


def _task_id(file: str | None) -> str | None:
    """Of the training whose reduced result that is; None unless it is the name of one."""
    if file is None or not FILE.fullmatch(file):
        return None
    return file.removeprefix("reduced/").removesuffix(".h5")
