"""Saving a run so that it goes on as if it had not stopped."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from thermorbm.dataset import Dataset
from thermorbm.errors import FileError
from thermorbm.storage import read_hdf5, write_hdf5
from thermorbm.training.monitor import History
from thermorbm.training.trainer import Arrays, Trainer

KIND = "checkpoint"


def fingerprint(data: Dataset, trainer: Trainer, seed: int) -> dict[str, Any]:
    """What determines a run: a checkpoint of any other run must not be continued."""
    return {
        "data": hashlib.sha256(data.packed.data).hexdigest(),
        "n_sites": data.n_sites,
        "n_hidden": trainer.n_hidden,
        "recipe": trainer.recipe.to_dict(),
        "seed": seed,
        "device": trainer.layers.device.type,
        "precision": str(trainer.layers.dtype).removeprefix("torch."),
    }


def save(path: str | Path, run: dict[str, Any], state: Arrays, history: History) -> None:
    columns = {f"history.{name}": values for name, values in history.items()}
    write_hdf5(path, KIND, {**state, **columns}, {"run": run})


def load(path: str | Path, run: dict[str, Any]) -> tuple[Arrays, History]:
    """State and history; FileError if the file belongs to another run, and it says how they differ."""
    arrays, metadata = read_hdf5(path, KIND)
    saved = metadata.get("run", {})
    for name, value in run.items():
        if saved.get(name) != value:
            raise FileError(
                path, f"is a checkpoint of another run: its {name} differs", "name another checkpoint file"
            )
    columns = {name: array for name, array in arrays.items() if name.startswith("history.")}
    state = {name: array for name, array in arrays.items() if name not in columns}
    return state, {name.removeprefix("history."): array for name, array in columns.items()}
