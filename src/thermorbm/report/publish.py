"""The part of a run directory that is worth keeping under version control: numbers, tables, pictures.

DIR/study.toml  run.json  results.json  tables/*.csv
DIR/figures/*.png     in 256 colours
DIR/reduced.tar.xz    plan and reduced results: report and tables can be made again from them
No machines, no configurations, and of the reduced results no arrays that no figure shows.
"""

from __future__ import annotations

import io
import lzma
import shutil
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from thermorbm.errors import FileError
from thermorbm.report.run import read_run
from thermorbm.report.section import judge_all
from thermorbm.report.sections import SECTIONS, all_figures
from thermorbm.report.style import few_colours, our_style
from thermorbm.runner.rundir import RunDirectory, existing_run, open_run, read_plan
from thermorbm.runner.store import read_values, write_reduced
from thermorbm.storage import atomic_path, read_json

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
    _write(target / ARCHIVE, _archive(run))
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


def _archive(directory: RunDirectory) -> bytes:
    """A tar of plan and reduced results; without times and owners: equal results give equal bytes."""
    shown, target = _shown(directory.path), io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:xz", preset=9) as archive:
        _add(archive, directory.plan.name, directory.plan.read_bytes())
        for task_id in sorted(read_plan(directory)):
            file = directory.reduced(task_id)
            if file.exists():
                name = file.relative_to(directory.path).as_posix()
                _add(archive, name, file.read_bytes() if name in shown else _without_arrays(file))
    return target.getvalue()


def _shown(path: Path) -> frozenset[str]:
    """Files whose arrays figures or claims ask for."""
    run = read_run(path)
    with our_style():
        for figure in all_figures():
            list(figure.attempts(run))
    judge_all(SECTIONS, run)
    return run.files_read


def _without_arrays(file: Path) -> bytes:
    result = read_values(file)
    with TemporaryDirectory() as place:
        thin = Path(place) / file.name
        write_reduced(thin, result)
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
