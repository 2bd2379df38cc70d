"""The part of a run directory that is worth keeping under version control: numbers, tables, pictures.

DIR/study.toml  run.json  results.json  tables/*.csv
DIR/figures/*.png     in 256 colours
DIR/reduced.tar.xz    plan and reduced results: report and tables can be made again from them
No machines, no configurations, and of the reduced results no arrays that no figure shows.
"""

from __future__ import annotations

import io
import lzma
import re
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from thermorbm.errors import FileError
from thermorbm.report.run import read_run
from thermorbm.report.section import judge_all
from thermorbm.report.sections import SECTIONS, all_figures
from thermorbm.report.style import few_colours, our_style
from thermorbm.runner.rundir import RunDirectory, existing_run, open_run, read_plan, remove_leftovers
from thermorbm.runner.store import read_reduced, write_reduced
from thermorbm.runner.task import ID
from thermorbm.storage import atomic_path, check_readable, read_json
from thermorbm.study.results import SAMPLES

ARCHIVE = "reduced.tar.xz"
COPIED = ("study.toml", "results.json")
PARTS = (*COPIED, "tables", "figures", ARCHIVE)

# Bounds of what a received archive may hold; the published paper has 1255 files and 15 MB.
PLAN = "plan.json"
MEMBER = re.compile(rf"reduced/{ID.pattern}\.h5")
LONG_NAME = re.compile(rb"\d{1,3} path=([^\n]+)\n")  # what a tar says before a file whose name is long
MOST_MEMBERS = 100_000
MOST_BYTES = 1 << 30
MOST_MEMORY = 1 << 28  # bytes that its decompression may take, of which preset 9 needs a quarter
MOST_PIXELS = 1 << 25  # of a received picture; those of the published paper have at most 2.6 million


def publish(path: Path, target: Path) -> dict[str, int]:
    """Writes what is kept of the run at `path` to `target`, over what was kept before; bytes by part."""
    run = existing_run(path)
    if not (path / "figures").is_dir() or not run.results.exists():
        raise FileError(path, "has no report yet", f"make it with: thermorbm report {path}")
    if target.exists() and target.samefile(path):
        raise FileError(target, "is the run directory itself", "name another directory")
    if path.resolve() in target.resolve().parents or target.resolve() in path.resolve().parents:
        raise FileError(target, f"lies in {path}, or holds it", "name another directory")
    made = open_run(target, str(read_json(path / "run.json")["study"]))
    if (target / "cache").exists():
        raise FileError(target, "is a run directory with its machines", "name another directory")
    remove_leftovers(made)
    try:
        with TemporaryDirectory(dir=made.path, prefix=".publish.", suffix=".tmp") as place:
            _build(run, Path(place))
            _swap(Path(place), made.path)
    except FileError:
        raise
    except OSError as error:
        raise FileError(target, f"cannot be written: {error.strerror or error}") from error
    return {name: _size(made.path / name) for name in PARTS}


def _build(run: RunDirectory, place: Path) -> None:
    """Everything that is kept, whole, beside what was kept before."""
    for name in ("tables", "figures"):
        (place / name).mkdir()
    for name in (*COPIED, *(f"tables/{file.name}" for file in sorted((run.path / "tables").glob("*.csv")))):
        check_readable(run.path / name)
        _write(place / name, (run.path / name).read_bytes())
    for file in sorted((run.path / "figures").glob("*.png")):
        _write(place / "figures" / file.name, _compressed(file))
    _write(place / ARCHIVE, _archive(run))


def _swap(place: Path, target: Path) -> None:
    """Puts every part in its place by renaming; what was there goes away with the directory `place`."""
    for name in ("tables", "figures"):
        if (target / name).exists():
            (target / name).rename(place / f"old-{name}")
        (place / name).rename(target / name)
    for name in (*COPIED, ARCHIVE):
        (place / name).replace(target / name)


