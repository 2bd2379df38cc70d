import fcntl
import shutil

import pytest

from explorer_browser import Silent
from thermorbm.explorer import build_explorer
from thermorbm.study.run import run_study

# Dense and symmetric machines in two and three dimensions; the title must not become markup.
STUDY = """\
name = "small"
title = "Small <script>alert(1)</script> & <b>bold</b> study"
seed = 5

[[family]]
name = "2d"
shape = [8, 8]
temperatures = [2.0, 2.5, 3.5]
samples = 1000
held_out = 200
hidden = [16]
parts = ["thermal", "weights"]
all_filters = [2.5]

[family.changes]
epochs = 10
least_updates = 0

[[family.variant]]
name = "as-paper"
as_paper = true
recipe = "paper"
changes = {learning_rate = 1e-2, gibbs_steps = 1, epochs = 10, stop_early = false}
temperatures = [2.5]

[[family.variant]]
name = "symmetric"
filters = [2]
kernel = 3
zero_bias = true
changes = {epochs = 2, least_updates = 0}
temperatures = [2.5, 3.5]

[[family]]
name = "3d"
shape = [4, 3, 5]
temperatures = [5.0]
samples = 500
held_out = 100
hidden = [8]
parts = ["thermal"]

[family.changes]
epochs = 5
least_updates = 0

[[family.variant]]
name = "symmetric"
filters = [2]
kernel = 2
changes = {epochs = 2, least_updates = 0}
"""


@pytest.fixture(scope="session")
def explored_run(tmp_path_factory, request):
    """A finished run with its explorer, made by one of the parallel workers. Not to be changed."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if hasattr(request.config, "workerinput") else base
    place = root / "explored"
    with open(root / "explored.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "run" / "explore.html").exists():
            place.mkdir(exist_ok=True)
            (place / "study.toml").write_text(STUDY)
            assert run_study(place / "study.toml", place / "run", Silent(), n_workers=1).is_complete
            build_explorer(place / "run")
    return place / "run"


@pytest.fixture
def copied_run(explored_run, tmp_path):
    """A copy that a test may damage, without its explorer."""
    place = tmp_path / "copy"
    shutil.copytree(explored_run, place, ignore=shutil.ignore_patterns("logs", "explore.html"))
    return place
