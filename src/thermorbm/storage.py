"""Files that are whole or absent: atomic writes, and HDF5 with a checksum that is checked on every read."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import FileError

FORMAT = "thermorbm"
FORMAT_VERSION = 1


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yields a temporary path beside `path`; on success it is flushed and renamed, on failure removed."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileError(target, f"directory {str(target.parent)!r} does not exist", "create it first")
    if target.is_dir():
        raise FileError(target, "is a directory", "name a file")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise FileError(target, f"cannot be written: {error.strerror or error}") from error
    temporary = Path(name)
    try:
        yield temporary
        _flush(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        _flush(target.parent)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(target, f"cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_hdf5(
    path: str | Path, kind: str, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]
) -> None:
    """Writes named arrays and JSON metadata as one checksummed HDF5 file of the given kind."""
    text = json.dumps(metadata, sort_keys=True, allow_nan=True)
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as file:
        file.attrs["format"] = FORMAT
        file.attrs["version"] = FORMAT_VERSION
        file.attrs["kind"] = kind
        file.attrs["sha256"] = _checksum(kind, text, arrays)
        file.create_dataset("metadata", data=np.frombuffer(text.encode(), dtype=np.uint8))
        for name, array in arrays.items():
            file.create_dataset(f"arrays/{name}", data=array)


def read_hdf5(path: str | Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Reads a file of `write_hdf5`; anything but an unaltered file of that kind raises FileError."""
    path = Path(path)
    if not path.is_file():
        raise FileError(path, "no such file")
    try:
        with h5py.File(path, "r") as file:
            found = _string(file.attrs["kind"]) if _string(file.attrs.get("format")) == FORMAT else None
            version = file.attrs.get("version")
            if found is not None and version != FORMAT_VERSION:
                raise FileError(path, f"has format version {version}, this program reads {FORMAT_VERSION}")
            if found != kind:
                raise FileError(path, f"is a {found or 'foreign'} file", f"a {kind} file is wanted")
            stated = _string(file.attrs["sha256"])
            text = _stored(file["metadata"]).tobytes().decode()
            arrays = {name: _stored(item) for name, item in file["arrays"].items()}
        if _checksum(kind, text, arrays) != stated:
            raise FileError(path, "checksum does not match: the file was altered", "make it again")
        return arrays, json.loads(text)
    except FileError:
        raise
    except Exception as error:  # h5py raises nearly anything on a damaged file
        raise FileError(path, "is damaged or not an HDF5 file of thermorbm", "make it again") from error


def _stored(item: h5py.Dataset) -> NDArray[Any]:
    # A damaged header may claim any size; we write plain contiguous data, so claimed bytes are stored bytes.
    if item.id.get_storage_size() != item.nbytes:
        raise ValueError("claimed and stored sizes differ")
    return np.asarray(item[...])


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _checksum(kind: str, text: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(f"{kind}\n{text}\n".encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
