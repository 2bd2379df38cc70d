"""The part of a run directory that is worth keeping under version control: numbers, tables, pictures.

DIR/study.toml  run.json  results.json  tables/*.csv
DIR/figures/*.png     in 256 colours
DIR/reduced.tar.xz    plan and reduced results: report and tables can be made again from them
No machines and no configurations.
"""

from __future__ import annotations

import io
import lzma
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from thermorbm.errors import FileError
from thermorbm.report.style import few_colours
from thermorbm.storage import atomic_path
from thermorbm.study.rundir import existing_run, open_run, read_json, read_plan

ARCHIVE = "reduced.tar.xz"
COPIED = ("study.toml", "results.json")


def publish(path: Path, target: Path) -> dict[str, int]:
    """Writes what is kept of the run at `path` to `target`, over what was kept before; bytes by part."""
    run = existing_run(path)
    if not (path / "figures").is_dir() or not run.results.exists():
        raise FileError(path, "has no report yet", f"make it with: thermorbm report {path}")
    made = open_run(target, str(read_json(path / "run.json")["study"]))
    if (target / "cache").exists():
        raise FileError(target, "is a run directory with its machines", "name another directory")
    for name in ("tables", "figures"):
        shutil.rmtree(target / name, ignore_errors=True)
        (target / name).mkdir()
    for name in (*COPIED, *(f"tables/{file.name}" for file in sorted((path / "tables").glob("*.csv")))):
        _write(target / name, (path / name).read_bytes())
    for file in sorted((path / "figures").glob("*.png")):
        _write(target / "figures" / file.name, _compressed(file))
    files = [run.reduced(task_id) for task_id in read_plan(run) if run.reduced(task_id).exists()]
    _write(target / ARCHIVE, _archive(path, [run.plan, *sorted(files)]))
    return {name: _size(made.path / name) for name in (*COPIED, "tables", "figures", ARCHIVE)}


def unpack(path: Path) -> bool:
    """Takes plan and reduced results out of the archive of published results, once; whether there was one."""
    archive = path / ARCHIVE
    if (path / "reduced").exists() or not archive.exists():
        return False
    try:
        with tarfile.open(archive, "r:xz") as members:
            members.extractall(path, filter="data")  # refuses names that lead out of the directory
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        shutil.rmtree(path / "reduced", ignore_errors=True)
        raise FileError(archive, f"cannot be unpacked: {error}", "get it again") from error
    return True


def _compressed(file: Path) -> bytes:
    target = io.BytesIO()
    with Image.open(file) as picture:
        few_colours(picture).save(target, format="PNG", optimize=True)
    return target.getvalue()


def _archive(base: Path, files: Iterable[Path]) -> bytes:
    """A tar of the files; without times and owners, so that equal results give equal bytes."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:xz", preset=9) as archive:
        for file in files:
            content = file.read_bytes()
            member = tarfile.TarInfo(file.relative_to(base).as_posix())
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return target.getvalue()


def _write(path: Path, content: bytes) -> None:
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
