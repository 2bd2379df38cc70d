"""The executor with workers of paper: retries, remakes, failures and what is told."""

import json
import time

import pytest
from own_process import OneWorker

from thermorbm.runner.executor import MOST_REMAKES, Executor
from thermorbm.runner.lock import locked
from thermorbm.runner.pool import death
from thermorbm.runner.rundir import open_run, prepare
from thermorbm.runner.store import Reduced, write_reduced
from thermorbm.study.steps import STEPS, estimate_costs

DATA = STEPS["sample"].task("data", {"shape": [2, 2], "temperature": 1.0, "samples": 2, "held_out": 2})
FIRST = STEPS["measure"].task("first", {"n": 1}, [DATA])
SECOND = STEPS["measure"].task("second", {"n": 2}, [DATA])
END = STEPS["estimate"].task("end", {"what": "indicators"}, [FIRST])
TASKS = {task.id: task for task in (DATA, FIRST, SECOND, END)}
DONE = {"event": "done", "seconds": 1.0, "notes": []}


class PaperWorker(OneWorker):
    """Answers each task with the next line of its script, "done" where there is none."""

    def __init__(self, script):
        self._script, self.order = script, []

    def answer(self, task):
        self.order.append(task.name)
        waiting = self._script.get(task.name, [])
        return waiting.pop(0) if waiting else DONE


@pytest.fixture
def run(tmp_path, recorder):
    """Runs the tasks with scripted answers; gives the outcome and the order of tasks."""
    directory = open_run(tmp_path / "run", "paper")
    prepare(directory, "", TASKS.values())

    def run(todo=TASKS, **script):
        worker = PaperWorker(script)
        with locked(directory.lock) as lock:
            executor = Executor(TASKS, todo, estimate_costs(TASKS), directory, lock, recorder)
            return executor.run(worker), worker.order

    run.directory, run.notes = directory, recorder.notes
    return run


def test_all_goes_well(run, recorder):
    outcome, order = run()
    assert set(order) == {"data", "first", "second", "end"}
    assert set(outcome.done) == set(TASKS)
    assert not outcome.failed
    last = recorder.snapshots[-1]
    assert last.counts["done"] == 4
    assert last.eta == 0
    assert last.stages["measure"] == (2, 2)


def test_a_failed_task_is_recorded_and_the_rest_goes_on(run):
    outcome, order = run(first=[{"event": "failed", "error": "too hot"}])
    assert set(order) == {"data", "first", "second"}
    assert outcome.failed == {FIRST.id: "too hot"}
    assert outcome.skipped == (END.id,)
    record = json.loads(run.directory.failure(FIRST.id).read_text())
    assert record["error"] == "too hot"
    assert "measure/first: FAILED: too hot; 1 tasks that need it are skipped" in run.notes
    assert json.loads(run.directory.state.read_text())["last_error"] == "measure/first: too hot"


def test_a_killed_worker_gets_a_second_chance(run):
    outcome, order = run(first=[{"event": "died", "how": death(-9)}])
    assert order.count("first") == 2
    assert not outcome.failed
    assert (
        "measure/first: its worker was ended by signal SIGKILL, perhaps because memory ran out"
        in run.notes[0]
    )


def test_a_task_that_kills_its_workers_fails(run):
    outcome, order = run(first=[{"event": "died", "how": death(-9)}, {"event": "died", "how": death(3)}])
    assert order.count("first") == 2
    assert "ended 2 times, the last time with code 3" in outcome.failed[FIRST.id]


def test_a_damaged_input_is_made_again(run):
    damaged = {"event": "damaged", "input": DATA.id, "problem": "checksum does not match"}
    run.directory.large(DATA.id).write_text("rubbish")
    outcome, order = run(todo=[FIRST.id, END.id], first=[damaged])
    assert order == ["first", "data", "first", "end"]
    assert not outcome.failed
    assert not run.directory.large(DATA.id).exists()
    assert run.notes == ["sample/data: result cannot be used (checksum does not match); computing it again"]


def test_damage_without_end_is_a_failure(run):
    damaged = {"event": "damaged", "input": DATA.id, "problem": "bad disk"}
    outcome, order = run(first=[damaged] * 9)
    assert order.count("first") == MOST_REMAKES + 1
    assert "damaged again and again: bad disk" in outcome.failed[FIRST.id]


def test_a_clock_that_jumps_changes_nothing(run, recorder, monkeypatch):
    """Times that are left and beats of the lock follow the monotonic clock."""
    jumps = iter([1e9, 0.0, 2e9, -1e9] * 1000)
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    outcome, _ = run()
    assert set(outcome.done) == set(TASKS)
    assert all(0 <= (snapshot.eta or 0) < 100 for snapshot in recorder.snapshots)


def test_what_another_shard_has_done_is_not_done_again(run):
    result = Reduced(FIRST, {})
    write_reduced(run.directory.reduced(FIRST.id), result)
    outcome, order = run(todo=[FIRST.id, SECOND.id, END.id])
    assert set(order) == {"second", "end"}
    assert FIRST.id in outcome.done


def test_notes_and_progress_reach_the_listener(run, recorder):
    run(first=[{**DONE, "notes": ["be careful"]}])
    assert recorder.notes == ["measure/first: be careful"]
