"""Which tasks run, in which order, and what a failure does to the others."""

import pytest

from thermorbm.runner.executor import Schedule, needed
from thermorbm.runner.task import Cost, Room
from thermorbm.study.steps import STEPS

DATA = STEPS["sample"].task("data", {"seed": 1})
MEASURE = STEPS["measure"].task("data", {}, [DATA])
TRAIN = STEPS["train"].task("m", {}, [DATA])
OBSERVE = STEPS["observe"].task("m", {}, [TRAIN, DATA])
ESTIMATE = STEPS["estimate"].task("all", {}, [MEASURE, OBSERVE])
TASKS = {task.id: task for task in (DATA, MEASURE, TRAIN, OBSERVE, ESTIMATE)}
ALL = set(TASKS)


def ids(*tasks):
    return {task.id for task in tasks}


@pytest.mark.parametrize(
    ("good", "large", "todo"),
    [
        (set(), set(), ALL),
        (ALL, set(), set()),  # the cache may be deleted once all is done
        (ALL, ids(DATA, TRAIN), set()),
        (ALL - ids(ESTIMATE), set(), ids(ESTIMATE)),  # made of reduced results alone
        (ALL - ids(OBSERVE), ids(DATA, TRAIN), ids(OBSERVE)),
        (ALL - ids(OBSERVE), ids(DATA), ids(OBSERVE, TRAIN)),
        (ALL - ids(OBSERVE), set(), ids(OBSERVE, TRAIN, DATA)),
        (ALL - ids(MEASURE), ids(TRAIN), ids(MEASURE, DATA)),
    ],
)
def test_what_is_needed(good, large, todo):
    assert needed(TASKS, good, large) == todo


def schedule(todo=ALL, seconds=None, memory=1):
    costs = {task_id: Cost((seconds or {}).get(task_id, 1.0), memory) for task_id in TASKS}
    return Schedule(TASKS, todo, costs)


def test_inputs_come_first_and_what_is_made_is_read_before_more_is_made():
    plan, order = schedule(seconds={TRAIN.id: 100.0}), []
    while (task_id := plan.next(Room(100))) is not None:
        plan.start(task_id)
        plan.finish(task_id)
        order.append(task_id)
    assert order == [task.id for task in (DATA, MEASURE, TRAIN, OBSERVE, ESTIMATE)]


def test_of_two_trainings_the_longer_comes_first():
    other = STEPS["train"].task("n", {}, [DATA])
    tasks = TASKS | {other.id: other}
    costs = {task_id: Cost(100.0 if task_id == other.id else 1.0, 1) for task_id in tasks}
    plan = Schedule(tasks, ids(TRAIN, OBSERVE, ESTIMATE, other), costs)
    assert plan.next(Room(100)) == other.id


def test_memory_bounds_what_runs_together_but_never_stops_all():
    plan = schedule(todo=ids(MEASURE, TRAIN), memory=10)
    first = plan.next(Room(15))
    plan.start(first)
    assert plan.next(Room(15)) is None
    assert plan.next(Room(20)) is not None
    plan.finish(first)
    assert plan.next(Room(5)) is not None


def test_a_failure_skips_what_needs_it_and_nothing_else():
    plan = schedule()
    plan.finish(DATA.id)
    assert set(plan.fail(TRAIN.id)) == ids(OBSERVE, ESTIMATE)
    assert plan.next(Room(100)) == MEASURE.id
    plan.finish(MEASURE.id)
    assert plan.next(Room(100)) is None
    assert set(plan.states.values()) == {"done", "failed", "skipped"}


def test_a_damaged_result_is_made_again_before_its_reader():
    plan = schedule(todo=ids(OBSERVE, ESTIMATE))
    plan.start(OBSERVE.id)
    plan.remake(TRAIN.id, OBSERVE.id)
    assert plan.next(Room(100)) == TRAIN.id
    plan.start(TRAIN.id)
    assert plan.next(Room(100)) is None
    plan.finish(TRAIN.id)
    assert plan.next(Room(100)) == OBSERVE.id


def test_a_task_that_wants_a_gpu_waits_for_one():
    costs = {task_id: Cost(1.0, 1, gpus=int(task_id == TRAIN.id)) for task_id in TASKS}
    plan = Schedule(TASKS, ids(MEASURE, TRAIN), costs)
    plan.start(MEASURE.id)
    assert plan.next(Room(100, gpus=0)) is None
    assert plan.next(Room(100, gpus=1)) == TRAIN.id
