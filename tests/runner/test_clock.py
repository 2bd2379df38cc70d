"""The time left of a run: what is learnt from its tasks, and that what is stated does not wander."""

import numpy as np
import pytest

from thermorbm.runner import clock as module
from thermorbm.runner.clock import COMPUTER, KIND, OVERHEAD_SECONDS, TASK, Clock, Pace
from thermorbm.runner.executor import Schedule
from thermorbm.runner.task import Cost, Room, Task

COSTS = {"sample": 3, "measure": 1, "train": 60, "weights": 1, "observe": 12, "partition": 20, "bracket": 4}
READS = {
    "measure": ["sample"],
    "train": ["sample"],
    "weights": ["train"],
    "observe": ["train"],
    "partition": ["train"],
    "bracket": ["train", "partition"],
}
N_WORKERS, STEP_SECONDS, LINE_SECONDS = 2, 4.0, 60.0


@pytest.fixture
def now(monkeypatch):
    """The time, as a list of one number that a test may change."""
    time = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: time[0])
    return time


def study(wrong, n_temperatures=60):
    """Tasks, their costs, and the seconds that they truly take: they scatter, and some kinds are wrong."""
    rng, tasks, costs, true = np.random.default_rng(1), {}, {}, {}
    for i in range(n_temperatures):
        made = {}
        for kind, cost in COSTS.items():
            inputs = tuple(made[name].id for name in READS.get(kind, ()))
            task = made[kind] = Task(
                kind, f"{i}", "0" * 16, {}, inputs, makes_large=kind in ("sample", "train")
            )
            seconds = cost * rng.choice([1, 1, 2, 4]) if kind == "train" else cost
            tasks[task.id], costs[task.id] = task, Cost(seconds, 0)
            true[task.id] = seconds * wrong.get(kind, 1.0) * rng.lognormal(0, 0.2)
    return tasks, costs, true


def simulate(now, tasks, costs, true, speed):
    """Time, time stated and time left at the present load, in steps, of a run as the executor does it.

    speed: of the computer, for a share of the work that is done. Trainings say how far they are.
    """
    begin, done, work = now[0], 0.0, sum(true.values())
    schedule, clock, running, shown = Schedule(tasks, tasks, costs), Clock(costs, tasks), {}, []
    while schedule.is_open:
        while len(running) < N_WORKERS and (task_id := schedule.next(Room(1 << 60))) is not None:
            schedule.start(task_id)
            clock.start(task_id)
            running[task_id] = now[0], 0.0
        pace = speed(done / work)
        now[0] += STEP_SECONDS
        for task_id, (start, part) in list(running.items()):
            done += STEP_SECONDS * pace
            running[task_id] = start, part + STEP_SECONDS * pace
            if running[task_id][1] >= true[task_id]:
                clock.stop(task_id, now[0] - start)
                schedule.finish(task_id)
                del running[task_id]
            elif tasks[task_id].kind == "train":
                clock.report(task_id, running[task_id][1] / true[task_id])
        left = sum(true[task_id] for task_id, state in schedule.states.items() if state != "done")
        left -= sum(part for _, part in running.values())
        stated = clock.time_left(schedule.states, N_WORKERS)
        shown.append((now[0] - begin, np.nan if stated is None else stated, left / pace / N_WORKERS, pace))
    return np.array(shown).T


@pytest.mark.parametrize("doubles", [False, True])
@pytest.mark.parametrize("wrong", [{"train": 3.0}, {"train": 1 / 3}, {"partition": 3.0}, {"bracket": 0.05}])
def test_the_time_left_does_not_wander(now, wrong, doubles):
    """Costs of one kind are wrong, and the load may double half way.

    A load that will come is not known, so the truth is that at the load of the moment, and the time stated
    has a twentieth of the run to follow it. It counts until the last twentieth, which is a handful of tasks.
    """
    time, stated, true, pace = simulate(
        now, *study(wrong), lambda done: 0.5 if doubles and done > 0.5 else 1.0
    )
    end = time[-1]
    changed = time[np.argmin(pace)] if doubles else -np.inf
    settled = (time > 0.1 * end) & (time < 0.95 * end) & ((time < changed) | (time > changed + 0.05 * end))
    off = stated[settled] / true[settled]
    assert off.max() < 1.5
    assert off.min() > 1 / 1.5

    lines = ~np.isnan(stated) & (time % LINE_SECONDS == 0) & (time < 0.95 * end)
    before, after = stated[lines][:-1], stated[lines][1:]
    assert np.all(after < 1.21 * before)
    assert np.all(after > (before - LINE_SECONDS) / 1.21)
    for part in (settled & (time < changed), settled & (time > changed)):
        seen = stated[part]
        assert np.all(seen < 1.2 * np.minimum.accumulate(seen))


