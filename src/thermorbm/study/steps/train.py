"""Trains a machine on the configurations of all its inputs; goes on from a checkpoint if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thermorbm.errors import FileError
from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import ANCHOR, BASE_MEMORY, Cost, Note, Progress, Task
from thermorbm.study.steps.step import FLOPS_PER_SECOND, Rows, StudyStep, data_size, read_dataset, split

if TYPE_CHECKING:
    from thermorbm.dataset import Dataset
    from thermorbm.training import TrainingResult

LABELS = ("value", "group", "role", "as_paper", "union", "sector", "n_hidden", "seed_index")
SETTINGS = ("seed", "recipe", "samples", "proportions", "threads")
SYMMETRIC = ("filters", "kernel", "point_group")


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    checkpoint = store.directory.checkpoint(task.id)
    data, held_out = training_data(task, store)
    try:
        result = _train(task, data, held_out, checkpoint, progress)
    except FileError as error:
        if error.path != checkpoint or not checkpoint.exists():
            raise
        note(f"checkpoint cannot be used ({error.problem}); training from the start")
        checkpoint.unlink()
        result = _train(task, data, held_out, checkpoint, progress)
    if result.verdict.status == "diverged":
        note("training diverged; the last good machine is kept")
    history = {f"history.{name}": column for name, column in result.history.items()}
    return Product(_values(task, data, held_out, result), history, result.rbm)


def _train(
    task: Task, data: Dataset, held_out: Dataset, checkpoint: Path, progress: Progress
) -> TrainingResult:
    from thermorbm.training import Recipe, train

    p = task.parameters
    return train(
        data,
        None if "filters" in p else p["n_hidden"],
        Recipe(**p["recipe"]),
        seed=p["seed"],
        validation=held_out,
        device=p.get("device", "cpu"),
        precision=p["precision"],
        threads=p["threads"],
        checkpoint=checkpoint,
        progress=lambda step: progress(step.update / step.n_updates),
        model="symmetric" if "filters" in p else "dense",
        filters=p.get("filters"),
        kernel=p.get("kernel"),
        point_group=p.get("point_group", False),
    )


def training_data(task: Task, store: Store) -> tuple[Dataset, Dataset]:
    """What to train on and what to hold out, over all inputs; proportions are relative to the largest."""
    p = task.parameters
    proportions = p["proportions"] or [1.0] * len(task.inputs)
    train_parts, held_out_parts = [], []
    for item, proportion in zip(task.inputs, proportions, strict=True):
        train_part, held_out_part = split(read_dataset(store, item))
        n_wanted = min(len(train_part), p["samples"] or len(train_part))
        n_wanted = round(n_wanted * proportion / max(proportions))
        if n_wanted:
            train_parts.append(train_part[:n_wanted])
            held_out_parts.append(held_out_part)
    return _joined(train_parts), _joined(held_out_parts)


def _joined(parts: list[Dataset]) -> Dataset:
    from thermorbm.dataset import Dataset

    return parts[0] if len(parts) == 1 else Dataset.concatenate(parts)


def _values(task: Task, data: Dataset, held_out: Dataset, result: TrainingResult) -> dict[str, Any]:
    history = result.history
    last = {name: float(column[-1]) for name, column in history.items()}
    return {
        "n_hidden": result.rbm.n_hidden,
        "n_visible": result.rbm.n_visible,
        "n_train": len(data),
        "n_held_out": len(held_out),
        "verdict": asdict(result.verdict),
        "last_record": last,
        "precision": task.parameters["precision"],
    }


def cost(task: Task, inputs: Sequence[Task]) -> Cost:
    from thermorbm.training import Recipe

    p, size = task.parameters, data_size(inputs)
    recipe, n_hidden = p["recipe"], p["n_hidden"]
    batch, gpus = recipe["batch_size"], int(p.get("device") == "cuda")
    n_updates = Recipe(**recipe).n_updates(max(1, size.n_samples // batch), n_hidden)
    memory = BASE_MEMORY + 3 * size.packed
    if "filters" in p:
        units = batch * n_hidden
        return Cost(1 + n_updates * (1e-3 + units * 1.4e-8), memory + 64 * units, gpus)
    steps = recipe["gibbs_steps"]
    speed = FLOPS_PER_SECOND * (2 if p["precision"] == "int8" else 1)
    products = 2 * batch * size.n_sites * n_hidden * (3 + 2 * steps) / speed
    draws = batch * (size.n_sites + n_hidden) * steps * 2e-9
    return Cost(1 + n_updates * (5e-4 + products + draws), memory + 40 * size.n_sites * n_hidden, gpus)


def leave(rows: Rows, result: Reduced) -> None:
    """A row of the machines of its family, which tasks that read the machine fill."""
    p, labels = result.task.parameters, result.task.labels
    row = {name: labels.get(name) for name in LABELS}
    row |= {name: p[name] for name in SETTINGS} | {name: p[name] for name in SYMMETRIC if name in p}
    rows.add(result, "machines", {**row, **result.values, "file": result.file, "observations": []})


STEP = StudyStep(
    "train",
    version=4,
    run=run,
    cost=cost,
    leave=leave,
    makes_large=True,
    reads_large=True,
    has_checkpoint=True,
    sharing=ANCHOR,
)
