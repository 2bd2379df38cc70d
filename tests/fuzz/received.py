"""Fuzz targets: run directories of somebody else, with damage and malice in every file."""

import functools
import io
import json
import lzma
import os
import shutil
import tarfile
from pathlib import Path

import numpy as np

from fuzz.mutations import damaged, strange
from thermorbm.cli.report import refresh_results
from thermorbm.report.page import make_page
from thermorbm.report.publish import ARCHIVE, unpack
from thermorbm.report.run import read_run
from thermorbm.report.section import judge_all
from thermorbm.report.sections import SECTIONS, SUMMARY, all_figures
from thermorbm.runner.progress import read_status
from thermorbm.runner.rundir import existing_run
from thermorbm.storage import write_hdf5
from thermorbm.training import checkpoint as checkpoints

PUBLISHED = Path(__file__).parents[2] / "results" / "paper"
MOST_ROWS = 2  # of every list in the results that are damaged: the whole would take too long
MOST_BYTES = 20_000  # of every file in the archives that are damaged
NAMES = [
    "plan.json", "../plan.json", "/tmp/evil", "reduced", "reduced/..", "reduced/x/../../../evil.h5", "lock",
    "reduced/x/a.h5", "reduced/x/a.h5/b.h5", "", ".", "x" * 300, "reduced/x/\u202e.h5", "reduced/x/\n.h5",
]  # fmt: skip
STATE = {
    "running": [{"name": "train/x", "seconds": 1.0, "fraction": 0.5}], "eta_seconds": 3.0, "workers": 2,
    "last_error": "x",
}  # fmt: skip
TYPES = [
    tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE,
    tarfile.GNUTYPE_SPARSE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, b"?",
]  # fmt: skip


def results(draw, place):
    """results.json with values of all kinds; what can be read is judged and put into tables and a page."""
    path = _new(place)
    (path / "run.json").write_bytes(_files()["run.json"])
    _write_json(path / "results.json", hostile(_results(), draw))
    run = read_run(path)
    if draw.random() < 0.01:  # which takes a second
        drawn = {figure: [] for section in (SUMMARY, *SECTIONS) for figure in section.figures}
        make_page(run, drawn, judge_all(SECTIONS, run))
        for figure in all_figures():
            list(figure.attempts(run))


def archive(draw, place):
    """Archives with damage before and after their compression, and members that nobody expects."""
    path = _new(place)
    (path / "run.json").write_bytes(_files()["run.json"])
    match draw.randrange(4):
        case 0:
            content = damaged(_files()[ARCHIVE], draw)
        case 1:
            content = lzma.compress(damaged(_tar(_members()), draw), preset=0)
        case _:
            content = lzma.compress(
                _tar([_strange_member(draw) for _ in range(draw.randint(1, 4))]), preset=0
            )
    (path / ARCHIVE).write_bytes(content)
    try:
        unpack(path)
    finally:
        _check_nothing_outside(place)


def checkpoint(draw, place):
    """Well-sealed checkpoints with arrays and values that do not belong to the run."""
    state = {
        "parameter.W": np.zeros((3, 4), np.float32),
        "units": np.zeros(4, np.uint64),
        "progress": np.ones(2),
    }
    history = {"update": np.arange(3.0), "rate": np.ones(3)}
    run = {"n_sites": 4, "recipe": {"name": "fast", "epochs": 3}, "seed": 1}
    arrays = {**state, **{f"history.{name}": column for name, column in history.items()}}
    arrays = {name: _strange_array(array, draw) for name, array in arrays.items() if draw.random() > 0.05}
    saved = run if draw.random() < 0.7 else strange(run, draw)
    write_hdf5(
        place / "c.h5", checkpoints.KIND, arrays, {"run": saved, "history": strange(list(history), draw)}
    )
    loaded, columns = checkpoints.load(place / "c.h5", run, state, list(history))
    assert {name: array.shape for name, array in loaded.items()} == {n: a.shape for n, a in state.items()}
    assert set(columns) in (set(), set(history))


def published(draw, place):
    """A published directory of which one file is damaged, replaced, or something else than a file."""
    path = _new(place)
    for name, content in _files().items():
        (path / name).write_bytes(content)
    if draw.random() < 0.5:
        (path / "lock").write_text('{"pid": 1, "host": "elsewhere"}')  # so that its state is looked at
    others = {"tables", "reduced", "lock", "report.html", "plan.json", "state.json"}
    _spoil(path / draw.choice(sorted({*_files(), *others})), draw, place)
    try:
        existing_run(path)
        refresh_results(path)
        read_status(existing_run(path))
    finally:
        _check_nothing_outside(place)


