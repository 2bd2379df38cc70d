"""Runs pieces of Python or shell code one after the other, and keeps what they print and draw.

Notebooks (`run_notebook.py`) and pages of the documentation (`run_page.py`) are run by it.
"""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def run_python(source, space, name):
    """Runs source in a namespace; gives what it printed, and its figures, which the caller closes."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, name, "exec"), space)
    return printed.getvalue(), [plt.figure(number) for number in plt.get_fignums()]


def run_shell(source):
    """What the commands printed; the first that fails is an error. `thermorbm` is that of this Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    surroundings = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(["bash", "-eu", "-c", source], capture_output=True, text=True, env=surroundings)
    if done.returncode:
        raise RuntimeError(f"{source.strip()}\nended with exit code {done.returncode}:\n{done.stderr}")
    return done.stdout


def picture(figure, kind, **options):
    """A figure as the bytes of a file, the same whenever the same is drawn."""
    target = io.BytesIO()
    metadata = {"Software": None} if kind == "png" else {"Date": None}
    with plt.rc_context({"svg.hashsalt": "thermorbm"}):
        figure.savefig(target, format=kind, bbox_inches="tight", metadata=metadata, **options)
    return target.getvalue()
