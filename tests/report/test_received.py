"""A run directory that comes from somebody else: nothing in it makes us write, or read, outside of it."""

import io
import json
import os
import tarfile

import pytest

from thermorbm.cli import run
from thermorbm.cli.report import refresh_results
from thermorbm.errors import FileError
from thermorbm.report import publish as module
from thermorbm.report.page import make_page
from thermorbm.report.publish import ARCHIVE, publish, unpack
from thermorbm.report.run import read_run
from thermorbm.report.section import judge_all
from thermorbm.report.sections import SECTIONS, SUMMARY
from thermorbm.runner.lock import locked, owner
from thermorbm.runner.rundir import existing_run, open_run, read_plan


@pytest.fixture
def received(tmp_path):
    """A run directory without content, beside a file that nobody may touch."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "precious").write_text("precious")
    open_run(tmp_path / "run", "one")
    return tmp_path / "run"


def untouched(received):
    place = received.parent / "victim"
    return [(file.name, file.read_text()) for file in place.iterdir()] == [("precious", "precious")]


def member(name, content=b"x", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def archive(path, *members):
    with tarfile.open(path / ARCHIVE, "w:xz") as target:
        for info, content in members:
            target.addfile(info, io.BytesIO(content))


LINK = {"type": tarfile.SYMTYPE, "linkname": "../victim"}
HOSTILE = {
    "absolute": [member("/tmp/evil")],
    "parent": [member("../victim/evil")],
    "parent inside": [member("reduced/x/../../../victim/evil.h5")],
    "link": [member("reduced", b"", **LINK), member("reduced/x/evil.h5")],
    "inner link": [member("reduced/x", b"", **LINK), member("reduced/x/evil.h5")],
    "link as result": [member("reduced/x/a.h5", b"", **LINK)],
    "hard link": [member("reduced/x/a.h5", b"", type=tarfile.LNKTYPE, linkname="plan.json")],
    "pipe": [member("plan.json", b"", type=tarfile.FIFOTYPE)],
    "directory": [member("reduced/x/a.h5", b"", type=tarfile.DIRTYPE)],
    "other file": [member("lock")],
    "other kind": [member("reduced/x/a.py")],
    "twice": [member("plan.json"), member("plan.json")],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_archives_with_anything_but_results_are_refused(name, received):
    archive(received, member("reduced/x/good.h5"), *HOSTILE[name])
    with pytest.raises(FileError, match="cannot be unpacked"):
        unpack(received)
    assert untouched(received)
    assert sorted(file.name for file in received.iterdir()) == [ARCHIVE, "run.json"]


def test_archives_larger_than_any_of_ours_are_refused(received, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 16)
    archive(received, member("plan.json", bytes(1 << 17)))
    with pytest.raises(FileError, match="it holds more than 0 MB"):
        unpack(received)
    monkeypatch.setattr(module, "MOST_MEMBERS", 2)
    archive(received, *(member(f"reduced/x/{name}.h5") for name in "abc"))
    with pytest.raises(FileError, match="it holds more than 2 files"):
        unpack(received)


@pytest.mark.parametrize(
    "place",
    [
        "run.json",
        "lock",
        "results.json",
        "report.html",
        "explore.html",
        "tables",
        "tables/data.csv",
        "reduced/x/a.h5",
    ],
)
@pytest.mark.parametrize("command", ["report", "status", "publish", "run", "explore"])
def test_links_are_not_followed(place, command, received, capsys):
    target = received / place
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.symlink_to(received.parent / "victim" / ("" if place == "tables" else "precious"))
    arguments = {"publish": [str(received), str(received.parent / "kept")], "run": ["tiny", "--out"]}
    assert (
        run([command, *arguments.get(command, []), *([] if command == "publish" else [str(received)])]) == 2
    )
    assert f"{target}: is a link, a pipe or a device" in capsys.readouterr().err
    assert untouched(received)


def test_pipes_are_not_waited_for(received, capsys):
    os.mkfifo(received / "results.json")
    assert run(["report", str(received)]) == 2
    assert "is a link, a pipe or a device" in capsys.readouterr().err


def test_a_users_own_links_stay(received):
    (received / "notes").symlink_to(received.parent / "victim")
    assert existing_run(received).path == received


@pytest.mark.parametrize("key", ["families", "extrapolations"])
def test_names_of_results_are_checked(key, copied_run, change_results):
    def rename(content):
        content[key] = content[key] or [{"name": "", "nu": 1.0, "sides": [], "rows": []}]
        content[key][0]["name"] = "x/../../evil"

    change_results(copied_run, rename)
    with pytest.raises(FileError, match=r"is not a valid results file: name must be up to 40 letters"):
        read_run(copied_run)


def test_names_of_tasks_are_checked(copied_run):
    plan = json.loads((copied_run / "plan.json").read_text())
    plan["tasks"][0]["kind"] = "../../victim"
    (copied_run / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(FileError, match="is damaged"):
        read_plan(existing_run(copied_run))


def contents(directory):
    return {file: file.read_bytes() for file in directory.rglob("*") if file.is_file()}


def test_a_directory_is_not_published_onto_itself(copied_publication, tmp_path):
    before = contents(copied_publication)
    (tmp_path / "same").symlink_to(copied_publication)
    for target in (copied_publication, tmp_path / "same"):
        with pytest.raises(FileError, match="is the run directory itself"):
            publish(copied_publication, target)
    assert contents(copied_publication) == before


def test_publishing_that_fails_leaves_what_was_published(finished_run, copied_publication, monkeypatch):
    before = contents(copied_publication)

    def fail(run):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_archive", fail)
    with pytest.raises(FileError, match="cannot be written: No space left on device"):
        publish(finished_run, copied_publication)
    assert contents(copied_publication) == before


@pytest.mark.parametrize(
    "content",
    [
        '{"pid": Infinity, "host": "x"}',
        '{"pid": 1e30, "host": "x"}',
        '{"pid": -1, "host": "x"}',
        "[" * 4000,
        '{"pid": [], "host": 1}',
        "\\ud800",
        "null",
    ],
)
def test_a_lock_that_says_nothing_is_free(content, received):
    (received / "lock").write_text(content)
    assert owner(received / "lock") is None
    with locked(received / "lock"):
        pass


@pytest.mark.parametrize(
    "state",
    [
        {"running": 5},
        {"running": [5]},
        {"running": [{"name": []}]},
        {"running": [{"name": "x", "fraction": "a", "seconds": None}]},
        {"eta_seconds": "soon"},
        {"last_error": {"a": 1}},
    ],
)
def test_what_a_runner_elsewhere_is_said_to_do_is_not_believed(state, copied_run, capsys):
    (copied_run / "lock").write_text('{"pid": 1, "host": "else\\u001b[2Jwhere"}')
    (copied_run / "state.json").write_text(json.dumps(state))
    assert run(["status", str(copied_run)]) == 0
    said = capsys.readouterr().out
    assert "running: pid 1 on else\\x1b[2Jwhere, time left not known yet\n" in said
    assert "last error" not in said


def test_the_report_leaves_out_results_of_other_tasks(copied_run):
    """Two results of one kind whose files were swapped: neither stands for the other."""
    first, second, *_ = sorted((copied_run / "reduced" / "measure").glob("*.h5"))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    refresh_results(copied_run)
    results = read_run(copied_run).results
    assert sorted(results.tasks.missing) == sorted(f"measure/{file.stem}" for file in (first, second))


def test_no_text_of_the_results_becomes_markup(copied_run, change_results):
    """Every text that is not a name, at once: verdicts, versions, errors, units, kinds."""
    payload = "</script><img src=x onerror=alert(1)>"

    def spoiled(value):
        if isinstance(value, dict):
            return {key: item if key in ("name", "group") else spoiled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [spoiled(item) for item in value]
        return payload if isinstance(value, str) else value

    change_results(copied_run, lambda content: content.update(spoiled(content)))
    received_run = read_run(copied_run)
    drawn = {figure: [] for section in (SUMMARY, *SECTIONS) for figure in section.figures}
    page = make_page(received_run, drawn, judge_all(SECTIONS, received_run))
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page
