"""Reads what a dense machine makes of the configurations of one dataset, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thermorbm.records import as_plain
from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import BASE_MEMORY, Cost, Note, Progress, Task
from thermorbm.study.quantities import measured_names, measured_values
from thermorbm.study.results import Observation
from thermorbm.study.steps.step import (
    FLOPS_PER_SECOND,
    MachinePlace,
    Rows,
    StudyStep,
    data_size,
    read_dataset,
    read_machine,
    split,
)

PARTS = ("likelihood", "visible-energy", "hidden", "generation", "quality")
OF_ONE_TEMPERATURE = ("generation", "quality")  # a machine for all temperatures does not know which one


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.reading import machine as reading
    from thermorbm.reading.generation import generation
    from thermorbm.study.critical import union_arrays

    machine, data = read_machine(store, task.inputs[0]), read_dataset(store, task.inputs[1])
    (train, held_out), seed = split(data), task.parameters["seed"]
    values: dict[str, Any] = {"n_sites": data.n_sites, "n_hidden": machine.n_hidden}
    arrays: dict[str, Any] = {}
    for part in task.parameters["parts"]:
        if part == "likelihood":
            values[part] = reading.likelihood(machine, train, held_out, seed)
        elif part == "visible-energy":
            values["visible_energy"], more = reading.visible_energy(machine, train, held_out)
            arrays |= more
        elif part == "hidden":
            values[part], more = reading.hidden(machine, data, seed)
            arrays |= more
        elif part == "generation":
            values[part], more = generation(machine, data, task.parameters["steps"], seed)
            arrays |= more
        else:
            values[part] = reading.quality(machine, train, seed)
    if task.labels.get("union") and data.temperature is not None:
        arrays |= union_arrays(machine, held_out, task.parameters["parts"])
    values["measured"] = measured_values(Observation, task.parameters, machine, held_out, seed)
    return Product(as_plain(values), arrays)


def of_machine(place: MachinePlace) -> list[Task]:
    parts = [part for part in PARTS if place.has(part)]
    if place.value is None:
        parts = [part for part in parts if part not in OF_ONE_TEMPERATURE]
    if place.n_filters or not parts:
        return []
    parameters = {"parts": parts, "steps": place.turns, **measured_names(Observation)}
    return [
        place.task_at(value, STEP, {**parameters, "seed": place.derived_seed("observe", value)})
        for value in place.datasets
    ]


def cost(task: Task, inputs: Sequence[Task]) -> Cost:
    size, n_hidden = data_size(inputs), inputs[0].parameters["n_hidden"]
    spins = size.n_samples * size.n_sites * 6e-9
    products = 12 * size.n_samples * size.n_sites * n_hidden / FLOPS_PER_SECOND
    conditionals = 5000 * size.n_sites * n_hidden * 2.5e-10  # every spin of 5000 configurations flipped
    memory = BASE_MEMORY + 2 * size.packed + 16 * size.n_sites * n_hidden
    return Cost(0.5 + spins + products + conditionals, memory)


def leave(rows: Rows, result: Reduced) -> None:
    rows.observation(result).update(result.values, file=result.file)


STEP = StudyStep(
    "observe", version=4, run=run, cost=cost, leave=leave, of_machine=of_machine, reads_large=True
)
