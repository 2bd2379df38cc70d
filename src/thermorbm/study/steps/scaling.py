"""Finite-size scaling of the configurations of families on lattices of several sides."""

from __future__ import annotations

from collections.abc import Sequence

from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import BASE_MEMORY, LAST, Cost, Note, Progress, Task
from thermorbm.study.steps.step import Rows, StudyStep

REWEIGHTING = 400 << 20  # bytes: histograms of blocks and of their resamplings, of all lattices


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.study.lattices import scaling

    return scaling(task, [store.reduced(item) for item in task.inputs])


def cost(task: Task, inputs: Sequence[Task]) -> Cost:
    return Cost(10.0, BASE_MEMORY + REWEIGHTING)


def leave(rows: Rows, result: Reduced) -> None:
    """One of the study's scalings."""
    rows.scalings.append({"name": result.task.labels["scaling"], **result.values, "file": result.file})


STEP = StudyStep("scaling", version=2, run=run, cost=cost, leave=leave, sharing=LAST)
