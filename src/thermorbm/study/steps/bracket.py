"""Brackets the entropy of held-out configurations: S~ <= S <= upper edge, with the likelihood beside them."""

from __future__ import annotations

from collections.abc import Sequence

from thermorbm.records import as_plain
from thermorbm.runner.store import DamagedInput, Product, Reduced, Store
from thermorbm.runner.task import Cost, Note, Progress, Task
from thermorbm.study.steps.step import (
    MachinePlace,
    Rows,
    StudyStep,
    annealing_cost,
    read_dataset,
    read_machine,
    split,
    weights_hash,
)

OF_LN_Z = ("value", "error", "lower", "upper", "method", "verdict", "guide")


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.model import LogPartition
    from thermorbm.reading.entropy import bracket, edges

    machine, held_out = read_machine(store, task.inputs[0]), split(read_dataset(store, task.inputs[1]))[1]
    stored = store.reduced(task.inputs[2])
    if stored.values.get("weights_hash", own := weights_hash(machine)) != own:
        raise DamagedInput(task.inputs[2], "it is ln Z of other weights, of a machine that was trained anew")
    fields = {key: stored.values[key] for key in OF_LN_Z}
    betas, thresholds = (stored.arrays.get(key) for key in ("betas", "thresholds"))
    ln_z = LogPartition(**fields, betas=betas, thresholds=thresholds)
    follows_h = task.parameters["hamiltonian"] != "unknown"
    report = lambda stage, done, total: progress(done / total)  # noqa: E731
    both = edges(machine, held_out, ln_z, task.parameters["seed"], follows_h, report)
    return Product({"bracket": as_plain(bracket(both, held_out)), "n_sites": held_out.n_sites})


def of_machine(place: MachinePlace) -> list[Task]:
    parameters = {"hamiltonian": place.family.hamiltonian}
    return [
        place.task_at(value, STEP, {**parameters, "seed": place.derived_seed("bracket", value)}, [partition])
        for partition in place.made.get("partition", [])
        for value in place.datasets
    ]


def cost(task: Task, inputs: Sequence[Task]) -> Cost:
    """The rungs are those of ln Z, and one way down from the data is enough."""
    annealing = annealing_cost(task, inputs)
    return Cost(0.1 + annealing.seconds / 8, annealing.memory)


def leave(rows: Rows, result: Reduced) -> None:
    rows.observation(result).update(result.values)


STEP = StudyStep(
    "bracket", version=4, run=run, cost=cost, leave=leave, of_machine=of_machine, reads_large=True
)
