"""Users' HDF5 files, read by a process of its own.

The HDF5 library may crash, or never come back, on a damaged file. Files of ours carry a checksum that is
checked before the library sees them; other people's do not. So a child process opens them and sends names,
shapes and rows through a pipe; if it dies, the file is refused in one line.

Each request is a line of JSON, each answer a line of JSON that says how many raw bytes follow.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from thermorbm.child import Child
from thermorbm.errors import FileError

SIGNATURE = b"\x89HDF\r\n\x1a\n"
PATIENCE_SECONDS = 120.0
MOST_MEMORY = 8 << 30  # bytes
MOST_CHUNK = 1 << 28  # bytes: of a chunk all is unfolded, however few rows of it are there
MOST_DEPTH = 64  # groups in each other
LONGEST_WORD = 80
NUMBERS = "biuf"  # kinds of NumPy types that are sent; any other is only named
# Arrays up to so many bytes are read in any case, larger ones if they are at most so many times their file.
ALWAYS_READ, MOST_EXPANSION = 1 << 28, 200
# Filters may unfold one chunk to gigabytes and keep a few bytes of it: so much work is done for any file, and
# for a large one as much as decompressing MOST_EXPANSION times its size takes at BYTES_PER_SECOND.
LEAST_CPU_SECONDS, BYTES_PER_SECOND = 60, 100e6


class Declared(Protocol):
    """What a file says of an array before anything of it is read."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...


def check_expansion(path: str | Path, array: Declared) -> None:
    """FileError if an array has far more bytes than the file that declares it."""
    n_bytes, n_stored = math.prod(array.shape) * array.dtype.itemsize, os.path.getsize(path)
    if n_bytes > max(ALWAYS_READ, MOST_EXPANSION * n_stored):
        problem = f"declares an array of {n_bytes / 1e6:.0f} MB in a file of {n_stored / 1e6:.3g} MB"
        limit = f"at most {MOST_EXPANSION} times its size is read; save it without compression"
        raise FileError(path, problem, limit)


def is_hdf5(path: str | Path) -> bool:
    """Whether a file bears the signature of HDF5, at its beginning or after a user block."""
    with open(path, "rb") as file:
        size, place = os.fstat(file.fileno()).st_size, 0
        while place + len(SIGNATURE) <= size:
            file.seek(place)
            if file.read(len(SIGNATURE)) == SIGNATURE:
                return True
            place = max(512, 2 * place)
    return False


@dataclass(frozen=True)
class ForeignArray:
    """An array in the file that a reader has open; rows are read when they are asked for."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    name: str
    reader: Reader

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        start, stop, _ = rows.indices(self.shape[0])
        answer, content = self.reader.ask({"read": self.name, "rows": [start, stop]})
        return np.frombuffer(content, self.dtype).reshape(answer["shape"])

    @property
    def word(self) -> str:
        """The beginning of what is no array, but a text."""
        answer, _ = self.reader.ask({"word": self.name})
        return str(answer["word"])


@contextmanager
def foreign_arrays(path: str | Path) -> Iterator[dict[str, ForeignArray]]:
    """All arrays of a HDF5 file by name, while the context lasts; FileError if it cannot be read."""
    reader = Reader.idle() or Reader()
    try:
        seconds = LEAST_CPU_SECONDS + int(os.path.getsize(path) * MOST_EXPANSION / BYTES_PER_SECOND)
        answer, _ = reader.ask({"open": str(Path(path).resolve()), "seconds": seconds}, path)
        yield {
            name: ForeignArray(tuple(shape), np.dtype(kind), name, reader)
            for name, (shape, kind) in answer["arrays"].items()
        }
    finally:
        reader.release()


class Reader:
    """The parent's end of a child process, which is used again for the next file."""

    _idle: Reader | None = None

    def __init__(self) -> None:
        self._child = Child("thermorbm.foreign", quiet=True)
        self._path: str | Path = ""
        self._parent, self._is_over = os.getpid(), False

    @classmethod
    def idle(cls) -> Reader | None:
        """The reader that waits for work, now no longer; None if there is none of this process."""
        reader, cls._idle = cls._idle, None
        return reader if reader and reader._parent == os.getpid() else None

    def release(self) -> None:
        """Closes the file and waits for another."""
        if not self._is_over:
            self.ask({"close": True})
        if not self._is_over:
            other, Reader._idle = Reader.idle(), self
            if other is not None:
                other.end()

    def ask(self, request: dict[str, Any], path: str | Path | None = None) -> tuple[dict[str, Any], bytes]:
        """The child's answer and the bytes that follow it."""
        self._path = self._path if path is None else path
        stdout = self._child.output
        alarm = threading.Timer(PATIENCE_SECONDS, self._child.kill)  # which ends the answer, too
        try:
            alarm.start()
            self._child.send(request)
            answer = json.loads(stdout.readline())
            content = stdout.read(answer.get("size", 0))
        except (OSError, ValueError) as error:
            self.end()
            problem = "the HDF5 library does not come back from it"
            raise FileError(self._path, f"cannot be read as HDF5: {problem}", "make it again") from error
        except BaseException:  # an interruption: its answer would be taken for that to the next request
            self.end()
            raise
        finally:
            alarm.cancel()
        if answer.get("is_over"):  # whether the child had taken the request is not known
            self.end()
        if "error" in answer:
            raise FileError(self._path, f"cannot be read as HDF5: {answer['error']}")
        return answer, content

    def end(self) -> None:
        self._is_over = True
        self._child.kill()
        self._child.process.wait()
        self._child.close()


