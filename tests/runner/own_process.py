"""Workers that are no processes: for tests of everything but those."""

from thermorbm.runner import worker
from thermorbm.runner.pool import Answer
from thermorbm.runner.task import Room


class Silent:
    def note(self, text):
        pass

    def update(self, snapshot):
        pass


class OneWorker:
    """Workers for the executor: one, that is asked for its answer when it is waited for."""

    n_workers, room = 1, Room(1 << 40)
    _given = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @property
    def n_idle(self):
        return int(self._given is None)

    def give(self, task):
        self._given = task

    def answers(self, timeout):
        task, self._given = self._given, None
        yield Answer(task.id, self.answer(task))


class OwnProcess(OneWorker):
    """Does the tasks here."""

    def __init__(self, directory):
        self._directory = directory

    def answer(self, task):
        return worker._answer(self._directory.path, {"task": task.to_dict()}, lambda message: None)
