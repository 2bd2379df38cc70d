"""Modules that exist on Unix alone are not needed: everything imports, samples and trains without them."""

import subprocess
import sys

BLOCKED = ("fcntl", "resource", "pwd", "grp", "termios", "pty")

CODE = f"""
import sys
for name in {BLOCKED}:
    sys.modules[name] = None  # importing it raises ImportError
import pkgutil, importlib
import signal
del signal.SIGUSR1
import thermorbm as tr
for module in pkgutil.walk_packages(tr.__path__, "thermorbm."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
data = tr.sample((4, 4), temperature=3.0, n_samples=200)
print(tr.train(data, n_hidden=2, epochs=1).rbm.n_hidden)
from pathlib import Path
from thermorbm.cli.study import _signals
from thermorbm.runner.lock import locked, owner
with _signals(), locked(Path("x.lock")):
    print(owner(Path("x.lock"))["pid"] > 0)
"""


def test_without_modules_of_unix(tmp_path):
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "True"]
