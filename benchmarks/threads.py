"""How long a training takes with other work on every core, over the same with one thread.

python -m benchmarks.threads
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time

import numpy as np

import thermorbm as tr

N_ROUNDS = 3


def main() -> None:
    spins = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (2000, 1024))
    data = tr.Dataset.from_spins(spins, tr.Lattice((32, 32)), 2.5)
    n_cores = len(os.sched_getaffinity(0))
    seconds_with(data, 1)  # compiles
    context = multiprocessing.get_context("spawn")
    busy = [context.Process(target=spin, daemon=True) for _ in range(n_cores)]
    for process in busy:
        process.start()
    try:
        ratios = {threads: [] for threads in (None, n_cores)}
        for _ in range(N_ROUNDS):
            one = seconds_with(data, 1)
            for threads, column in ratios.items():
                column.append(seconds_with(data, threads) / one)
    finally:
        for process in busy:
            process.kill()
    for threads, column in ratios.items():
        name = "default" if threads is None else f"{threads} threads"
        middle, spread = statistics.median(column), f"{min(column):.2f} to {max(column):.2f}"
        print(f"{name}: {middle:.2f} times one thread ({spread})")


def seconds_with(data: tr.Dataset, threads: int | None) -> float:
    began = time.monotonic()
    tr.train(data, 256, epochs=2, seed=1, threads=threads, precision="fp32")
    return time.monotonic() - began


def spin() -> None:
    """Until the parent ends, however it ends."""
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(10_000))


if __name__ == "__main__":
    main()
