"""The run directory: where everything of a study lies.

study.toml  run.json  plan.json  state.json  lock
shards/3-of-16.{lock,json}     the same of every shard
reduced/KIND/NAME-HASH.h5      kilobytes each; report and tables can be made from these and plan.json alone
cache/KIND/NAME-HASH.h5        configurations and machines; may be deleted when the study is done
cache/checkpoints/...          of trainings under way
logs/KIND/NAME-HASH.log        one per task
failed/KIND/NAME-HASH.json     errors of tasks that did not end well
results.json  tables/*.csv     what was found
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermorbm.errors import FileError
from thermorbm.runner.lock import owner
from thermorbm.runner.task import Task
from thermorbm.storage import atomic_path, create_json, read_json, write_json

FORMAT = 1
RESULTS = ("reduced", "cache")
OURS = ("shards", *RESULTS, "logs", "failed", "tables", "figures")
PAGES = ("report.html", "explore.html")
FILES = ("run.json", "study.toml", "plan.json", "state.json", "lock", "results.json", *PAGES)
KNOWN = frozenset((*OURS, *FILES, "reduced.tar.xz"))
BEGINNING = re.compile(r"\.run\.json\..*\.tmp")  # left by a writer that was killed
TEMPORARY = re.compile(r"\..*\.tmp")  # files under way, of any kind


@dataclass(frozen=True)
class RunDirectory:
    """The places of a study's files."""

    path: Path

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def state(self) -> Path:
        return self.path / "state.json"

    @property
    def plan(self) -> Path:
        return self.path / "plan.json"

    @property
    def results(self) -> Path:
        return self.path / "results.json"

    def reduced(self, task_id: str) -> Path:
        return self.path / "reduced" / f"{task_id}.h5"

    def large(self, task_id: str) -> Path:
        return self.path / "cache" / f"{task_id}.h5"

    def checkpoint(self, task_id: str) -> Path:
        return self.path / "cache" / "checkpoints" / f"{Path(task_id).name}.h5"

    def log(self, task_id: str) -> Path:
        return self.path / "logs" / f"{task_id}.log"

    def failure(self, task_id: str) -> Path:
        return self.path / "failed" / f"{task_id}.json"


def open_run(path: Path, study: str, fresh: bool = False) -> RunDirectory:
    """The run directory of that study, made if it is not there; FileError if it is something else's.

    fresh: links in it are removed, and what they lead to stays.
    """
    directory, another = RunDirectory(path), "name another with --out"
    try:
        path.mkdir(parents=True, exist_ok=True)
        for entry in strange_entries(directory) if fresh else ():
            entry.unlink()
        owner_study = _identity(directory) or _begin(directory, study)
        if owner_study is None:
            raise FileError(path, "is not empty and not a run directory", another)
        if owner_study != study:
            raise FileError(path, f"holds the study {owner_study!r}, not {study!r}", another)
    except FileError:
        raise
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}", another) from error
    return directory


def _begin(directory: RunDirectory, study: str) -> str | None:
    """Makes an empty directory that study's; the name of the study that lies there then, None if it is full.

    Shards begin together, and a writer may have been killed: what others of us write here is no obstacle, nor
    are results that were copied here from another run.
    """
    is_empty = all(
        file.name in RESULTS or BEGINNING.fullmatch(file.name) for file in directory.path.iterdir()
    )
    if is_empty:
        with contextlib.suppress(FileNotFoundError):  # another was first, and cleared our temporary file away
            create_json(directory.path / "run.json", {"format": FORMAT, "study": study})
    return _identity(directory)


def existing_run(path: Path) -> RunDirectory:
    """The run directory at `path`; FileError if there is none."""
    directory = RunDirectory(path)
    if not path.is_dir() or _identity(directory) is None:
        raise FileError(path, "is not a run directory", "make one with: thermorbm run STUDY --out DIR")
    return directory


