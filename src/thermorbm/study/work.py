"""What each kind of task does: results of its inputs in, a product out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from thermorbm.study.store import Product, Store
from thermorbm.study.tasks import Task

Progress = Callable[[float], None]
Note = Callable[[str], None]


def perform(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    """Does a task. progress gets the fraction done now and then; note gets lines for the user."""
    # Torch, numba and scipy take seconds to load: each kind loads what it needs.
    if task.kind in ("sample", "import", "energies", "measure"):
        from thermorbm.study import work_data

        if task.kind == "sample":
            return work_data.sample(task, progress)
        if task.kind == "import":
            return work_data.import_(task)
        if task.kind == "energies":
            return work_data.energies(task, progress)
        return work_data.measure(task, store)
    if task.kind == "train":
        from thermorbm.study import work_train

        return work_train.train(task, store, _scratch(task, store), progress, note)
    if task.kind in ("weights", "observe"):
        from thermorbm.study import work_machine

        return (
            work_machine.weights(task, store) if task.kind == "weights" else work_machine.observe(task, store)
        )
    if task.kind == "interactions":
        from thermorbm.study import work_symmetric

        return work_symmetric.interactions(task, store)
    if task.kind in ("partition", "bracket"):
        from thermorbm.study import work_bracket

        made = work_bracket.partition if task.kind == "partition" else work_bracket.bracket
        return made(task, store, progress)
    from thermorbm.study import work_estimate

    return work_estimate.estimate(task, store)


def _scratch(task: Task, store: Store) -> Path:
    """Where a long task may keep what it needs to go on after a stop."""
    return store.directory.checkpoint(task.id)
