"""Saving a run so that it goes on as if it had not stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import FileError
from thermorbm.storage import read_hdf5, write_hdf5
from thermorbm.training.monitor import History
from thermorbm.training.trainer import Arrays, Training

_ROWS_PER_BLOCK = 1 << 14
KIND = "checkpoint"


def data_hash(data: Dataset) -> str:
    """SHA-256 of the packed configurations, in order."""
    digest = hashlib.sha256()
    for packed in _packed_blocks(data):
        digest.update(packed.data)
    return digest.hexdigest()


def describe(data: Dataset) -> dict[str, Any]:
    """Number, lattice shape, temperature, <|m|> and certificate of the data, each None if unknown."""
    return {
        "n_samples": len(data),
        "shape": list(data.lattice.shape) if data.lattice else None,
        "temperature": data.temperature,
        "mean_abs_magnetization": mean_abs_magnetization(data),
        "certified": data.certificate.passed if data.certificate else None,
    }


def mean_abs_magnetization(data: Dataset) -> float:
    """<|m|> per spin over all configurations, counted from the packed bits."""
    total = 0.0
    for packed in _packed_blocks(data):
        n_up = np.bitwise_count(packed).sum(axis=1, dtype=np.int64)
        total += float(np.abs(2 * n_up - data.n_sites).sum()) / data.n_sites
    return total / len(data)


def _packed_blocks(data: Dataset) -> Iterator[NDArray[np.uint8]]:
    """(at most _ROWS_PER_BLOCK, n_bytes) contiguous rows at a time; slices of a dataset may have strides."""
    for start in range(0, len(data), _ROWS_PER_BLOCK):
        yield np.ascontiguousarray(data.packed[start : start + _ROWS_PER_BLOCK])


def fingerprint(data: Dataset, validation: Dataset | None, trainer: Training, seed: int) -> dict[str, Any]:
    """What determines a run and its history: a checkpoint of any other run must not be continued."""
    return {
        "n_sites": data.n_sites,
        "shape": list(data.lattice.shape) if data.lattice else None,
        **trainer.design.identity(),
        "recipe": trainer.recipe.to_dict(),
        "seed": seed,
        **trainer.place(),
        "threads": torch.get_num_threads(),  # sums of parts differ in their last bits
        "data": data_hash(data),
        "validation": data_hash(validation) if validation else None,
    }


def save(path: str | Path, run: dict[str, Any], state: Arrays, history: History) -> None:
    columns = {f"history.{name}": values for name, values in history.items()}
    write_hdf5(path, KIND, {**state, **columns}, {"run": run, "history": list(history)})


def load(
    path: str | Path, run: dict[str, Any], state: Arrays, columns: Sequence[str]
) -> tuple[Arrays, History]:
    """State and history; FileError if the file belongs to another run, and it says how they differ.

    state: of the run at its beginning. columns: of its history. What is loaded is laid out like both.
    """
    arrays, metadata = read_hdf5(path, KIND)
    saved = metadata.get("run")
    for difference in _differences(saved if isinstance(saved, Mapping) else {}, run):
        problem = f"is a checkpoint of another run: its {difference}"
        raise FileError(path, problem, "name another checkpoint file")
    history = {name: arrays.pop(f"history.{name}") for name in columns if f"history.{name}" in arrays}
    problem = _misfit(arrays, state) or _bad_history(history, columns)
    if problem:
        raise FileError(path, f"is not laid out like a checkpoint of this run: {problem}", "remove it")
    return arrays, history


def _misfit(arrays: Arrays, state: Arrays) -> str:
    """How the arrays differ in names, shapes and types from those of the run; empty if they do not.

    NumPy and torch would stretch an array of another shape, and nobody would notice.
    """
    if arrays.keys() != state.keys():
        return f"it has the arrays {', '.join(sorted(arrays)):.80}"
    for name, array in arrays.items():
        wanted = state[name]
        if array.shape != wanted.shape or array.dtype != wanted.dtype:
            return f"{name} is {array.dtype} {array.shape}, not {wanted.dtype} {wanted.shape}"
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            return f"{name} is not finite"
    return ""


def _bad_history(history: History, columns: Sequence[str]) -> str:
    if history and list(history) != list(columns):
        return "columns of its history are missing"
    lengths = {column.shape for column in history.values()}
    if len(lengths) > 1 or any(len(shape) != 1 or shape == (0,) for shape in lengths):
        return "columns of its history have different lengths"
    if any(column.dtype != np.float64 for column in history.values()):
        return "its history does not hold numbers of double precision"
    return ""


def _differences(saved: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """Where two runs differ, in words."""
    for name, value in wanted.items():
        stored = saved.get(name)
        if isinstance(value, Mapping) and isinstance(stored, Mapping):
            yield from (f"{name}'s {difference}" for difference in _differences(stored, value))
        elif stored != value and name in ("data", "validation"):
            yield f"{name} differ"
        elif stored != value:
            yield f"{name} is {stored!r}, not {value!r}"