def _identity(directory: RunDirectory) -> str | None:
    """The name of the study that lies there, None if the directory is not a run directory."""
    for entry in strange_entries(directory):
        problem = "is a link, a pipe or a device, which a run directory does not hold"
        raise FileError(entry, problem, "put a file or a directory in its place; --fresh removes it")
    file = directory.path / "run.json"
    if not file.exists():
        return None
    stored = read_json(file)
    if stored.get("format") != FORMAT or not isinstance(stored.get("study"), str):
        raise FileError(file, f"has format {stored.get('format')!r}, this program reads {FORMAT}")
    return str(stored["study"])


def strange_entries(directory: RunDirectory) -> Iterator[Path]:
    """What stands in a place of ours and is neither a file nor a directory.

    A directory of somebody else may hold links that lead out of it, and nothing there is to be written.
    """
    places = [os.fspath(directory.path)]
    while places:
        with os.scandir(places.pop()) as entries:
            for entry in entries:
                is_at_top = os.path.dirname(entry.path) == os.fspath(directory.path)
                if is_at_top and entry.name not in KNOWN and not TEMPORARY.fullmatch(entry.name):
                    continue  # a user's own
                if entry.is_dir(follow_symlinks=False):
                    places.append(entry.path)
                elif not entry.is_file(follow_symlinks=False) and os.path.lexists(entry.path):
                    yield Path(entry.path)  # a file that has vanished in the meantime is none either


def prepare(directory: RunDirectory, toml: str, tasks: Iterable[Task]) -> None:
    """Makes the subdirectories, writes study and plan, and clears away what interrupted writes left."""
    tasks = list(tasks)
    make_places(directory, tasks)
    (directory.path / "shards").mkdir(exist_ok=True)
    remove_leftovers(directory)
    with atomic_path(directory.path / "study.toml") as temporary:
        temporary.write_text(toml, encoding="utf-8")
    write_json(directory.plan, {"format": FORMAT, "tasks": [task.to_dict() for task in tasks]})


def make_places(directory: RunDirectory, tasks: Iterable[Task]) -> None:
    """Makes the subdirectories that the files of these tasks lie in."""
    for kind in dict.fromkeys(task.kind for task in tasks):
        for place in ("reduced", "logs", "failed", "cache"):
            (directory.path / place / kind).mkdir(parents=True, exist_ok=True)
    (directory.path / "cache" / "checkpoints").mkdir(parents=True, exist_ok=True)


def remove_leftovers(directory: RunDirectory) -> None:
    """Removes temporary files of writers that were killed; only the holder of the lock may do so.

    While shards are at work it cannot be told which of them are being written.
    """
    if shard_owners(directory):
        return
    places = [directory.path / name for name in OURS]  # of users' own directories nothing is removed
    for file in [
        *directory.path.glob(".*.tmp"),
        *(file for place in places for file in place.rglob(".*.tmp")),
    ]:
        if file.is_dir():  # of results that were being published
            shutil.rmtree(file, ignore_errors=True)
        else:
            file.unlink(missing_ok=True)


def clear(directory: RunDirectory) -> None:
    """Removes everything that a run has made; users' own files in the directory stay."""
    for name in OURS:
        if (directory.path / name).exists():
            shutil.rmtree(directory.path / name)
    for name in ("results.json", "state.json", "plan.json", *PAGES):
        (directory.path / name).unlink(missing_ok=True)


def read_plan(directory: RunDirectory) -> dict[str, Task]:
    """The tasks of the last run, by id."""
    stored = read_json(directory.plan)
    try:
        tasks = [Task.from_dict(item) for item in stored["tasks"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(directory.plan, "is damaged", "run the study again") from error
    return {task.id: task for task in tasks}


def shard_owners(directory: RunDirectory) -> dict[str, dict[str, Any]]:
    """Who is at work on which shard: "3-of-16" -> pid and host."""
    owners = {path.stem: owner(path) for path in sorted((directory.path / "shards").glob("*.lock"))}
    return {name: who for name, who in owners.items() if who is not None}
