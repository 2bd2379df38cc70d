"""How long a run will take: learnt from its tasks, and stated so that it does not wander."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from thermorbm.runner.task import Cost, Task

# Standard deviations of ln(seconds that a task takes / seconds that its cost says) before anything is
# measured: the parts of the computer, of the kind of task, and of the task itself.
COMPUTER, KIND, TASK = 0.7, 0.7, 0.3
LOAD = 1.0  # how far the part of the computer wanders while a run lasts
OVERHEAD_SECONDS = 0.3  # loading may add as much, so that short tasks say little
# The stated end moves to the estimated one within this share of the time since the begin. From one line
# to the next, that is in a minute or in this share of the time left, the time stated changes by a fifth.
INERTIA, MOST_CHANGE = 0.05, math.log(1.2)
BETWEEN_LINES, SHARE_BETWEEN_LINES = 60.0, 0.05
OVERDUE = 0.1  # a task that should have ended lasts for this share of its time until now


class Pace:
    """How much longer tasks take than their costs say: a Kalman filter.

    ln(seconds / cost) of a task is a sum of three parts: one of the computer, which wanders with its load,
    one of the kind of task, which stays, and one of its own. What is known of the first two, the computer's
    first, is a normal distribution with `mean` and `covariance`.
    """

    def __init__(self, kinds: Iterable[str]) -> None:
        self._places = {kind: 1 + i for i, kind in enumerate(sorted(kinds))}
        self.mean = np.zeros(1 + len(self._places))
        self.covariance = np.diag([COMPUTER**2] + [KIND**2] * len(self._places))

    def wait(self, share: float) -> None:
        """This share of the run's time goes by, in which the load may change."""
        self.covariance[0, 0] += LOAD**2 * share

    def learn(self, kind: str, cost: float, seconds: float, fraction: float = 1.0) -> None:
        """A fraction of a task took so many seconds. cost: seconds that were expected for this fraction."""
        parts = [0, self._places[kind]]
        column = self.covariance[:, parts].sum(axis=1)
        noise = TASK**2 * (1 + OVERHEAD_SECONDS / cost) / fraction
        gain = column / (column[parts].sum() + noise)
        measured = math.log((seconds + OVERHEAD_SECONDS) / (cost + OVERHEAD_SECONDS))
        self.mean += gain * (measured - self.mean[parts].sum())
        self.covariance -= np.outer(gain, column)

    def factors(self) -> dict[str, float]:
        """Seconds that tasks of a kind take over what their costs say, by kind."""
        return {kind: math.exp(self.mean[0] + self.mean[place]) for kind, place in self._places.items()}


@dataclass
class UnderWay:
    """A task that runs. fraction: of it that is done. since, first: when it said so for the first time, and
    what: a task that goes on from a checkpoint does not begin at 0.
    """

    start: float
    since: float
    first: float = 0.0
    fraction: float = 0.0


class Clock:
    """The time left of a run. costs, tasks: by id. under_way: the tasks that run, by id."""

    def __init__(self, costs: Mapping[str, Cost], tasks: Mapping[str, Task]) -> None:
        self._costs, self._tasks = costs, tasks
        self._pace, self._is_measured = Pace({task.kind for task in tasks.values()}), False
        self._began = self._asked = time.monotonic()
        self._end: float | None = None  # the one that was stated last
        self.under_way: dict[str, UnderWay] = {}

    def start(self, task_id: str) -> None:
        self.under_way[task_id] = UnderWay(time.monotonic(), time.monotonic())

    def report(self, task_id: str, fraction: float) -> None:
        item = self.under_way[task_id]
        if item.fraction == 0:
            item.since, item.first = time.monotonic(), fraction
        item.fraction = fraction

    def stop(self, task_id: str, seconds: float | None = None) -> None:
        """seconds: what it took, None if it did not finish."""
        item = self.under_way.pop(task_id)
        if seconds is not None:
            self._learn(self._pace, task_id, seconds - (item.since - item.start), 1 - item.first)

    def time_left(self, states: Mapping[str, str], n_workers: int) -> float | None:
        """Seconds: the work that remains over the number of workers, or the longest task. None before
        anything is measured.
        """
        now, pace = time.monotonic(), deepcopy(self._pace)
        for task_id, item in self.under_way.items():
            elapsed, seen = now - item.since, item.fraction - item.first
            if seen <= 0 and elapsed > self._expected(pace.factors(), task_id):
                seen = 1 - item.first  # it takes at least as long as until now
            self._learn(pace, task_id, elapsed, seen)
        if not self._is_measured:
            return None
        factors = pace.factors()
        rest = [
            self._rest(task_id, self._expected(factors, task_id), now)
            for task_id, state in states.items()
            if state == "pending" or task_id in self.under_way
        ]
        return self._steadied(now, max([0.0, sum(rest) / n_workers, *rest]))

    def _learn(self, pace: Pace, task_id: str, seconds: float, fraction: float) -> None:
        if seconds > 0 and fraction > 0:
            cost = fraction * self._costs[task_id].seconds
            pace.learn(self._tasks[task_id].kind, cost, seconds, fraction)
            self._is_measured = True

    def _expected(self, factors: Mapping[str, float], task_id: str) -> float:
        """Seconds that the whole task should take."""
        return factors[self._tasks[task_id].kind] * self._costs[task_id].seconds

    def _rest(self, task_id: str, expected: float, now: float) -> float:
        """Seconds left of a task: as expected at its begin, and more and more by its own pace."""
        item = self.under_way.get(task_id)
        if item is None:
            return expected
        seen = item.fraction - item.first
        if seen <= 0:
            return max((1 - item.first) * expected - (now - item.since), OVERDUE * (now - item.since))
        return (1 - item.fraction) * ((1 - seen) * expected + now - item.since)

    def _steadied(self, now: float, left: float) -> float:
        """The time left by an end that moves slowly towards the one that is estimated."""
        if self._end is None or left == 0:
            self._end = now + left
        waited, elapsed = now - self._asked, max(now - self._began, 1e-9)
        change = -math.expm1(-waited / (INERTIA * elapsed)) * (now + left - self._end)
        stated = max(self._end - now, 0.1 * left)
        most = MOST_CHANGE * stated * waited / max(min(SHARE_BETWEEN_LINES * left, BETWEEN_LINES), 1.0)
        self._end += min(max(change, -most), waited + most)
        self._pace.wait(waited / (elapsed + left))
        self._asked = now
        return max(0.0, self._end - now)
