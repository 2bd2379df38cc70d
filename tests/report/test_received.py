"""A run directory that comes from somebody else: nothing in it makes us write, or read, outside of it."""

import io
import json
import lzma
import os
import shutil
import tarfile
import tracemalloc

import numpy as np
import pytest
from PIL import Image

from thermorbm.cli import run
from thermorbm.cli.report import refresh_results
from thermorbm.errors import FileError
from thermorbm.report import publish as module
from thermorbm.report.page import make_page
from thermorbm.report.publish import ARCHIVE, publish, unpack
from thermorbm.report.run import Run, read_run
from thermorbm.report.section import judge_all
from thermorbm.report.sections import SECTIONS, SUMMARY
from thermorbm.runner.lock import locked, owner
from thermorbm.runner.rundir import KNOWN, OURS, existing_run, open_run, read_plan
from thermorbm.runner.store import Reduced, write_reduced
from thermorbm.study.steps import STEPS


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
    "long name of another file": [member("reduced/x/../../" + "a" * 150 + ".h5")],
    "older name of a type": [member("plan.json", type=tarfile.AREGTYPE)],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_archives_with_anything_but_results_are_refused(name, received):
    archive(received, member("reduced/x/good.h5"), *HOSTILE[name])
    with pytest.raises(FileError, match="cannot be unpacked"):
        unpack(received)
    assert untouched(received)
    assert sorted(file.name for file in received.iterdir()) == [ARCHIVE, "run.json"]


def header(name, size, kind=tarfile.REGTYPE):
    """The first 512 bytes of a member that says it has `size`, 12 bytes as they stand in the file."""
    raw = bytearray(tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT))
    raw[124:136], raw[156:157], raw[148:156] = size, kind, b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw)
    return bytes(raw)


def octal(size):
    return b"%011o\0" % size


NEGATIVE = b"\xff" * 10 + b"\xfe\x00"  # -512: a reader that believes it goes back to where it was
DIGITS = b"7" * (1 << 20)  # in which tarfile would look for a length, from each of them anew
CRAFTED = {
    "size below zero": header("plan.json", NEGATIVE),
    "size beyond the end": header("plan.json", octal(1 << 30)),
    "header to be searched": header("x", octal(len(DIGITS)), tarfile.XHDTYPE) + DIGITS,
    "headers without end": header("x", octal(0), tarfile.XHDTYPE) * 5000,
    "other size in a header": header("x", octal(14), tarfile.XHDTYPE) + b"14 size=-1024\n".ljust(512, b"\0"),
    "not even a header": b"x" * 700,
}


@pytest.mark.parametrize("name", CRAFTED)
def test_headers_of_archives_are_not_believed(name, received):
    (received / ARCHIVE).write_bytes(
        lzma.compress(CRAFTED[name] + header("plan.json", octal(0)) + bytes(1024))
    )
    with pytest.raises(FileError, match=r"cannot be unpacked: .*(no file of a run|cut off|header)"):
        unpack(received)
    assert sorted(file.name for file in received.iterdir()) == [ARCHIVE, "run.json"]


def test_files_with_long_names_come_back(received):
    archive(received, member("plan.json", b"{}"), member(f"reduced/x/{'a' * 150}.h5", b"content"))
    assert unpack(received)
    assert (received / "reduced" / "x" / f"{'a' * 150}.h5").read_bytes() == b"content"
    assert (received / "plan.json").read_bytes() == b"{}"


def test_archives_that_are_cut_off_are_refused(received):
    """Also where only the end mark is missing, and all files are there."""
    archive(received, member("plan.json"))
    (received / ARCHIVE).write_bytes((received / ARCHIVE).read_bytes()[:-8])
    with pytest.raises(FileError, match="cannot be unpacked: it is cut off"):
        unpack(received)


