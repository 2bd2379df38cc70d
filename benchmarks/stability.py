"""Whether `fast` stays stable for large machines near T_c, and on all temperatures together.

    OMP_NUM_THREADS=1 python -m benchmarks.stability [--hidden 400,900,1600,2500]

64x64, 50 000 configurations and 5 000 held out. Machines at T = 2.25 take the recipe as it is, the one for
the paper's 16 temperatures one pass over its 800 000 configurations. Held-out L~ per spin at the records of
the training: that of a machine which is not stable rises far above its lowest.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import thermorbm as tr

LATTICE, N_TRAIN, N_HELD_OUT = tr.Lattice((64, 64)), 50_000, 5_000
ALL = [0.25 * step for step in range(1, 17)]
COLUMNS = ("T", "n_h", "updates", "s", "first L~ / N", "lowest", "largest rise", "last", "verdict")


def datasets(temperatures: list[float]) -> tuple[tr.Dataset, tr.Dataset]:
    """Configurations of all these temperatures, and held-out ones."""
    n = N_TRAIN + N_HELD_OUT
    data = [tr.sample(LATTICE, temperature=T, n_samples=n, seed=5 + i) for i, T in enumerate(temperatures)]
    held_out = tr.Dataset.concatenate([item[N_TRAIN : N_TRAIN + N_HELD_OUT // len(data)] for item in data])
    return tr.Dataset.concatenate([item[:N_TRAIN] for item in data]), held_out


def show(name: str, data: tr.Dataset, held_out: tr.Dataset, n_hidden: int, epochs: int | None) -> None:
    begin = time.process_time()
    result = tr.train(data, n_hidden, "fast", epochs, seed=1, validation=held_out, threads=1)
    seconds = time.process_time() - begin
    scores = np.array(result.history["validation_pseudo_likelihood"]) / LATTICE.n_sites
    rise = (scores - np.minimum.accumulate(scores)).max()
    numbers = [f"{x:.4f}" for x in (scores[0], scores.min(), rise, scores[-1])]
    updates = f"{result.history['update'][-1]:.0f}"
    cells = [name, str(n_hidden), updates, f"{seconds:.0f}", *numbers, result.verdict.status]
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hidden", default="400,900,1600,2500")
    sizes = [int(size) for size in parser.parse_args().hidden.split(",")]
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    near = datasets([2.25])
    for n_hidden in sizes:
        show("2.25", *near, n_hidden, None)
    show("all 16", *datasets(ALL), 400, 1)


if __name__ == "__main__":
    main()
