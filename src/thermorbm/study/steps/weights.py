"""Reads the parameters of a dense machine: distributions, sums, domains and some filters."""

from __future__ import annotations

from collections.abc import Sequence

from thermorbm.records import as_plain
from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import BASE_MEMORY, Cost, Note, Progress, Task
from thermorbm.study.steps.step import MachinePlace, Rows, StudyStep, data_size, read_machine


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.lattice import Lattice
    from thermorbm.reading.machine import weights

    shape = task.parameters["shape"]
    lattice = None if shape is None else Lattice(shape)
    values, arrays = weights(read_machine(store, task.inputs[0]), lattice, task.parameters["all_filters"])
    return Product(as_plain(values), arrays)


def of_machine(place: MachinePlace) -> list[Task]:
    if place.n_filters or not place.has("weights"):
        return []
    family, variant = place.family, place.variant
    is_smallest = variant.name == "main" and place.n_hidden == min(variant.hidden)
    parameters = {
        "all_filters": is_smallest and place.value in family.all_filters,
        "shape": None if family.lattice is None else list(family.lattice.shape),
    }
    return [place.task(STEP, parameters)]


def cost(task: Task, inputs: Sequence[Task]) -> Cost:
    size, n_hidden = data_size(inputs), inputs[0].parameters["n_hidden"]
    memory = BASE_MEMORY + 2 * size.packed + 16 * size.n_sites * n_hidden
    return Cost(0.3 + size.n_sites * n_hidden * 2e-7, memory)


def leave(rows: Rows, result: Reduced) -> None:
    rows.of_input(result)["weights"] = {**result.values, "file": result.file}


STEP = StudyStep(
    "weights", version=3, run=run, cost=cost, leave=leave, of_machine=of_machine, reads_large=True
)