def test_what_is_learnt_is_the_mean_given_all_tasks():
    """The same by least squares over all tasks at once, whose rows are the prior and the tasks."""
    rng, kinds = np.random.default_rng(2), ("a", "b", "c")
    pace, rows, values = Pace(kinds), [np.eye(4) / [[COMPUTER], [KIND], [KIND], [KIND]]], [np.zeros(4)]
    for kind in rng.choice(kinds[:2], 20):
        cost, seconds, fraction = rng.uniform(1, 50), rng.uniform(1, 50), rng.uniform(0.1, 1)
        pace.learn(kind, cost, seconds, fraction)
        row = np.array([1.0] + [float(kind == other) for other in kinds])
        error = TASK * np.sqrt((1 + OVERHEAD_SECONDS / cost) / fraction)
        rows.append(row[None] / error)
        values.append([np.log((seconds + OVERHEAD_SECONDS) / (cost + OVERHEAD_SECONDS)) / error])
    rows, values = np.concatenate(rows), np.concatenate(values)
    np.testing.assert_allclose(pace.mean, np.linalg.solve(rows.T @ rows, rows.T @ values), rtol=1e-10)
    np.testing.assert_allclose(pace.covariance, np.linalg.inv(rows.T @ rows), rtol=1e-9, atol=1e-15)


def test_a_task_that_goes_on_from_a_checkpoint_is_not_taken_for_a_fast_one(now):
    tasks = {f"train/{i}": Task("train", str(i), "", {}) for i in range(10)}
    costs, states = dict.fromkeys(tasks, Cost(100.0, 0)), dict.fromkeys(tasks, "pending")
    clock = Clock(costs, tasks)
    assert clock.time_left(states, 1) is None
    clock.start("train/0")
    states["train/0"] = "running"
    for seconds in range(21):  # it begins at 0.8 and does a hundredth in a second, as expected
        clock.report("train/0", 0.8 + 0.01 * seconds)
        now[0] += 1
    clock.stop("train/0", 20.0)
    states["train/0"] = "done"
    assert clock.time_left(states, 1) == pytest.approx(900.0, rel=0.05)


def test_an_end_that_is_reached_leaves_no_time(now):
    tasks = {"train/0": Task("train", "0", "", {})}
    clock = Clock({"train/0": Cost(100.0, 0)}, tasks)
    clock.start("train/0")
    now[0] += 5
    clock.stop("train/0", 5.0)
    assert clock.time_left({"train/0": "done"}, 2) == 0.0


def test_a_time_that_was_stated_too_short_does_not_run_down_to_nothing(now):
    """Ten tasks that should take a second each take ten, one after the other."""
    tasks = {f"train/{i}": Task("train", str(i), "", {}) for i in range(10)}
    clock, states = Clock(dict.fromkeys(tasks, Cost(1.0, 0)), tasks), dict.fromkeys(tasks, "pending")
    for n_done, task_id in enumerate(tasks):
        clock.start(task_id)
        states[task_id] = "running"
        for tenth in range(1, 11):
            now[0] += 1
            clock.report(task_id, 0.1 * tenth)
            stated, true = clock.time_left(states, 1), 100 - 10 * n_done - tenth
            assert n_done in (0, 1, 2, 9) or true / 1.5 < stated < 1.5 * true
        clock.stop(task_id, 10.0)
        states[task_id] = "done"
