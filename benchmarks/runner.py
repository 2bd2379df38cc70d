"""What the runner itself costs: CPU time outside of tasks, and time to find that nothing is left to do.

python -m benchmarks.runner                1000 trivial tasks: run once, then planned and skipped
python -m benchmarks.runner STUDY [DIR]    CPU time of a whole study that is not spent in its tasks
python -m benchmarks.runner --cluster STUDY     two workers of a Dask cluster against two local processes
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRIVIAL = """
name = "trivial"
[[family]]
name = "2d"
shape = [2, 2]
temperatures = {from = 1.0, to = 4.0, count = 500}
samples = 16
held_out = 2
parts = ["thermal"]
"""
COMMAND = [sys.executable, "-m", "thermorbm", "run", "--no-report", "--workers"]


def timed(study: str | Path, out: Path, *options: str, workers: int = 2) -> tuple[float, float]:
    """Wall and CPU seconds of a command, its workers included."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [*COMMAND, str(workers), str(study), "--out", str(out), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu


def task_seconds(out: Path) -> tuple[int, float]:
    """Number of tasks, and their CPU seconds together."""
    timings = json.loads((out / "results.json").read_text())["timings"]
    return len(timings["tasks"]), timings["cpu_seconds"]


def trivial(place: Path) -> None:
    study = place / "trivial.toml"
    study.write_text(TRIVIAL)
    _, cpu = timed(study, place / "run", workers=1)
    n_tasks, in_tasks = task_seconds(place / "run")
    print(f"{n_tasks} trivial tasks: {1e3 * (cpu - in_tasks) / n_tasks:.2f} ms of CPU per task outside of it")
    wall, cpu = min(timed(study, place / "run") for _ in range(3))
    print(f"planned and skipped: {wall:.2f} s, {cpu:.2f} s of CPU, the start of Python included")


def whole(study: str, out: Path) -> None:
    wall, cpu = timed(study, out)
    n_tasks, in_tasks = task_seconds(out)
    share = 100 * (cpu - in_tasks) / cpu
    print(f"{study}: {n_tasks} tasks, {wall:.1f} s, {cpu:.1f} s of CPU, {share:.2f} % of it outside of tasks")


def cluster(study: str, place: Path) -> None:
    """Alternating runs, the best of two each: other programs disturb single runs."""
    local, dask = [], []
    for turn in range(2):
        local.append(timed(study, place / f"local-{turn}")[0])
        dask.append(timed(study, place / f"dask-{turn}", "--cluster", "local")[0])
    ratio = min(dask) / min(local)
    print(f"{study}: two processes {min(local):.1f} s, two Dask workers {min(dask):.1f} s, ratio {ratio:.3f}")


def main(words: list[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        if not words:
            trivial(place)
        elif words[0] == "--cluster":
            cluster(words[1], place)
        else:
            whole(words[0], Path(words[1]) if len(words) > 1 else place / "run")


if __name__ == "__main__":
    main(sys.argv[1:])
