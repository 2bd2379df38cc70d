"""Reads the Hamiltonian that a symmetric machine has learned, and what it generates itself."""

from __future__ import annotations

from collections.abc import Sequence

from thermorbm.records import as_plain
from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import Cost, Note, Progress, Task
from thermorbm.study.steps.step import (
    MachinePlace,
    Rows,
    StudyStep,
    read_dataset,
    read_machine,
    split,
    symmetric_cost,
)


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.model import SymmetricRBM
    from thermorbm.reading.machine import interactions

    machine, data = read_machine(store, task.inputs[0]), read_dataset(store, task.inputs[1])
    assert isinstance(machine, SymmetricRBM)
    p = task.parameters
    values = interactions(machine, split(data)[1], p["seed"], p.get("by_vector", False))
    return Product(as_plain(values), {"filters": machine.filters})


def of_machine(place: MachinePlace) -> list[Task]:
    if not place.n_filters:
        return []
    assert place.value is not None
    parameters = {"hamiltonian": place.family.hamiltonian, "seed": place.derived_seed("interactions")}
    if place.family.hamiltonian != "ising":  # nobody knows beforehand that all directions are alike
        parameters["by_vector"] = True
    return [place.task(STEP, parameters, [place.datasets[place.value]])]


def cost(task: Task, inputs: Sequence[Task]) -> Cost:
    return symmetric_cost(200, inputs)


def leave(rows: Rows, result: Reduced) -> None:
    rows.of_input(result)["interactions"] = {**result.values, "file": result.file}


STEP = StudyStep(
    "interactions", version=2, run=run, cost=cost, leave=leave, of_machine=of_machine, reads_large=True
)
