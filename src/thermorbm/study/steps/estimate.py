"""Puts the results of many temperatures together: curves, entropies and critical temperatures.

The parameter `what` says of what: "thermodynamics" of the configurations of a family, "indicators" of the
machines of one variant and size, "extrapolation" of families on lattices of several sides.
"""

from __future__ import annotations

from collections.abc import Sequence

from thermorbm.records import as_plain
from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import BASE_MEMORY, LAST, Cost, Note, Progress, Task
from thermorbm.study.steps.step import Rows, StudyStep

REWEIGHTING = 400 * 2**20  # bytes: histograms of blocks and of their resamplings


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.study.estimates import indicators, thermodynamics
    from thermorbm.study.lattices import extrapolation

    results = [store.reduced(item) for item in task.inputs]
    if task.parameters["what"] == "thermodynamics":
        return thermodynamics(task, results)
    if task.parameters["what"] == "extrapolation":
        return Product(as_plain(extrapolation(task, results)))
    return indicators(task, results)


def cost(task: Task, inputs: Sequence[Task]) -> Cost:
    return Cost(5.0 if task.parameters["what"] == "thermodynamics" else 1.0, BASE_MEMORY + REWEIGHTING)


def leave(rows: Rows, result: Reduced) -> None:
    what, labels = result.task.parameters["what"], result.task.labels
    if what == "extrapolation":
        rows.extrapolations.append({**result.values, "name": labels["extrapolation"]})
    elif what == "thermodynamics":
        rows.family(result)["thermodynamics"] = {**result.values, "file": result.file}
    else:
        place = {name: labels.get(name) for name in ("group", "role", "as_paper", "union", "n_hidden")}
        rows.add(result, "indicators", {**place, **result.values, "file": result.file})


STEP = StudyStep("estimate", version=9, run=run, cost=cost, leave=leave, sharing=LAST)
