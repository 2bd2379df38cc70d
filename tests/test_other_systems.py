"""What exists on Unix alone is not needed: everything imports, and a study runs to its end without it.

A `sitecustomize` takes it away from a process and from all that it starts, and lets files behave as on
Windows: directories cannot be opened, files open for reading alone cannot be flushed.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import thermorbm as tr
from study_fixtures import TWO as STUDY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there the other tests show it")

PACKAGE = Path(tr.__file__).parent
# select and selectors are everywhere, but on Windows they know sockets alone, and no pipes.
OF_UNIX = ("fcntl", "resource", "pwd", "grp", "termios", "pty", "tty", "posix", "select", "selectors")
BLOCKED = ("fcntl", "resource", "pwd", "grp", "termios", "pty", "tty")
OF_OS = (
    "fork",
    "forkpty",
    "killpg",
    "getuid",
    "geteuid",
    "setsid",
    "sysconf",
    "sched_getaffinity",
    "O_NONBLOCK",
)
OF_SIGNAL = ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM")

SITE = f"""
import os, signal, sys
import fcntl as _fcntl
_open, _fsync, _get = os.open, os.fsync, _fcntl.fcntl
def open_(path, *arguments, **options):
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return _open(path, *arguments, **options)
def fsync(descriptor):
    if _get(descriptor, _fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(9, "Bad file descriptor")
    return _fsync(descriptor)
os.open, os.fsync = open_, fsync
for name in {BLOCKED}:
    sys.modules[name] = None  # importing it raises ImportError
for name in {OF_OS}:
    delattr(os, name)
for name in {OF_SIGNAL}:
    delattr(signal, name)
"""


@pytest.fixture
def elsewhere(tmp_path):
    """Runs Python with these arguments on a system that is not Unix, in a directory of its own."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SITE)
    path = os.pathsep.join([str(tmp_path / "site"), str(PACKAGE.parent)])

    def run(*arguments):
        command = [sys.executable, *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_every_module_is_imported(elsewhere):
    assert elsewhere("-c", "import os; print(hasattr(os, 'fork'))") == "False\n"
    code = """
import importlib, pkgutil
import thermorbm as tr
names = [module.name for module in pkgutil.walk_packages(tr.__path__, "thermorbm.")]
print(len([importlib.import_module(name) for name in names if not name.endswith("__main__")]))
"""
    assert int(elsewhere("-c", code)) > 150


def test_a_study_runs(elsewhere, tmp_path):
    (tmp_path / "two.toml").write_text(STUDY)
    elsewhere("-m", "thermorbm", "run", "two.toml", "--out", "run", "--workers", "1", "--no-report")
    results = tr.load_run(tmp_path / "run").results
    assert results.tasks.done == results.tasks.total


@pytest.mark.slow
def test_a_study_runs_with_its_report_and_again(elsewhere, tmp_path):
    (tmp_path / "two.toml").write_text(STUDY)
    command = ("-m", "thermorbm", "run", "two.toml", "--out", "run", "--workers", "2")
    assert "report: run" in elsewhere(*command)
    page = tmp_path / "run" / "report.html"
    drawn = page.stat().st_mtime_ns
    assert page.stat().st_size > 10_000
    assert "report: run" in elsewhere(*command)
    assert page.stat().st_mtime_ns == drawn
    assert "failed" not in elsewhere("-m", "thermorbm", "status", "run")


def test_files_of_others_are_read_one_after_the_other(elsewhere, tmp_path):
    """The child that reads them cannot fork, and is started anew."""
    rng = np.random.default_rng(1)
    for name in ("one", "two"):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["spins"] = rng.choice([-1, 1], size=(5, 16))
    out = elsewhere(
        "-m", "thermorbm", "import", "one.h5", "two.h5", "--shape", "4x4", "-T", "2", "-o", "d.h5"
    )
    assert len(tr.Dataset.load(tmp_path / "d.h5")) == 10, out


def test_nothing_of_unix_is_imported_by_the_way():
    """Imports of such modules stand in functions that can do without, and nothing waits for pipes."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        always = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in always if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in always if isinstance(node, ast.ImportFrom)}
        assert names.isdisjoint(OF_UNIX), path
