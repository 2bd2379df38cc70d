"""Worker processes: one single-threaded process per core, spoken to in lines of JSON, restarted if killed."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermorbm.errors import FileError
from thermorbm.study.tasks import Task

# One thread each, told before any library is loaded; workers together use all cores.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class Answer:
    """What a worker said about its task; {"event": "died", "code": ...} stands for its death."""

    task_id: str
    message: dict[str, Any]


class Worker:
    """One process and the task it is at, None while it is idle."""

    def __init__(self, directory: Path) -> None:
        command = [sys.executable, "-P", "-m", "thermorbm.study.worker", str(directory)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
            start_new_session=True,  # Ctrl-C in the terminal is for the runner alone
        )
        self.task_id: str | None = None
        self.was_ready = False
        self._buffer = b""

    def give(self, task: Task) -> None:
        self.task_id = task.id
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has died; its end of the other pipe tells
            self.process.stdin.write(json.dumps({"task": task.to_dict()}).encode() + b"\n")
            self.process.stdin.flush()

    def read(self) -> list[dict[str, Any]] | None:
        """Messages that have arrived; None when the process has closed its end."""
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        if not data:
            return None
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> int:
        """Ends the process and gives its exit code, negative for a signal."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            return self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Pool:
    """n workers. A worker that dies is replaced; its task is handed back as an answer."""

    def __init__(self, directory: Path, n_workers: int) -> None:
        self._directory = directory
        self._selector = selectors.DefaultSelector()
        self._workers = [self._started() for _ in range(n_workers)]

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.end()
        self._selector.close()

    @property
    def n_idle(self) -> int:
        return sum(worker.task_id is None for worker in self._workers)

    def give(self, task: Task) -> None:
        """Gives a task to an idle worker."""
        next(worker for worker in self._workers if worker.task_id is None).give(task)

    def answers(self, timeout: float) -> Iterator[Answer]:
        """What the workers say within `timeout` seconds; returns earlier when one has spoken."""
        for key, _ in self._selector.select(timeout):
            worker: Worker = key.data
            messages = worker.read()
            if messages is None:
                yield from self._replace(worker)
                continue
            for message in messages:
                task_id = worker.task_id
                worker.was_ready = True
                if message["event"] not in ("progress", "ready"):
                    worker.task_id = None
                if task_id is not None and message["event"] != "ready":
                    yield Answer(task_id, message)

    def _replace(self, worker: Worker) -> Iterator[Answer]:
        assert worker.process.stdout is not None
        self._selector.unregister(worker.process.stdout)
        code = worker.end()
        if not worker.was_ready:
            problem = f"a worker process ended with code {code} before it began"
            raise FileError(self._directory, problem, "try: python -c 'import thermorbm.study.worker'")
        self._workers[self._workers.index(worker)] = self._started()
        if worker.task_id is not None:
            yield Answer(worker.task_id, {"event": "died", "code": code})

    def _started(self) -> Worker:
        worker = Worker(self._directory)
        assert worker.process.stdout is not None
        self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        return worker
