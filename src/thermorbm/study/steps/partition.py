"""Computes ln Z of a machine, total in nats, with what speaks against it; its rungs as an array."""

from __future__ import annotations

from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import Note, Progress, Task
from thermorbm.study.steps.step import (
    MachinePlace,
    Rows,
    StudyStep,
    annealing_cost,
    read_machine,
    weights_hash,
)


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.reading.entropy import log_partition

    machine = read_machine(store, task.inputs[0])
    report = lambda stage, done, total: progress(done / total)  # noqa: E731
    ln_z = log_partition(machine, task.parameters["seed"], progress=report)
    arrays = {"betas": ln_z.betas, "thresholds": ln_z.thresholds}
    values = ln_z.to_dict() | {"weights_hash": weights_hash(machine)}
    return Product(values, {key: array for key, array in arrays.items() if array is not None})


def of_machine(place: MachinePlace) -> list[Task]:
    if not place.has("bracket"):
        return []
    return [place.task(STEP, {"seed": place.derived_seed("partition")})]


def leave(rows: Rows, result: Reduced) -> None:
    rows.of_input(result)["partition"] = dict(result.values)


STEP = StudyStep(
    "partition", version=3, run=run, cost=annealing_cost, leave=leave, of_machine=of_machine, reads_large=True
)
