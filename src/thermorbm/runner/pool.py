"""Worker processes: one single-threaded process per core, spoken to in lines of JSON, restarted if killed."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from thermorbm.checks import check_count
from thermorbm.child import Child
from thermorbm.errors import FileError
from thermorbm.runner.task import Room, Task

# Set to 1 before any library is loaded: each worker uses one thread, and workers together use all cores.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# How long a worker may take to write a checkpoint when it is asked to end.
PATIENCE_SECONDS = 10.0
# How long it may take to end when its input is closed.
CLOSING_SECONDS = 2.0


@dataclass(frozen=True)
class Answer:
    """What a worker reports of its task; {"event": "died", "how": ...} if its process has ended."""

    task_id: str
    message: dict[str, Any]


class Workers(Protocol):
    """Processes that do tasks, here or on a cluster. room: memory and GPUs that they have together."""

    @property
    def n_workers(self) -> int: ...
    @property
    def n_idle(self) -> int: ...
    @property
    def room(self) -> Room: ...
    def __enter__(self) -> Workers: ...
    def __exit__(self, *_: object) -> None: ...
    def give(self, task: Task) -> None: ...
    def answers(self, timeout: float) -> Iterator[Answer]: ...


class Worker:
    """One process and the task it is at, None while it is idle."""

    def __init__(self, directory: Path, memory: int | None = None) -> None:
        """memory: bytes that the process may use, None for any number."""
        limit = [] if memory is None else [str(memory)]
        threads = dict.fromkeys(THREAD_VARIABLES, "1")
        self._child = Child("thermorbm.runner.worker", str(directory), *limit, environment=threads)
        self.process = self._child.process
        self.task_id: str | None = None
        self.was_ready = False
        self._buffer = b""
        self._listener: threading.Thread | None = None

    def give(self, task: Task) -> None:
        self.task_id = task.id
        with contextlib.suppress(BrokenPipeError):  # it has died, which `read` notices
            self._child.send({"task": task.to_dict()})

    def read(self) -> list[dict[str, Any]] | None:
        """Messages that have arrived; None when the process has closed its end."""
        data = os.read(self._child.output.fileno(), 1 << 16)
        if not data:
            return None
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def listen(self, inbox: Inbox) -> None:
        """Puts what `read` gives there as it arrives, None at the end; pipes can be waited for in no way that
        all systems have."""

        def read_all() -> None:
            while (messages := self.read()) is not None:
                inbox.put((self, messages))
            inbox.put((self, None))

        self._listener = threading.Thread(target=read_all, daemon=True)
        self._listener.start()

    def await_end(self, until: float) -> None:
        """Waits for a process that was asked to end, at most until that time of the monotonic clock."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, until - time.monotonic()))

    def close(self) -> None:
        """Closes its input, at which it ends, whatever it is doing."""
        self._child.close_input()

    def end(self, until: float | None = None) -> int:
        """Ends the process and gives its exit code, negative for a signal; kills it after `until`."""
        self.close()
        until = time.monotonic() + PATIENCE_SECONDS if until is None else until
        try:
            code = self.process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        if self._listener is not None:
            self._listener.join()
        self._child.close()
        return code


Inbox = queue.Queue[tuple[Worker, list[dict[str, Any]] | None]]


def wanted_workers(n_workers: int | None) -> int:
    """The number of processes that is asked for, or one for each core that this process may use."""
    if n_workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    check_count("workers", n_workers)
    return n_workers


def death(code: int) -> str:
    """How a process ended, in words that follow "was ended"."""
    if code >= 0:
        return f"with code {code}"
    hint = ", perhaps because memory ran out" if code == -signal.SIGKILL else ""
    return f"by signal {signal.Signals(-code).name}{hint}"


class Pool:
    """n workers. A worker that dies is replaced; its task is handed back as an answer."""

    def __init__(self, directory: Path, n_workers: int, room: Room, memory: int | None = None) -> None:
        """room: what all have together. memory: bytes that each worker may use."""
        self._directory, self._memory = directory, memory
        self.n_workers, self.room = n_workers, room
        self._n_stillborn = 0  # processes that ended before they were ready, since one was
        self._inbox: Inbox = queue.Queue()
        self._workers = [self._started() for _ in range(n_workers)]

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all together: each gets the time to write a checkpoint, and those that stay are killed."""
        until = time.monotonic() + PATIENCE_SECONDS
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.await_end(until)
        for worker in self._workers:
            worker.close()
        until = time.monotonic() + CLOSING_SECONDS
        for worker in self._workers:
            worker.end(until)

    @property
    def n_idle(self) -> int:
        return sum(worker.task_id is None for worker in self._workers)

    def give(self, task: Task) -> None:
        """Gives a task to an idle worker."""
        next(worker for worker in self._workers if worker.task_id is None).give(task)

    def answers(self, timeout: float) -> Iterator[Answer]:
        """What workers report within `timeout` seconds; returns as soon as there is something."""
        for worker, messages in self._arrived(timeout):
            if messages is None:
                yield from self._replace(worker)
                continue
            for message in messages:
                task_id = worker.task_id
                worker.was_ready, self._n_stillborn = True, 0
                if message["event"] not in ("progress", "ready"):
                    worker.task_id = None
                if task_id is not None and message["event"] != "ready":
                    yield Answer(task_id, message)

    def _arrived(self, timeout: float) -> Iterator[tuple[Worker, list[dict[str, Any]] | None]]:
        """What is in the inbox, after a wait for the first."""
        with contextlib.suppress(queue.Empty):
            yield self._inbox.get(timeout=timeout)
            while True:
                yield self._inbox.get_nowait()

    def _replace(self, worker: Worker) -> Iterator[Answer]:
        code = worker.end()
        self._n_stillborn += not worker.was_ready
        if not worker.was_ready and (code >= 0 or self._n_stillborn > self.n_workers):
            problem = f"a worker process ended with code {code} before it began"
            raise FileError(self._directory, problem, "try: python -c 'import thermorbm.runner.worker'")
        self._workers[self._workers.index(worker)] = self._started()
        if worker.task_id is not None:
            yield Answer(worker.task_id, {"event": "died", "how": death(code)})

    def _started(self) -> Worker:
        worker = Worker(self._directory, self._memory)
        worker.listen(self._inbox)
        return worker
