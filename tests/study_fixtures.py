import json

import pytest

from thermorbm.study.run import run_study
from thermorbm.study.toml import load_study

MICRO = """\
name = "micro"
seed = 3

[[family]]
name = "2d"
shape = [4, 4]
temperatures = [2.0, 3.0]
samples = 256
held_out = 64
hidden = [4]

[family.changes]
epochs = 2
least_updates = 0
"""

TWO = """
name = "two"
seed = 1

[[family]]
name = "2d"
shape = [4, 4]
temperatures = [2.0, 3.0]
samples = 200
held_out = 50
hidden = [4]
parts = []

[family.changes]
epochs = 1
least_updates = 0
"""

SMALL = """\
name = "small"
title = "Small <b>study</b>"
seed = 3

[[family]]
name = "2d"
shape = [4, 4]
temperatures = [2.0, 3.0]
samples = 512
held_out = 64
hidden = [4]
all_filters = [2.0]

[family.changes]
epochs = 3
least_updates = 0

[family.energies]
temperatures = [1.0, 5.0]
samples = 256

[[family.variant]]
name = "all"
union = true
proportions = [1, 0.5]
"""


@pytest.fixture
def write_study(tmp_path):
    """Writes the text of a study, with some pieces replaced and more added, to a file and gives its path."""

    def write(text=MICRO, more="", name="study.toml", **replacements):
        for old, new in replacements.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text + more)
        return path

    return write


@pytest.fixture
def micro(write_study):
    """A study of two temperatures that takes no time once the libraries are loaded."""
    return load_study(write_study())


class Recorder:
    """A listener that remembers."""

    def __init__(self):
        self.notes, self.snapshots = [], []

    def note(self, text):
        self.notes.append(text)

    def update(self, snapshot):
        self.snapshots.append(snapshot)


@pytest.fixture
def recorder():
    return Recorder()


class Silent:
    """A listener to which nothing should be told."""

    def note(self, text):
        raise AssertionError(f"unexpected: {text}")

    def update(self, snapshot):
        pass


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A small study that has run to its end in two workers: the summary."""
    place = tmp_path_factory.mktemp("finished")
    (place / "small.toml").write_text(SMALL)
    return run_study(place / "small.toml", place / "run", Silent(), n_workers=2)


@pytest.fixture
def small_file(tmp_path):
    """The file of that study."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def results():
    """A function that reads results.json of a run directory, but for the timings."""

    def read(path):
        content = json.loads((path / "results.json").read_text())
        del content["timings"]
        return content

    return read