def test_archives_are_not_unfolded_beyond_their_limits(received, monkeypatch):
    archive(received, member("plan.json", bytes(1 << 26)))
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 16)
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match="it holds more than"):
            unpack(received)
        assert tracemalloc.get_traced_memory()[1] < 1 << 25  # of which decompression itself takes 8 MB
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(module, "MOST_MEMORY", 1 << 16)
    with pytest.raises(FileError, match="Memory usage limit exceeded"):
        unpack(received)
    with open(received / ARCHIVE, "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(FileError, match="it has more than"):
        unpack(received)


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
@pytest.mark.parametrize("command", ["report", "status", "publish", "run", "explore", "critical", "info"])
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


PLACES = sorted({*KNOWN, *(f"{name}/x" for name in OURS), "logs/train/a.log", "cache/checkpoints/a.h5"})


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_no_place_of_ours_is_a_link_or_a_pipe(kind, tmp_path):
    """Every name that any command writes or reads."""
    for number, place in enumerate(PLACES):
        target = open_run(tmp_path / str(number), "one").path / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        os.mkfifo(target) if kind == "pipe" else target.symlink_to(tmp_path / "nowhere")
        with pytest.raises(FileError, match="is a link, a pipe or a device"):
            existing_run(tmp_path / str(number))
    assert not (tmp_path / "nowhere").exists()


def test_links_with_names_of_files_under_way_are_not_followed(received, capsys):
    """A lock of another computer is compared with a new file, whose name can be known before."""
    (received / "lock").write_text('{"pid": 1, "host": "elsewhere"}')
    link = received / f".lock.{os.getpid()}.tmp"
    link.symlink_to(received.parent / "victim" / "made")
    assert run(["status", str(received)]) == 2
    assert f"{link}: is a link, a pipe or a device" in capsys.readouterr().err
    assert untouched(received)


def test_pipes_are_not_waited_for(received, capsys):
    os.mkfifo(received / "results.json")
    assert run(["report", str(received)]) == 2
    assert "is a link, a pipe or a device" in capsys.readouterr().err


def test_a_users_own_links_stay(received):
    (received / "notes").symlink_to(received.parent / "victim")
    assert existing_run(received).path == received


NAMED = {
    "study": lambda content: (content["study"], "name"),
    "families": lambda content: (content["families"][0], "name"),
    "variants": lambda content: (content["families"][0]["machines"][0], "group"),
    "extrapolations": lambda content: (content["extrapolations"][0], "name"),
}


@pytest.mark.parametrize("place", NAMED)
def test_names_of_results_are_checked(place, copied_run, change_results):
    def rename(content):
        content["extrapolations"] = [{"name": "x", "nu": 1.0, "sides": [], "rows": []}]
        record, key = NAMED[place](content)
        assert key in record
        record[key] = "x/../../evil"

    change_results(copied_run, rename)
    with pytest.raises(FileError, match=r"is not a valid results file: \w+ must be up to 40 letters"):
        read_run(copied_run)


def test_files_that_results_name_lie_among_the_results(received):
    task = STEPS["measure"].task("x", {"thermal": True}, labels={"family": "f"})
    outside = received.parent / "victim.h5"
    write_reduced(outside, Reduced(task, {}, {"secret": np.arange(3)}))
    (received / "reduced" / "x").mkdir(parents=True)
    shown = Run(received, None)
    for name in ("../victim.h5", "reduced/x/../../../victim.h5", str(outside)):
        assert shown.arrays(name) == {}
    shutil.copy(outside, received / "reduced" / "x" / "y.h5")
    assert set(shown.arrays("reduced/x/y.h5")) == {"secret"}


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


def test_a_directory_is_not_published_into_itself_nor_over_its_parent(copied_publication, tmp_path):
    outer = copied_publication
    shutil.copytree(outer, tmp_path / "inner")
    (tmp_path / "inner").rename(outer / "tables" / "inner")
    before = contents(outer)
    for source, target in (
        (outer / "tables" / "inner", outer),
        (outer, outer / "new"),
        (outer, outer / "tables" / ".." / "a" / "b"),
    ):
        with pytest.raises(FileError, match=f"lies in {source}, or holds it"):
            publish(source, target)
    assert contents(outer) == before


def png(side, kind="PNG"):
    target = io.BytesIO()
    Image.new("1", (side, side)).save(target, kind)
    return target.getvalue()


PICTURES = {
    "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n%%EOF\n",
    "bomb": png(14_000),  # Pillow refuses these
    "large": png(6_000),
    "another kind": png(9, "GIF"),
    "damaged": png(9)[:40] + b"\0\1\2" + png(9)[43:],
    "no picture": b"x",
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_others_are_pictures(name, received, monkeypatch):
    """No other format than PNG is opened: PostScript would be run by an interpreter."""
    (received / "figures").mkdir()
    (received / "study.toml").touch()
    (received / "results.json").write_text("{}")
    monkeypatch.setattr(module, "_archive", lambda run: b"")
    (received / "figures" / "fig-1.png").write_bytes(PICTURES[name])
    with pytest.raises(FileError, match=r"fig-1.png: is not a picture of ours: .*make the report again"):
        publish(received, received.parent / "kept")
    (received / "figures" / "fig-1.png").write_bytes(png(9))
    assert publish(received, received.parent / "kept")["figures"]


def test_publishing_that_fails_leaves_what_was_published(finished_run, copied_publication, monkeypatch):
    (copied_publication / "tables" / "older.csv").write_text("x\n1\n")  # which this run would not make again
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