@atexit.register
def _end_idle() -> None:
    reader = Reader.idle()
    if reader is not None:
        reader.end()


def main() -> None:
    """The child: a process of its own for every file, so that no file suffers from the one before.

    Where a process cannot divide itself, as on Windows, it ends after the first file.
    """
    import h5py  # noqa: F401  # once for all

    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for line in iter(sys.stdin.buffer.readline, b""):
        if not hasattr(os, "fork"):
            _serve(line, {"is_over": True})
            return
        process = os.fork()
        if process == 0:
            _serve(line)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if code:
            _reply({"error": _death(code), "is_over": True})
            return


def _death(code: int) -> str:
    """Why a process with that exit code gave no answer."""
    if code < 0 and signal.Signals(-code).name == "SIGXCPU":
        return "it takes far more time than a file of its size should; save it without compression"
    return f"the library crashed on it ({signal.Signals(-code).name if code < 0 else f'code {code}'})"


def _serve(line: bytes, at_end: Mapping[str, Any] | None = None) -> None:
    """Answers requests for one file until it is closed. at_end: the last answer."""
    import h5py

    file: Any = None
    while line:
        request, content = json.loads(line), b""
        answer: dict[str, Any] = {}
        try:
            if "open" in request:
                _limit_time(request["seconds"])
                file = h5py.File(request["open"], "r")
                answer = {"arrays": _listed(file)}
            elif "read" in request:
                rows = np.ascontiguousarray(file[request["read"]][slice(*request["rows"])])
                content = rows.tobytes()
                answer = {"shape": rows.shape, "size": len(content)}
            elif "word" in request:
                answer = {"word": file[request["word"]].asstr()[()][:LONGEST_WORD]}
        except Exception as error:  # h5py raises nearly anything on a damaged file
            answer = {"error": " ".join(str(error).split()) or type(error).__name__}
        if "close" in request:
            _reply(at_end or {})
            return
        _reply(answer, content)
        line = sys.stdin.buffer.readline()


def _limit_time(seconds: int) -> None:
    """Ends this process by a signal after so much work."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def _reply(answer: Mapping[str, Any], content: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps(dict(answer)).encode() + b"\n" + content)
    sys.stdout.buffer.flush()


def _listed(file: Any) -> dict[str, tuple[tuple[int, ...], str]]:
    """Name -> shape and type; types that are not numbers as "O"."""
    import h5py

    arrays: dict[str, tuple[tuple[int, ...], str]] = {}

    def keep(name: str, item: object) -> None:
        if name.count("/") > MOST_DEPTH:  # the library takes hours for thousands of groups in each other
            raise ValueError(f"it has groups nested more than {MOST_DEPTH} deep")
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            if item.is_virtual or item.external:
                raise ValueError(f"the content of {name!r} lies in other files; copy it into this one")
            if item.chunks and math.prod(item.chunks) * item.dtype.itemsize > MOST_CHUNK:
                raise ValueError(f"{name!r} has chunks of more than {MOST_CHUNK >> 20} MB; use smaller ones")
            is_number = item.dtype.kind in NUMBERS and item.dtype.fields is None
            arrays[name] = item.shape, item.dtype.str if is_number else "O"

    file.visititems(keep)
    return arrays


if __name__ == "__main__":
    main()
