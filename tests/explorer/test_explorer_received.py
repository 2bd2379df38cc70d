"""The explorer of a run directory that comes from somebody else: whatever its files hold, there is a page."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from thermorbm import RBM, Dataset
from thermorbm.explorer import build_explorer
from thermorbm.explorer.content import _task_id
from thermorbm.runner.store import read_reduced, write_reduced
from thermorbm.storage import stated_checksum

SPOILED = {
    "not finite": lambda array: np.full(array.shape, np.nan),
    "infinite": lambda array: np.full(array.shape, np.inf),
    "far apart": lambda array: np.array([0.0, 1e-300, 1e300]),
    "empty": lambda array: array[:0],
    "one number": lambda array: np.array(3.0),
    "texts": lambda array: np.full(array.shape, b"abc"),
    "complex": lambda array: array.astype(complex),
}


def page_of(path):
    return build_explorer(path).read_text(encoding="utf-8")


def spoil(path, kind, name, change):
    """Changes an array of all results of that kind, with good checksums."""
    for file in (path / "reduced" / kind).glob("*.h5"):
        result = read_reduced(file)
        if name in result.arrays:
            arrays = {**result.arrays, name: change(result.arrays[name])}
            write_reduced(file, replace(result, arrays=arrays))


@pytest.mark.parametrize("how", SPOILED)
@pytest.mark.filterwarnings("ignore")  # of NumPy, on infinite numbers
def test_arrays_that_nobody_expects(how, copied_run):
    shutil.rmtree(copied_run / "cache")
    spoil(copied_run, "measure", "samples.energy", SPOILED[how])
    assert "Configurations at 2 cannot be shown" in page_of(copied_run)
    for name in ("filters", "all_filters"):
        spoil(copied_run, "weights", name, SPOILED[how])
    page = page_of(copied_run)
    if how in ("empty", "one number", "texts"):
        assert "The machine main at 2 cannot be shown" in page


def test_machines_and_configurations_of_other_lattices(copied_run):
    machine = RBM(np.zeros((3, 7)), np.zeros(7), np.zeros(3))
    data = Dataset.from_spins(np.ones((9, 7), np.int8), temperature=1.0)
    for kind, foreign in (("train", machine), ("sample", data)):
        for file in (copied_run / "cache" / kind).glob("2d-*.h5"):
            foreign.save(file)
            reduced = copied_run / "reduced" / kind / file.name
            write_reduced(reduced, replace(read_reduced(reduced), large=stated_checksum(file)))
    page = page_of(copied_run)
    assert "The machine main at 2 cannot be shown: it has 7 visible units for 64 sites" in page
    assert "Configurations at 2 cannot be shown: they have 7 sites, not 64" in page


def test_shapes_values_and_labels_that_nobody_expects(copied_run, tmp_path):
    results = json.loads((copied_run / "results.json").read_text())
    for shape in ([0, 0], [-8, -8], [10**9, 10**9]):
        results["families"][0]["shape"] = shape
        (copied_run / "results.json").write_text(json.dumps(results))
        page_of(copied_run)
    for row in results["families"][0]["data"]:
        row["thermal"] = {name: {"value": None, "error": None} for name in row["thermal"]}
    (copied_run / "results.json").write_text(json.dumps(results))
    plan = json.loads((copied_run / "plan.json").read_text())
    for task in plan["tasks"]:
        task["labels"]["value"] = "x"
    (copied_run / "plan.json").write_text(json.dumps(plan))
    shutil.rmtree(copied_run / "cache")
    (data,) = re.findall(r'id="explorer-data">(.*?)</script>', page_of(copied_run))
    assert "NaN" not in data  # which is no JSON, and would end all scripts of the page


def test_machines_are_looked_for_among_the_results():
    assert _task_id("reduced/train/x-1.h5") == "train/x-1"
    for name in (None, "../x.h5", "reduced/../../x.h5", "reduced/train/../../../x.h5", "/etc/passwd"):
        assert _task_id(name) is None
