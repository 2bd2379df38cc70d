"""What happens on a worker of a cluster: a process of our own does the task, as it would beside the runner.

So numbers of threads, memory and logs are the same everywhere, and a crash ends that process alone. A worker
that sees the run directory works in it. For one that does not, the files that a task reads arrive as bytes,
and those that it writes are sent back; they are the same files, with their checksums.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from thermorbm.runner.pool import Worker, death
from thermorbm.runner.rundir import RunDirectory, make_places
from thermorbm.runner.store import versions
from thermorbm.runner.task import Task
from thermorbm.storage import atomic_path

Message = dict[str, Any]
Files = dict[str, bytes]

# Of this process: one worker for every run, directory and thread; one directory for every run not seen.
_WORKERS: dict[tuple[str, Path, int], Worker] = {}
_SCRATCH: dict[str, RunDirectory] = {}
_GUARD = threading.Lock()


def greet(path: str, token: str) -> Message:
    """Whether this computer sees the run directory, and what is installed here."""
    return {"sees": _sees(path, token), "versions": dict(versions())}


def difference(here: Mapping[str, str], runner: Mapping[str, str]) -> str:
    """Where the versions of a worker differ from the runner's, in words; empty if nowhere."""
    for name, wanted in runner.items():
        if here.get(name) != wanted:
            return f"has {name} {here.get(name)}, the runner {wanted}: results would not be the same"
    return ""


def perform(order: Mapping[str, Any], names: Sequence[str], *contents: bytes) -> tuple[Message, Files]:
    """Does order["task"]; gives the answer, and the files made unless the run directory is seen from here.

    names, contents: files that the task reads, relative to the run directory; {"event": "unseen"} asks for
    them.
    """
    task, token = Task.from_dict(order["task"]), order["token"]
    if problem := difference(versions(), order["versions"]):
        return {"event": "failed", "error": f"a worker of the cluster {problem}"}, {}
    if _sees(order["directory"], token):
        return _done(Path(order["directory"]), task, token), {}
    if len(names) < len(input_files(task)):
        return {"event": "unseen"}, {}
    directory = _scratch(token)
    make_places(directory, [task])
    for name, content in zip(names, contents, strict=True):
        write_file(directory.path / name, content)
    answer = _done(directory.path, task, token)
    return answer, read_files(directory.path, output_files(directory, task))


def stop(token: str) -> None:
    """Asks the processes of a study to end, trainings after a checkpoint."""
    with _GUARD:
        for key, worker in _WORKERS.items():
            if key[0] == token:
                worker.process.terminate()


def forget(token: str) -> None:
    """Ends the processes of a study and removes what it has left on this computer's disk."""
    with _GUARD:
        for key in [key for key in _WORKERS if key[0] == token]:
            _WORKERS.pop(key).end()
        directory = _SCRATCH.pop(token, None)
    if directory is not None:
        shutil.rmtree(directory.path, ignore_errors=True)


def input_files(task: Task) -> list[str]:
    """Files that a task reads, relative to the run directory."""
    places = {item: "cache" if item in task.large_inputs else "reduced" for item in task.inputs}
    return [f"{place}/{item}.h5" for item, place in places.items()]


def output_files(directory: RunDirectory, task: Task) -> list[str]:
    """Files that a task may write, relative to the run directory; the one that says "done" comes last."""
    large = [directory.large(task.id)] if task.makes_large else []
    paths = [directory.log(task.id), directory.checkpoint(task.id), *large, directory.reduced(task.id)]
    return [str(path.relative_to(directory.path)) for path in paths]


def read_files(place: Path, names: Sequence[str]) -> Files:
    """The content of those files that are there."""
    return {name: (place / name).read_bytes() for name in names if (place / name).exists()}


def write_file(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def converse(worker: Worker, task: Task, tell: Callable[[float], None]) -> Message:
    """Gives a task to a process and waits for the answer; tell gets the fraction done now and then."""
    worker.give(task)
    while (messages := worker.read()) is not None:
        for message in messages:
            if message["event"] == "progress":
                tell(message["fraction"])
            elif message["event"] != "ready":
                return message
    return {"event": "died", "how": death(worker.end())}


def _sees(path: str, token: str) -> bool:
    """Whether the directory here is the runner's: it holds the same lock, and not merely the same name."""
    try:
        return (Path(path) / "lock").read_text() == token
    except OSError:
        return False


def _done(place: Path, task: Task, token: str) -> Message:
    """The answer of this thread's process, which is started if there is none."""
    from distributed import get_worker

    node, key = get_worker(), (token, place, threading.get_ident())
    limit = node.memory_manager.memory_limit
    with _GUARD:
        worker = _WORKERS.get(key) or Worker(place, limit and limit // node.state.nthreads)
        _WORKERS[key] = worker
    answer = converse(
        worker, task, lambda fraction: node.log_event(token, {"task": task.id, "fraction": fraction})
    )
    if answer["event"] == "died":
        with _GUARD:
            _WORKERS.pop(key, None)
    return answer


def _scratch(token: str) -> RunDirectory:
    """The directory of a study that is not seen from here, on this computer's disk."""
    with _GUARD:
        if token not in _SCRATCH:
            _SCRATCH[token] = RunDirectory(Path(tempfile.mkdtemp(prefix="thermorbm-")))
        return _SCRATCH[token]
