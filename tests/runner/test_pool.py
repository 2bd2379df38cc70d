"""Real worker processes: answers, death, and silence after the end."""

import os
import signal
import time
from types import SimpleNamespace

import pytest

from thermorbm.child import Child
from thermorbm.errors import FileError
from thermorbm.runner import pool as module
from thermorbm.runner.pool import Pool, Worker
from thermorbm.runner.rundir import open_run, prepare
from thermorbm.runner.task import Room
from thermorbm.study.steps import STEPS

BAD = STEPS["sample"].task("bad", {"shape": [2, 2], "temperature": 1.0}, labels={"family": "f"})


@pytest.fixture
def directory(tmp_path):
    directory = open_run(tmp_path / "run", "paper")
    prepare(directory, "", [BAD])
    return directory


def wait_for(pool, event, seconds=60):
    """The first answer of that kind."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for answer in pool.answers(0.1):
            if answer.message["event"] == event:
                return answer
    raise AssertionError(f"no answer {event!r}")


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_task_that_raises_is_answered_and_logged(directory):
    with Pool(directory.path, 1, Room(1 << 40)) as pool:
        pool.give(BAD)
        assert pool.n_idle == 0
        answer = wait_for(pool, "failed")
        assert answer.task_id == BAD.id
        assert answer.message["error"] == "KeyError: 'samples'"
        assert pool.n_idle == 1
    log = directory.log(BAD.id).read_text()
    assert "Traceback" in log
    assert "KeyError" in log


HUGE = STEPS["sample"].task("huge",
    {
        "shape": [4, 4], "temperature": 5.0, "samples": 1 << 34, "held_out": 2, "method": "metropolis",
        "sector": "symmetric", "seed": 1,
    },
)  # fmt: skip


def test_a_task_that_needs_too_much_memory_is_named(directory):
    with Pool(directory.path, 1, Room(1 << 40), memory=2 << 30) as pool:
        pool.give(HUGE)
        answer = wait_for(pool, "failed")
    assert answer.task_id == HUGE.id
    assert answer.message["error"] == "it needs more memory than 2.1 GB: use fewer workers or a smaller study"


def test_a_killed_worker_is_noticed_and_replaced(directory):
    with Pool(directory.path, 1, Room(1 << 40)) as pool:
        first = pool._workers[0].process.pid
        for _ in pool.answers(30):  # it says that it is ready
            pass
        os.kill(first, signal.SIGSTOP)
        pool.give(BAD)
        os.kill(first, signal.SIGKILL)
        answer = wait_for(pool, "died")
        assert answer.task_id == BAD.id
        assert answer.message["how"] == "by signal SIGKILL, perhaps because memory ran out"
        pool.give(BAD)
        assert wait_for(pool, "failed").task_id == BAD.id
        second = pool._workers[0].process.pid
    assert gone(first)
    assert gone(second)


def test_a_worker_killed_before_it_is_ready_is_replaced(directory):
    with Pool(directory.path, 1, Room(1 << 40)) as pool:
        pool.give(BAD)
        os.kill(pool._workers[0].process.pid, signal.SIGKILL)
        assert wait_for(pool, "died").task_id == BAD.id
        pool.give(BAD)
        assert wait_for(pool, "failed").task_id == BAD.id


def test_workers_that_never_begin_end_the_run(directory, monkeypatch):
    """In the place of the worker stands a module that waits for the end of its input and says nothing."""
    monkeypatch.setattr(module, "Child", lambda _, *__, **options: Child("tokenize", **options))
    with Pool(directory.path, 1, Room(1 << 40)) as pool:
        os.kill(pool._workers[0].process.pid, signal.SIGKILL)
        for _ in pool.answers(30):
            pass
        os.kill(pool._workers[0].process.pid, signal.SIGKILL)
        with pytest.raises(FileError, match="a worker process ended with code -9 before it began"):
            for _ in pool.answers(30):
                pass


def test_stopped_workers_are_ended_together(directory, monkeypatch):
    """Processes that do not react, as on a computer that swaps: the time to end them does not add up."""
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 4.0)
    with Pool(directory.path, 4, Room(1 << 40)) as pool:
        pids = [worker.process.pid for worker in pool._workers]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
    assert time.monotonic() - began < 14.0  # together 6 s, one after the other 18 s or more
    assert all(gone(pid) for pid in pids)


def test_all_workers_have_the_same_time_to_end(directory, monkeypatch):
    """One moment to write checkpoints until, and one to be killed at, however many workers there are."""
    moments = {"await_end": set(), "end": set()}

    def recording(original, heard):
        return lambda worker, until: (heard.add(until), original(worker, until))[1]

    for name, heard in moments.items():
        monkeypatch.setattr(Worker, name, recording(getattr(Worker, name), heard))
    with Pool(directory.path, 3, Room(1 << 40)):
        pass
    assert {name: len(heard) for name, heard in moments.items()} == {"await_end": 1, "end": 1}


def test_workers_have_one_thread_each(directory, monkeypatch):
    """Libraries read the number when they are loaded, so it is set before."""
    given = {}
    monkeypatch.setattr(
        module, "Child", lambda *_, environment: given.update(environment) or SimpleNamespace(process=0)
    )
    Worker(directory.path)
    assert given == dict.fromkeys(module.THREAD_VARIABLES, "1")
    assert "OMP_NUM_THREADS" in given
