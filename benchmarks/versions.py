"""A slice of the study `paper` with an earlier version and with this one: CPU seconds of every stage.

    python -m benchmarks.versions COMMIT

Both versions run the same file, one after the other, each with one single-threaded process: six temperatures
of the 64x64 lattice, 10 000 configurations each, machines of 400 hidden units trained for two epochs, and
everything that is read off them. Then `fast` is trained to its end on 50 000 configurations at T = 2.25, as
each version defines it, with the L~ that it reaches on 5 000 others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SLICE = """
name = "slice"
title = "A slice of the paper"
seed = 1

[[family]]
name = "2d"
shape = [64, 64]
temperatures = [1.0, 1.75, 2.25, 2.5, 3.0, 4.0]
samples = 10000
held_out = 1000
hidden = [400]

[family.changes]
epochs = 2
least_updates = 0

[family.energies]
coldest = 0.5
hottest = 40.0
points = 16
samples = 2048
"""
TRAINING = """
import time
import thermorbm as tr
data = tr.sample(tr.Lattice((64, 64)), temperature=2.25, n_samples=55_000, seed=5)
begin = time.process_time()
machine = tr.train(data[:50_000], 400, "fast", seed=1, threads=1).rbm
print(time.process_time() - begin, machine.pseudo_likelihood(data[50_000:].spins()).mean() / 4096)
"""


def python(source: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-P", *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def stages(source: Path, work: Path) -> dict[str, float]:
    """CPU seconds of the slice by kind of task."""
    study, run = work / "slice.toml", work / "run"
    study.write_text(SLICE)
    words = f"-m thermorbm run {study} --out {run} --workers 1 --no-report"
    python(source, *words.split())
    timings = json.loads((run / "results.json").read_text())["timings"]
    found: dict[str, float] = timings["cpu_seconds_by_kind"]
    return {**found, "all": timings["cpu_seconds"]}


def training(source: Path) -> tuple[float, float]:
    """CPU seconds of `fast` to its end, and L~ / N."""
    seconds, score = python(source, "-c", TRAINING).split()
    return float(seconds), float(score)


def measured(source: Path) -> tuple[dict[str, float], tuple[float, float]]:
    with tempfile.TemporaryDirectory() as work:
        return stages(source, Path(work)), training(source)


def main(commit: str) -> None:
    with tempfile.TemporaryDirectory() as parent:
        earlier = Path(parent) / "earlier"
        worktree = ["git", "-C", ROOT, "worktree"]
        subprocess.run([*worktree, "add", "--quiet", "--detach", earlier, commit], check=True)
        try:
            (before, slow), (after, fast) = measured(earlier), measured(ROOT)
        finally:
            subprocess.run([*worktree, "remove", "--force", earlier], check=True)
    print("| stage | before, CPU s | after, CPU s |\n|---|---|---|")
    for kind in sorted(before | after, key=lambda kind: -before.get(kind, 0)):
        print(f"| {kind} | {before.get(kind, 0):.1f} | {after.get(kind, 0):.1f} |")
    print(f"| `fast` to its end | {slow[0]:.0f} | {fast[0]:.0f} |")
    print(f"| its L~ / N | {slow[1]:.4f} | {fast[1]:.4f} |")


if __name__ == "__main__":
    main(sys.argv[1])
