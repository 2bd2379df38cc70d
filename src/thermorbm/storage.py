"""Files that are whole or absent: atomic writes, and HDF5 with a checksum that is checked before every read.

The checksum stands in HDF5's user block, the first 512 bytes, which other programs skip, and covers all bytes
after it: HDF5 itself would crash the process on some damaged files, so it never gets to see one.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import re
import signal
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import FileError

FORMAT = "thermorbm"
FORMAT_VERSION = 1
HEADER_SIZE = 512
MOST_JSON = 1 << 28  # bytes
HEADER = re.compile(rb"thermorbm (\d{1,9}) ([a-z0-9_-]{1,64}) sha256 ([0-9a-f]{64})\n\0*")


def check_target(path: str | Path, overwrite: bool = True, inputs: Sequence[Path | None] = ()) -> None:
    """Raises FileError unless a file can be put at `path`; call it before long work.

    inputs: files that it is made from, which are not replaced even where others may be.
    """
    target = Path(path)
    if "\0" in str(path):
        raise FileError(repr(str(path)), "is not the name of a file")
    try:
        if not target.parent.is_dir():
            raise FileError(path, f"directory {str(target.parent)!r} does not exist", "create it first")
        if target.is_dir():
            raise FileError(path, "is a directory", "name a file")
        if target.exists() and not target.is_file():
            # Renaming a file onto /dev/null would replace the device.
            raise FileError(path, "is not a regular file", "name a file")
        if target.exists() and not overwrite:
            raise FileError(path, "exists already", "choose another name or use --force")
        given = [file for file in inputs if file is not None and file.exists()]
        if target.exists() and any(target.samefile(file) for file in given):
            raise FileError(path, "is what the output is made from", "choose another name")
    except PermissionError as error:
        raise FileError(path, f"cannot be written: {error.strerror}", "choose another directory") from error
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise FileError(path, "cannot be written: Permission denied", "choose another directory")


def check_readable(path: str | Path) -> None:
    """Raises FileError, with the system's reason, unless `path` is a regular file that can be opened.

    A pipe would be waited for, a device read for ever.
    """
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        if not is_regular:
            raise FileError(path, "is not a regular file", "name a file")
    except FileError:
        raise
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a null byte in the name
        raise FileError(repr(str(path)), "is not the name of a file") from error


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yields a temporary path beside `path`; on success it is flushed and renamed, on failure removed."""
    check_target(path)
    target = Path(os.path.realpath(path))  # a symbolic link stays one: the file it points to is replaced
    with _written(path):
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:200]}.", suffix=".tmp", dir=target.parent)
        os.close(handle)
    temporary = Path(name)
    try:
        with _written(path):
            yield temporary
            _flush(temporary)
            os.chmod(temporary, 0o666 & ~_umask())
            _replace(temporary, target)
            _flush_directory(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _written(path: str | Path) -> Iterator[None]:
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}") from error


def write_hdf5(
    path: str | Path, kind: str, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]
) -> None:
    """Writes named arrays and JSON metadata as one checksummed HDF5 file of the given kind."""
    text = json.dumps(metadata, sort_keys=True, allow_nan=True)
    with atomic_path(path) as temporary, _patient_file(temporary) as raw:
        with _undisturbed(), h5py.File(raw, "w", userblock_size=HEADER_SIZE) as file:
            file.create_dataset("metadata", data=np.frombuffer(text.encode(), dtype=np.uint8))
            group = file.create_group("arrays")
            for name, array in arrays.items():
                group.create_dataset(name, data=array)
        header = f"{FORMAT} {FORMAT_VERSION} {kind} sha256 {_checksum(raw, kind)}\n".encode()
        raw.seek(0)
        raw.write(header.ljust(HEADER_SIZE, b"\0"))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait meanwhile: what a handler raises inside a call from HDF5 comes out as another error."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in (getattr(signal, name) for name in names)}
    handled = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handled:
        signal.signal(number, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)


class _PatientFile(io.FileIO):
    """A file that remembers the first failed write instead of raising it.

    A write that fails inside HDF5, on a full disk, crashes the whole process when the file is closed.
    """

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        try:
            done = 0
            while done < len(view):
                done += super().write(view[done:])
        except OSError as error:
            self.failure = self.failure or error
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.failure = self.failure or error
            return size or 0


@contextmanager
def _patient_file(path: Path) -> Iterator[_PatientFile]:
    with _PatientFile(path, "w+") as file:
        try:
            yield file
        finally:
            if file.failure is not None:
                raise file.failure