TARGETS = (results, archive, checkpoint, published)


def _new(place):
    shutil.rmtree(place, ignore_errors=True)
    (place / "run").mkdir(parents=True)
    (place / "precious").write_text("precious")
    return place / "run"


def _check_nothing_outside(place):
    assert sorted(file.name for file in place.iterdir()) == ["precious", "run"]
    assert (place / "precious").read_text() == "precious"


def _spoil(victim, draw, place):
    before = victim.read_bytes() if victim.exists() else b"x"
    victim.unlink(missing_ok=True)
    match draw.randrange(8):
        case 0:
            victim.symlink_to(place / "precious")
        case 1:
            victim.symlink_to(place)
        case 2:
            os.mkfifo(victim)
        case 3:
            victim.mkdir()
        case 4 | 5 if victim.suffix == ".json":
            _write_json(victim, hostile(json.loads(before) if before != b"x" else STATE, draw))
        case _:
            victim.write_bytes(damaged(before, draw))


def hostile(value, draw):
    """One to three places of parsed JSON changed, so that most of it can still be read."""
    changed = json.loads(json.dumps(value))
    for _ in range(draw.randint(1, 3)):
        parent, key = None, None
        node = changed
        while isinstance(node, dict | list) and node and draw.random() < 0.9:
            parent, key = node, draw.choice(list(node) if isinstance(node, dict) else range(len(node)))
            node = parent[key]
        if parent is not None:
            parent[key] = draw.choice(["x/../../evil", "\x1b[2J", "\ud800", 10**400, -1, strange(node, draw)])
    return changed


def _write_json(path, value):
    path.write_text(json.dumps(value))


def _strange_member(draw):
    info = tarfile.TarInfo(draw.choice(NAMES))
    info.type = draw.choice(TYPES) if draw.random() < 0.5 else tarfile.REGTYPE
    info.linkname = draw.choice(["", "../precious", "/etc/passwd", "plan.json"])
    content = draw.randbytes(draw.choice([0, 1, 600]))
    info.size = len(content)
    if draw.random() < 0.1:
        info.pax_headers = {"path": "../evil", "size": draw.choice(["-1", "9" * 30, "x"])}
    return info, content


def _tar(members):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return target.getvalue()


def _strange_array(array, draw):
    match draw.randrange(10):
        case 0:
            return array.astype(draw.choice([np.float64, np.int8, np.complex64, bool, "S3"]))
        case 1:
            return array.reshape(-1)[:1]
        case 2:
            return array[:0]
        case 3:
            return np.full(array.shape, draw.choice([np.nan, np.inf, -1]))
        case 4:
            return array[..., None]
        case _:
            return array


@functools.cache
def _results():
    return _thin(json.loads((PUBLISHED / "results.json").read_text()))


def _thin(value):
    if isinstance(value, dict):
        return {key: _thin(item) for key, item in list(value.items())[:60]}
    return [_thin(item) for item in value[:MOST_ROWS]] if isinstance(value, list) else value


@functools.cache
def _members():
    """Some of the published results: a plan of a few tasks of each kind, and their files."""
    chosen, counts = {}, {}
    with tarfile.open(PUBLISHED / ARCHIVE) as source:
        plan = json.load(source.extractfile("plan.json"))
        names = set(source.getnames())
        for task in plan["tasks"]:
            name = f"reduced/{task['kind']}/{task['name']}-{task['hash']}.h5"
            if name not in names or source.getmember(name).size > MOST_BYTES:
                continue
            counts[task["kind"]] = counts.get(task["kind"], 0) + 1
            if counts[task["kind"]] <= 2:
                chosen[name] = source.extractfile(name).read(), task
    plan["tasks"] = [task for _, task in chosen.values()]
    contents = {"plan.json": json.dumps(plan).encode(), **{name: item[0] for name, item in chosen.items()}}
    return [_plain_member(name, content) for name, content in contents.items()]


def _plain_member(name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    return info, content


@functools.cache
def _files():
    """A published directory: content by name."""
    kept = {name: (PUBLISHED / name).read_bytes() for name in ("run.json", "study.toml")}
    thin = json.dumps(_results()).encode()
    return {**kept, "results.json": thin, ARCHIVE: lzma.compress(_tar(_members()), preset=0)}
