"""Saving a run so that it goes on as if it had not stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from thermorbm.dataset import Dataset
from thermorbm.errors import FileError
from thermorbm.storage import read_hdf5, write_hdf5
from thermorbm.training.monitor import History
from thermorbm.training.origin import data_hash
from thermorbm.training.trainer import Arrays, Trainer

KIND = "checkpoint"


def fingerprint(data: Dataset, validation: Dataset | None, trainer: Trainer, seed: int) -> dict[str, Any]:
    """What determines a run and its history: a checkpoint of any other run must not be continued."""
    return {
        "n_sites": data.n_sites,
        "shape": list(data.lattice.shape) if data.lattice else None,
        **trainer.design.identity(),
        "recipe": trainer.recipe.to_dict(),
        "seed": seed,
        "device": trainer.layers.device.type,
        "precision": str(trainer.layers.dtype).removeprefix("torch."),
        "data": data_hash(data),
        "validation": data_hash(validation) if validation else None,
    }


def save(path: str | Path, run: dict[str, Any], state: Arrays, history: History) -> None:
    columns = {f"history.{name}": values for name, values in history.items()}
    write_hdf5(path, KIND, {**state, **columns}, {"run": run, "history": list(history)})


def load(path: str | Path, run: dict[str, Any]) -> tuple[Arrays, History]:
    """State and history; FileError if the file belongs to another run, and it says how they differ."""
    arrays, metadata = read_hdf5(path, KIND)
    for difference in _differences(metadata.get("run", {}), run):
        problem = f"is a checkpoint of another run: its {difference}"
        raise FileError(path, problem, "name another checkpoint file")
    history = {name: arrays.pop(f"history.{name}") for name in metadata["history"]}
    return arrays, history


def _differences(saved: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """Where two runs differ, in words."""
    for name, value in wanted.items():
        found = saved.get(name)
        if isinstance(value, Mapping) and isinstance(found, Mapping):
            yield from (f"{name}'s {difference}" for difference in _differences(found, value))
        elif found != value and name in ("data", "validation"):
            yield f"{name} differ"
        elif found != value:
            yield f"{name} is {found!r}, not {value!r}"
