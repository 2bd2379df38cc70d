"""The steps of studies: one file per kind of task, with its name, version, cost, work and row in the results.

To add one, write its file and name it here. The order is that in which the tasks of a machine are planned.
Modules load nothing heavy: `run` imports what it needs, in the worker process that does the task.
"""

from __future__ import annotations

from collections.abc import Mapping

from thermorbm.runner.task import Cost, Task
from thermorbm.study.steps import (
    bracket,
    energies,
    estimate,
    import_,
    interactions,
    ladder,
    measure,
    observe,
    partition,
    sample,
    scaling,
    train,
    weights,
)
from thermorbm.study.steps.step import StudyStep

_MODULES = (
    ladder,
    sample,
    import_,
    measure,
    energies,
    train,
    weights,
    observe,
    interactions,
    partition,
    bracket,
    estimate,
    scaling,
)
STEPS: dict[str, StudyStep] = {module.STEP.name: module.STEP for module in _MODULES}


def estimate_costs(tasks: Mapping[str, Task]) -> dict[str, Cost]:
    """The cost of every task, by id."""
    return {task_id: STEPS[task.kind].cost(task, _read_by(task, tasks)) for task_id, task in tasks.items()}


def _read_by(task: Task, tasks: Mapping[str, Task]) -> list[Task]:
    """Its inputs; for a task that reads a machine alone also a dataset it learnt from, which has its size."""
    inputs = [tasks[item] for item in task.inputs]
    return inputs + [tasks[item] for item in inputs[0].inputs[:1]] if len(inputs) == 1 else inputs