def read_hdf5(path: str | Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Reads a file of `write_hdf5`; anything but an unaltered file of that kind raises FileError."""
    with _opened(path, kind) as file:
        arrays = {name: _content(file["arrays"], name) for name in file["arrays"]}
        return arrays, _metadata(file)


def read_metadata(path: str | Path, kind: str) -> dict[str, Any]:
    """As `read_hdf5`, but without the arrays."""
    with _opened(path, kind) as file:
        return _metadata(file)


@contextmanager
def _opened(path: str | Path, kind: str) -> Iterator[h5py.File]:
    actual = read_kind(path)
    if actual != kind:
        raise FileError(path, f"is a {actual} file", f"a {kind} file is wanted")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except Exception as error:  # h5py raises nearly anything on a file that it does not like
        raise FileError(path, "is not laid out like a file of thermorbm", "make it again") from error


def _content(group: h5py.Group, name: str) -> NDArray[Any]:
    """An array that lies in this very file and is no larger than it: a forged one may say otherwise."""
    item = group[name] if isinstance(group.get(name, getlink=True), h5py.HardLink) else None
    if not isinstance(item, h5py.Dataset) or item.is_virtual or item.external:
        raise ValueError(f"{name} does not lie in this file")
    if item.chunks or item.dtype.hasobject:  # which we do not write, and which may unfold to any size
        raise ValueError(f"{name} is not one block of numbers")
    if item.nbytes > os.path.getsize(group.file.filename):  # nothing of ours is compressed
        raise ValueError(f"{name} declares more bytes than the file has")
    return np.asarray(item[...])


def _metadata(file: h5py.File) -> dict[str, Any]:
    metadata = json.loads(_content(file, "metadata").tobytes().decode())
    if not isinstance(metadata, dict):
        raise TypeError("metadata must be a JSON object")
    return metadata


def read_kind(path: str | Path) -> str:
    """The kind of an unaltered file of `write_hdf5`; FileError if it is another file, or damaged."""
    check_readable(path)
    with open(path, "rb") as file:
        header = file.read(HEADER_SIZE)
        parts = HEADER.fullmatch(header)
        if parts is None or len(header) < HEADER_SIZE:
            problem = "is damaged" if is_ours(path) else "is not a file of thermorbm"
            raise FileError(path, problem, "make it again, or import it if it holds spins")
        version, kind, stated = (part.decode() for part in parts.groups())
        if int(version) != FORMAT_VERSION:
            raise FileError(path, f"has format version {version}, this program reads {FORMAT_VERSION}")
        if _checksum(file, kind) != stated:
            raise FileError(path, "checksum does not match: truncated or altered", "make it again")
    return kind


def stated_checksum(path: str | Path) -> str:
    """The checksum in the header of a file of `write_hdf5`, empty if it has none; it is not compared."""
    check_readable(path)
    with open(path, "rb") as file:
        parts = HEADER.fullmatch(file.read(HEADER_SIZE))
    return "" if parts is None else parts[3].decode()


def is_ours(path: str | Path) -> bool:
    """Whether a file says that it was written by `write_hdf5`, damaged or not."""
    with open(path, "rb") as file:
        return file.read(len(FORMAT)) == FORMAT.encode()


def _checksum(file: BinaryIO | io.FileIO, kind: str) -> str:
    """SHA-256 of version, kind and all that follows the header."""
    file.seek(HEADER_SIZE)
    digest = hashlib.sha256(f"{FORMAT} {FORMAT_VERSION} {kind}\n".encode())
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def _replace(temporary: str | Path, target: Path) -> None:
    """Windows does not replace a file that somebody has open; most read for a moment."""
    for pause in (0.01, 0.1, 0.5):
        try:
            os.replace(temporary, target)
            return
        except PermissionError:
            time.sleep(pause)
    os.replace(temporary, target)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)  # Windows flushes no file that is open for reading alone
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_directory(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no directories
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_json(path: Path) -> dict[str, Any]:
    check_readable(path)
    if path.stat().st_size > MOST_JSON:
        raise FileError(path, f"has more than {MOST_JSON >> 20} MB, which no JSON file of ours has")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError(path, "is not valid JSON: truncated or altered") from error
    if not isinstance(content, dict):
        raise FileError(path, "is not a JSON object")
    return content


def write_json(path: Path, content: Mapping[str, Any], indent: int | None = None) -> None:
    """Strict JSON, atomically; NaN and infinity become null."""
    text = json.dumps(finite(content), indent=indent, allow_nan=False)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def create_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes a file that is not there yet, in one step: of several writers the first one wins."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with open(handle, "w") as file:
            file.write(json.dumps(content, allow_nan=False) + "\n")
        _flush(Path(name))
        os.chmod(name, 0o666 & ~_umask())
        _give_name(name, path)
        _flush_directory(path.parent)
    finally:
        Path(name).unlink(missing_ok=True)


def _give_name(temporary: str, target: Path) -> None:
    """The file gets a second name, unless that is taken."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        return
    except PermissionError:  # a file system without hard links; there the last writer wins
        _replace(temporary, target)


def finite(value: Any) -> Any:
    """The same with None for every number that JSON cannot write."""
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes rows of nested values, atomically; lists are left out, inner names are joined by dots."""
    flat = [flatten(row) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    with (
        atomic_path(path) as temporary,
        open(temporary, "w", newline="", encoding="utf-8", errors="replace") as file,
    ):
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(flat)


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """{"a": {"value": 1, "error": 2}, "b": {"c": 3}} -> {"a": 1, "a_error": 2, "b.c": 3}."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            if set(value) == {"value", "error"}:
                flat |= {name: value["value"], f"{name}_error": value["error"]}
            else:
                flat |= flatten(value, f"{name}.")
        elif not isinstance(value, list | tuple):
            flat[name] = value
    return flat
