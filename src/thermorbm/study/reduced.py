"""Reduced results: what a task found, in kilobytes, enough for every table and figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import FileError
from thermorbm.storage import read_hdf5, read_kind, read_metadata, write_hdf5
from thermorbm.study.tasks import Task

KIND = "reduced"


@dataclass(frozen=True, eq=False)
class Reduced:
    """values: numbers and texts as JSON can hold them, an estimate as {"value": x, "error": e}. arrays: what
    figures need. timing: seconds and the like, which differ between equal runs.
    """

    task: Task
    values: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    timing: Mapping[str, Any] = field(default_factory=dict)


def write_reduced(path: Path, result: Reduced) -> None:
    metadata = {"task": result.task.to_dict(), "values": plain(result.values), "timing": plain(result.timing)}
    write_hdf5(path, KIND, result.arrays, metadata)


def read_reduced(path: Path) -> Reduced:
    """Reads a file of `write_reduced`; FileError if it is absent, damaged or something else."""
    arrays, metadata = read_hdf5(path, KIND)
    return _made(path, metadata, arrays)


def read_values(path: Path) -> Reduced:
    """The same without arrays."""
    return _made(path, read_metadata(path, KIND), {})


def _made(path: Path, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Reduced:
    try:
        task = Task.from_dict(metadata["task"])
        return Reduced(task, dict(metadata["values"]), arrays, dict(metadata["timing"]))
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(path, f"is not a valid reduced result: {error}", "make it again") from error


def check_reduced(path: Path) -> None:
    """Raises FileError unless the file is an unaltered reduced result; reads no more than its bytes."""
    found = read_kind(path)
    if found != KIND:
        raise FileError(path, f"is a {found} file", f"a {KIND} file is wanted")


def plain(value: Any) -> Any:
    """The same made of dicts, lists, numbers and texts: NumPy scalars, arrays and tuples are converted."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
