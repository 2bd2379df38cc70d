import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from thermorbm.report import build
from thermorbm.report.publish import publish
from thermorbm.study.run import run_study

# Everything that a report can show, on lattices that take no time. The title must not become markup.
EVERYTHING = """\
name = "everything"
title = "Small <script>alert(1)</script> & <b>bold</b> study"
seed = 5

[[family]]
name = "2d"
shape = [4, 4]
temperatures = [1.0, 1.5, 2.0, 2.25, 2.5, 3.0, 3.5]
samples = 256
held_out = 64
hidden = [4, 9]
all_filters = [2.25]

[family.changes]
batch_size = 32
epochs = 45
least_updates = 0

[family.energies]
temperatures = {from = 0.8, to = 4.0, count = 9}
samples = 128

[[family.variant]]
name = "all-T"
union = true
hidden = [4]

[[family.variant]]
name = "hot"
union = true
hidden = [4]
proportions = [1, 1, 1, 1, 2, 2, 2]

[[family.variant]]
name = "zero-bias"
zero_bias = true
hidden = [4]

[[family.variant]]
name = "signs"
sector = 0.6
hidden = [4]
temperatures = [2.0, 2.25]

[[family]]
name = "3d"
shape = [3, 3, 3]
temperatures = [3.0, 4.5, 6.0]
samples = 128
held_out = 32
hidden = [4]
parts = ["thermal", "weights", "critical"]

[family.changes]
epochs = 2
least_updates = 0
"""

OWN_DATA = """\
name = "own"
title = "Own data $x$ <i>"
seed = 2

[control]
name = "pressure"
symbol = "p<b>$"
unit = "GPa & more"

[[family]]
name = "crystal"
hidden = [3]

[family.changes]
epochs = 2
least_updates = 0
"""


class Silent:
    """A listener to whom everything may be told."""

    def note(self, text):
        pass

    def update(self, snapshot):
        pass


def once(tmp_path_factory, worker_id, name, make):
    """make(directory) run by one of the parallel workers; the others wait and share what it made."""
    base = tmp_path_factory.getbasetemp()
    root = base if worker_id == "master" else base.parent
    place = root / f"shared-{name}"
    with FileLock(root / f"{name}.lock"):
        if not (place / "done").exists():
            place.mkdir()
            make(place)
            (place / "done").touch()
    return place / "run"


@pytest.fixture(scope="session")
def worker_id(request):
    return getattr(request.config, "workerinput", {}).get("workerid", "master")


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory, worker_id):
    """A run directory in which everything was computed, with its report. Not to be changed."""

    def make(place):
        (place / "study.toml").write_text(EVERYTHING)
        summary = run_study(place / "study.toml", place / "run", Silent(), n_workers=2)
        assert summary.is_complete
        build(place / "run")

    return once(tmp_path_factory, worker_id, "everything", make)


@pytest.fixture(scope="session")
def own_data_run(tmp_path_factory, worker_id):
    """A run on users' configurations without a lattice, over a pressure, with its report."""

    def make(place):
        rng, text = np.random.default_rng(1), OWN_DATA
        for index, bias in enumerate((0.5, 0.6, 0.8)):
            spins = np.where(rng.random((256, 12)) < bias, 1, -1).astype(np.int8)
            np.save(place / f"data{index}.npy", spins)
            text += f'\n[[data]]\nfile = "data{index}.npy"\nvalue = {index + 1}.5\n'
        (place / "study.toml").write_text(text)
        run_study(place / "study.toml", place / "run", Silent(), n_workers=1)
        build(place / "run")

    return once(tmp_path_factory, worker_id, "own-data", make)


@pytest.fixture(scope="session")
def published_run(finished_run, tmp_path_factory, worker_id):
    """What is published of the finished run. Not to be changed."""
    return once(tmp_path_factory, worker_id, "published", lambda place: publish(finished_run, place / "run"))


@pytest.fixture
def copied_publication(published_run, tmp_path):
    """A copy of what was published that a test may change."""
    return shutil.copytree(published_run, tmp_path / "results")


@pytest.fixture
def copied_run(finished_run, tmp_path):
    """A copy of the finished run that a test may damage, without its report."""
    place = tmp_path / "copy"
    shutil.copytree(
        finished_run, place, ignore=shutil.ignore_patterns("cache", "logs", "figures", "report.html")
    )
    return place


@pytest.fixture(scope="session")
def page(finished_run):
    return (finished_run / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def quick_figures(monkeypatch):
    """Figures are made but not rendered, which takes most of the time; for reports with one worker."""
    from thermorbm.report import drawing as module
    from thermorbm.report.style import Drawing

    drawing = Drawing(b"<svg>", b"png", "data:,", 1, 1)
    monkeypatch.setattr(module, "finish", lambda figure, lossy=False: drawing)


@pytest.fixture
def change_results():
    """Applies a function to results.json of a run directory."""

    def change(path: Path, function):
        content = json.loads((path / "results.json").read_text())
        function(content)
        (path / "results.json").write_text(json.dumps(content))

    return change
