"""A worker process: gets tasks as lines of JSON, does them, answers in lines of JSON.

Run as `python -m thermorbm.runner.worker DIRECTORY [BYTES]`. It ends as soon as its input is closed, whatever
it is doing, so that no worker outlives its runner. On SIGTERM a task that has checkpoints writes one first.
It gets no more memory than BYTES. Everything else that is printed goes to the task's log.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any

Message = dict[str, Any]
Send = Callable[[Message], None]

SECONDS_BETWEEN_SIGNS = 0.5
TERMINATED = 143


class Stopped(BaseException):
    """A request to end, raised where a task can stop with a checkpoint."""


@dataclass
class Request:
    """Whether this process is asked to end, and whether its task first writes a checkpoint."""

    is_made: bool = False
    can_wait: bool = False


REQUEST = Request()


def main() -> None:
    signal.signal(signal.SIGTERM, _on_request)
    _limit_memory(int(sys.argv[2]) if len(sys.argv) > 2 else None)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # nothing but answers may reach the pipe
    orders: queue.Queue[Message] = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()

    def send(message: Message) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    send({"event": "ready"})
    while True:
        try:
            send(_answer(Path(sys.argv[1]), orders.get(), send))
        except Stopped:
            os._exit(TERMINATED)


def _on_request(number: int, frame: FrameType | None) -> None:
    """A task with checkpoints goes on to its next report of progress; any other is short and ends at once."""
    if not REQUEST.can_wait:
        os._exit(TERMINATED)
    REQUEST.is_made = True


def _limit_memory(size: int | None) -> None:
    """Allocations beyond `size` bytes fail; if the system runs out of memory, it ends workers first."""
    with contextlib.suppress(OSError):  # not on this system
        Path("/proc/self/oom_score_adj").write_text("500")
    with contextlib.suppress(ImportError, AttributeError):  # not on this system
        import resource

        if size is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def _listen(orders: queue.Queue[Message]) -> None:
    """Takes orders until the input is closed, which means that the runner has ended; then ends at once."""
    for line in sys.stdin:
        orders.put(json.loads(line))
    os._exit(0)


def _answer(path: Path, order: Mapping[str, Any], send: Send) -> Message:
    """Does one task; whatever goes wrong becomes an answer."""
    from thermorbm.runner.rundir import RunDirectory
    from thermorbm.runner.store import DamagedInput
    from thermorbm.runner.task import Task

    directory, task = RunDirectory(path), Task.from_dict(order["task"])
    try:
        with _logged(directory.log(task.id)) as log:
            return {"event": "done", **_perform(directory, task, log, send)}
    except DamagedInput as error:
        return {"event": "damaged", "input": error.task_id, "problem": error.problem}
    except MemoryError:
        return {"event": "failed", "error": _no_memory()}
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        if "allocate memory" in text:  # torch's way to say it
            return {"event": "failed", "error": _no_memory()}
        is_ours = type(error).__module__.startswith("thermorbm")
        return {"event": "failed", "error": text if is_ours else f"{type(error).__name__}: {text}"}


def _no_memory() -> str:
    limit = f" than {int(sys.argv[2]) / 1e9:.1f} GB" if len(sys.argv) > 2 else ""
    return f"it needs more memory{limit}: use fewer workers or a smaller study"


def _perform(directory: Any, task: Any, log: IO[str], send: Send) -> Message:
    """Does the task and writes its result; gives seconds and what the user should know."""
    from thermorbm.runner.store import Store

    store, notes = Store(directory), list[str]()
    start, cpu_start = time.monotonic(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        REQUEST.can_wait = task.has_checkpoint
        try:
            product = task.run(store, _progress(send), notes.append)
        finally:
            REQUEST.can_wait = False
        store.write_large(task, product)
    heard = (str(warning.message) for warning in caught if warning.category is not DeprecationWarning)
    notes += dict.fromkeys(heard)  # each once
    timing = {
        "seconds": round(time.monotonic() - start, 3),
        "cpu_seconds": round(time.process_time() - cpu_start, 3),
    }
    store.write_reduced(task, product, timing)
    for line in (*notes, f"done in {timing['seconds']} s"):
        print(line, file=log)
    return {**timing, "notes": notes}


def _progress(send: Send) -> Callable[[float], None]:
    """A callback for the fraction done; it sends no more than two a second."""
    last = [time.monotonic()]

    def report(fraction: float) -> None:
        if REQUEST.is_made:
            raise Stopped("asked to end; going on from the checkpoint the next time")
        if time.monotonic() - last[0] > SECONDS_BETWEEN_SIGNS:
            last[0] = time.monotonic()
            send({"event": "progress", "fraction": fraction})

    return report


@contextmanager
def _logged(path: Path) -> Iterator[IO[str]]:
    """Lets all output of the process go to the end of a log file; an exception leaves its trace there."""
    with open(path, "a", buffering=1, encoding="utf-8", errors="backslashreplace") as log:
        print(time.strftime("%Y-%m-%d %H:%M:%S"), f"pid {os.getpid()}", file=log)
        saved = os.dup(1), os.dup(2)
        os.dup2(log.fileno(), 1), os.dup2(log.fileno(), 2)
        try:
            yield log
        except BaseException:
            traceback.print_exc(file=log)
            raise
        finally:
            for number, descriptor in enumerate(saved, 1):
                os.dup2(descriptor, number)
                os.close(descriptor)


if __name__ == "__main__":
    main()
