"""The task that trains a machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from thermorbm.dataset import Dataset
from thermorbm.errors import FileError
from thermorbm.study.store import Product, Store
from thermorbm.study.tasks import Task
from thermorbm.study.work import Note, Progress
from thermorbm.study.work_data import split
from thermorbm.training import Recipe, TrainingResult
from thermorbm.training import train as train_machine


def train(task: Task, store: Store, checkpoint: Path, progress: Progress, note: Note) -> Product:
    """Trains on the inputs' configurations together; goes on from the checkpoint if there is one."""
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
    p = task.parameters
    return train_machine(
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
        train_part, held_out_part = split(store.dataset(item))
        n_wanted = min(len(train_part), p["samples"] or len(train_part))
        n_wanted = round(n_wanted * proportion / max(proportions))
        if n_wanted:
            train_parts.append(train_part[:n_wanted])
            held_out_parts.append(held_out_part)
    return _joined(train_parts), _joined(held_out_parts)


def _joined(parts: list[Dataset]) -> Dataset:
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
