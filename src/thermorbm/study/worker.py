"""A worker process: gets tasks as lines of JSON, does them, answers in lines of JSON.

Run as `python -m thermorbm.study.worker DIRECTORY`. It ends as soon as its input is closed, whatever it is
doing, so that no worker outlives its runner. Everything else that is printed goes to the task's log.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

Message = dict[str, Any]
Send = Callable[[Message], None]

SECONDS_BETWEEN_SIGNS = 0.5


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # nothing but answers may reach the pipe
    orders: queue.Queue[Message] = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()

    def send(message: Message) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    send({"event": "ready"})
    while True:
        send(_answer(Path(sys.argv[1]), orders.get(), send))


def _listen(orders: queue.Queue[Message]) -> None:
    """Takes orders until the input is closed: then there is nobody to work for."""
    for line in sys.stdin:
        orders.put(json.loads(line))
    os._exit(0)


def _answer(path: Path, order: Mapping[str, Any], send: Send) -> Message:
    """Does one task; whatever goes wrong becomes an answer."""
    from thermorbm.study.rundir import RunDirectory
    from thermorbm.study.store import DamagedInput
    from thermorbm.study.tasks import Task

    directory, task = RunDirectory(path), Task.from_dict(order["task"])
    try:
        with _logged(directory.log(task.id)) as log:
            return {"event": "done", **_perform(directory, task, log, send)}
    except DamagedInput as error:
        return {"event": "damaged", "input": error.task_id, "problem": error.problem}
    except MemoryError:
        return {"event": "failed", "error": "not enough memory: use fewer workers or a smaller study"}
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        known = type(error).__module__.startswith("thermorbm")
        return {"event": "failed", "error": text if known else f"{type(error).__name__}: {text}"}


def _perform(directory: Any, task: Any, log: IO[str], send: Send) -> Message:
    """Does the task and writes its result; gives seconds and what the user should know."""
    from thermorbm.study.store import Store
    from thermorbm.study.work import perform

    store, notes = Store(directory), list[str]()
    start, cpu_start = time.monotonic(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        product = perform(task, store, _progress(send), notes.append)
    heard = (str(warning.message) for warning in caught if warning.category is not DeprecationWarning)
    notes += dict.fromkeys(heard)  # each once
    timing = {
        "seconds": round(time.monotonic() - start, 3),
        "cpu_seconds": round(time.process_time() - cpu_start, 3),
    }
    store.write(task, product, timing)
    for line in (*notes, f"done in {timing['seconds']} s"):
        print(line, file=log)
    return {**timing, "notes": notes}


def _progress(send: Send) -> Callable[[float], None]:
    """A callback for the fraction done; it sends no more than two a second."""
    last = [time.monotonic()]

    def report(fraction: float) -> None:
        if time.monotonic() - last[0] > SECONDS_BETWEEN_SIGNS:
            last[0] = time.monotonic()
            send({"event": "progress", "fraction": fraction})

    return report


@contextmanager
def _logged(path: Path) -> Iterator[IO[str]]:
    """Lets all output of the process go to the end of a log file; an exception leaves its trace there."""
    with open(path, "a", buffering=1) as log:
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
