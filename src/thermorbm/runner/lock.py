"""One runner per directory: a lock that names its holder, and that a killed runner cannot leave behind."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from filelock import lock_descriptor

from thermorbm.errors import FileError

# A lock of another computer counts as left behind if its holder has not touched it for so long.
SILENCE_SECONDS = 120.0
BEAT_SECONDS = 20.0
PAUSE_SECONDS = 0.1
PATIENCE_SECONDS = 0.3
MOST_LETTERS = 4096


class Lock:
    """A held lock. Call `beat` now and then, so that other computers see that its holder lives."""

    def __init__(self, path: Path) -> None:
        self._path, self._last = path, time.monotonic()

    def beat(self) -> None:
        if time.monotonic() - self._last > BEAT_SECONDS:
            self._last = time.monotonic()
            os.utime(self._path)


@contextmanager
def locked(path: Path, patience: float = PATIENCE_SECONDS) -> Iterator[Lock]:
    """Holds the lock file at `path`; FileError with the owner's pid and host if another runner does.

    patience: seconds to wait for it.

    The system frees the lock of a process that ends, however it ends.
    """
    try:
        with open(path, "a+") as file:
            _acquire(file, path, patience)
            # The mark tells this lock from that of any other run.
            _write(file, {"pid": os.getpid(), "host": socket.gethostname(), "mark": secrets.token_hex(8)})
            try:
                yield Lock(path)
            finally:
                _write(file, None)
    except PermissionError as error:
        raise FileError(path, f"cannot be written: {error.strerror}", "choose another directory") from error


def owner(path: Path) -> dict[str, Any] | None:
    """The process that holds the lock, {"pid": ..., "host": ...}; None if none does."""
    try:
        with open(path, "r+") as file:
            holder = _read(file)
            return holder if holder and _is_held(file, path, holder) else None
    except OSError:
        return None


def _acquire(file: IO[str], path: Path, patience: float) -> None:
    end = time.monotonic() + patience
    while _is_held(file, path, holder := _read(file)):
        if time.monotonic() > end:
            who = f"pid {holder['pid']} on {holder['host']}" if holder else "another process"
            remedy = f"wait for it or stop it; if it is gone for certain, remove {path}"
            raise FileError(path.parent, f"is in use by another runner, {who}", remedy)
        time.sleep(PAUSE_SECONDS)  # another process may hold it for a moment, to see whose it is


def _is_held(file: IO[str], path: Path, holder: dict[str, Any] | None) -> bool:
    """Whether another process holds it; if not, this one does from now on, until the file is closed."""
    try:
        if not lock_descriptor(file.fileno(), blocking=False):
            return True
    except OSError:  # a file system without locks: the pid has to tell
        if holder and holder["host"] == socket.gethostname():
            return _is_alive(holder["pid"])
    if holder is None or holder["host"] == socket.gethostname():
        return False
    return abs(_age(path)) < SILENCE_SECONDS  # a lock of the future: the clock was set back since


def _age(path: Path) -> float:
    """Seconds since the lock was touched, by the clock of the file system."""
    probe = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    probe.touch()
    try:
        return probe.stat().st_mtime - path.stat().st_mtime
    finally:
        probe.unlink()


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":  # where asking this way would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _read(file: IO[str]) -> dict[str, Any] | None:
    try:
        stored = json.loads(_text(file))
        pid = int(stored["pid"])
        return {"pid": pid, "host": str(stored["host"])} if 0 < pid < 1 << 31 else None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None  # empty: the lock is free; cut off: its writer died


def _text(file: IO[str]) -> str:
    """Its content; on Windows nobody else may read the first byte of a locked file, which is a blank."""
    file.seek(0)
    try:
        return file.read(MOST_LETTERS)
    except PermissionError:
        file.seek(1)
        return file.read(MOST_LETTERS)


def _write(file: IO[str], content: dict[str, Any] | None) -> None:
    file.seek(0)
    file.truncate()
    if content is not None:
        file.write(" " + json.dumps(content))
    file.flush()
