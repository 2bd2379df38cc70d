"""Users' own configurations: which values of the control parameter they hold, and reading them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset, import_spins
from thermorbm.errors import FileError, InputError
from thermorbm.foreign import check_expansion
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.spinfiles import stored_arrays
from thermorbm.storage import check_readable, is_ours
from thermorbm.study.spec import DataFile, Family

MOST_VALUES = 1000


@dataclass(frozen=True)
class Piece:
    """One file, or the rows of it that belong to one value. sha256: of the whole file when it was planned."""

    path: Path
    sha256: str
    array: str | None
    parameter_array: str | None


@dataclass(frozen=True)
class Source:
    """All configurations at one value of the control parameter."""

    value: float
    pieces: tuple[Piece, ...]


def find_sources(family: Family) -> tuple[Source, ...]:
    """The family's users' data by value, lowest first; entries with equal values are joined in order."""
    pieces: dict[float, list[Piece]] = {}
    for entry in family.data:
        for path in entry.files:
            check_readable(path)
            piece = Piece(path, _file_hash(path), entry.array, entry.parameter_array)
            for value in _values(entry, path):
                pieces.setdefault(value, []).append(piece)
    if len(pieces) > MOST_VALUES:
        raise InputError("data", f"{len(pieces)} distinct values", f"at most {MOST_VALUES}", "bin them first")
    return tuple(Source(value, tuple(pieces[value])) for value in sorted(pieces))


def read_source(
    pieces: Sequence[Piece], value: float, lattice: Lattice | None, hamiltonian: Hamiltonian | None = None
) -> Dataset:
    """The configurations at that value, in the order of the files; a file that has changed is refused."""
    parts = [_read_piece(piece, value, lattice, hamiltonian) for piece in pieces]
    return parts[0] if len(parts) == 1 else Dataset.concatenate(parts)


def _read_piece(
    piece: Piece, value: float, lattice: Lattice | None, hamiltonian: Hamiltonian | None
) -> Dataset:
    check_readable(piece.path)
    if _file_hash(piece.path) != piece.sha256:
        raise FileError(piece.path, "has changed since the study was planned", "run the study again")
    if is_ours(piece.path):
        data = Dataset.load(piece.path)
        if lattice is not None and data.lattice != lattice:
            raise FileError(piece.path, f"has the lattice {data.lattice}, the study says {lattice}")
        return Dataset(data.packed, data.lattice, n_sites=data.n_sites)
    data = import_spins([piece.path], lattice, None, array=piece.array, hamiltonian=hamiltonian)
    if piece.parameter_array is None:
        return data
    values = parameter_values(piece.path, piece.parameter_array)
    if len(values) != len(data):
        problem = f"{piece.parameter_array!r} holds {len(values)} values for {len(data)} configurations"
        raise FileError(piece.path, problem)
    return data.select(values == value)


def _values(entry: DataFile, path: Path) -> Iterator[float]:
    if entry.parameter_array is not None:
        yield from np.unique(parameter_values(path, entry.parameter_array)).tolist()
    elif entry.value is not None:
        yield entry.value
    else:
        yield _stated_temperature(path)


def _stated_temperature(path: Path) -> float:
    temperature = Dataset.load(path).temperature if is_ours(path) else None
    if temperature is None:
        raise FileError(path, "does not say its temperature", "give temperature, value or parameter_array")
    return temperature


def parameter_values(path: Path, name: str) -> NDArray[np.float64]:
    """The one-dimensional array of that name in a npz or HDF5 file, one finite number per configuration."""
    try:
        values = np.asarray(_named_array(path, name), dtype=np.float64)
    except FileError:
        raise
    except Exception as error:  # readers of damaged files raise nearly anything
        raise FileError(path, f"{name!r} cannot be read as numbers: {error}") from error
    if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values)):
        problem = (
            f"{name!r} must be a list of finite numbers, one per configuration, got shape {values.shape}"
        )
        raise FileError(path, problem)
    return values


def _named_array(path: Path, name: str) -> NDArray[Any]:
    with stored_arrays(path) as arrays:
        if name not in arrays:
            raise FileError(path, f"holds no array {name!r}")
        check_expansion(path, arrays[name])
        return np.asarray(arrays[name][:])


def _file_hash(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