def unpack(path: Path) -> bool:
    """Takes plan and reduced results out of the archive of published results, once; whether there was one."""
    archive = path / ARCHIVE
    if (path / "reduced").exists() or not archive.exists():
        return False
    check_readable(archive)
    try:
        with TemporaryDirectory(dir=path, prefix=".unpack.", suffix=".tmp") as place:
            _extract(archive, Path(place))
            if (Path(place) / PLAN).exists():
                (Path(place) / PLAN).replace(path / PLAN)
            (Path(place) / "reduced").rename(path / "reduced")
    except Exception as error:  # tarfile and lzma raise nearly anything on a damaged archive
        raise FileError(archive, f"cannot be unpacked: {error}", "get it again") from error
    return True


def _extract(archive: Path, place: Path) -> None:
    """Writes the members to `place` ourselves; ValueError on any that we would not have put there.

    tarfile would also make links, devices and files elsewhere, its filters can be passed by, and it searches
    a crafted header for hours.
    """
    content = _decompressed(archive)
    (place / "reduced").mkdir()
    for number, (name, data) in enumerate(_members(content)):
        if number >= MOST_MEMBERS:
            raise ValueError(f"it holds more than {MOST_MEMBERS} files")
        (place / name).parent.mkdir(exist_ok=True)
        with open(place / name, "xb") as target:
            target.write(data)


def _decompressed(archive: Path) -> memoryview:
    if archive.stat().st_size > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES >> 20} MB")
    decompressor = lzma.LZMADecompressor(memlimit=MOST_MEMORY)
    content = decompressor.decompress(archive.read_bytes(), MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"it holds more than {MOST_BYTES >> 20} MB")
    if not decompressor.eof:
        raise EOFError("it is cut off")
    return memoryview(content)


def _members(content: memoryview) -> Iterator[tuple[str, memoryview]]:
    """Name and content of every file in a tar of ours; ValueError at anything else."""
    place, long_name = 0, ""
    while any(header := bytes(content[place : place + tarfile.BLOCKSIZE])):
        member = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
        place += tarfile.BLOCKSIZE
        data = content[place : place + max(0, member.size)]
        if len(data) != member.size:
            raise EOFError("it is cut off")
        place += -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
        if member.type == tarfile.XHDTYPE and not long_name and (match := LONG_NAME.fullmatch(data)):
            long_name = match[1].decode()
            continue
        name = long_name or member.name
        if member.type != tarfile.REGTYPE or not (name == PLAN or MEMBER.fullmatch(name)):
            raise ValueError(f"it holds {name!r:.80}, which is no file of a run")
        long_name = ""
        yield name, data


def _compressed(file: Path) -> bytes:
    """The picture in few colours. Opened as PNG alone: Pillow would have an interpreter run PostScript."""
    check_readable(file)
    target = io.BytesIO()
    try:
        with Image.open(file, formats=["PNG"]) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise ValueError(f"it has more than {MOST_PIXELS} pixels")
            few_colours(picture).save(target, format="PNG", optimize=True)
    except Exception as error:  # Pillow raises nearly anything, bombs have a class of their own
        raise FileError(file, f"is not a picture of ours: {error}", "make the report again") from error
    return target.getvalue()


def _archive(directory: RunDirectory) -> bytes:
    """A tar of plan and reduced results; without times and owners: equal results give equal bytes."""
    shown, target = _shown(directory.path), io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:xz", preset=9) as archive:
        _add(archive, directory.plan.name, directory.plan.read_bytes())
        for task_id in sorted(read_plan(directory)):
            file = directory.reduced(task_id)
            if file.exists():
                name = file.relative_to(directory.path).as_posix()
                _add(archive, name, _thinned(file, with_arrays=name in shown))
    return target.getvalue()


def _shown(path: Path) -> frozenset[str]:
    """Files whose arrays figures or claims ask for."""
    run = read_run(path)
    with our_style():
        for figure in all_figures():
            list(figure.attempts(run))
    judge_all(SECTIONS, run)
    return run.files_read


def _thinned(file: Path, with_arrays: bool) -> bytes:
    """A reduced result without arrays, or without those that have a number for every configuration."""
    result = read_reduced(file)
    kept = {name: x for name, x in result.arrays.items() if with_arrays and not name.startswith(SAMPLES)}
    if len(kept) == len(result.arrays):
        return file.read_bytes()
    with TemporaryDirectory() as place:
        thin = Path(place) / file.name
        write_reduced(thin, replace(result, arrays=kept))
        return thin.read_bytes()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _write(path: Path, content: bytes) -> None:
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
