"""Whether bfloat16 products change what is learned: `fast` at equal seeds in both precisions.

    OMP_NUM_THREADS=1 python -m benchmarks.precision [1.0 2.25 3.0] [--hidden 400] [--side 64] [--seeds 1]

50 000 configurations and 5 000 held out. Held-out L~ per spin; the error is that of one value over held-out
configurations, which both precisions share, so that their difference is known far better.
"""

from __future__ import annotations

import argparse

import numpy as np

import thermorbm as tr

N_TRAIN, N_HELD_OUT = 50_000, 5_000


def scores(data: tr.Dataset, n_hidden: int, precision: str, seed: int) -> np.ndarray:
    """L~ per spin of each held-out configuration."""
    machine = tr.train(data[:N_TRAIN], n_hidden, "fast", seed=seed, precision=precision, threads=1).rbm
    return machine.pseudo_likelihood(data[N_TRAIN:].spins()) / data.n_sites


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("temperatures", type=float, nargs="*", default=[1.0, 2.25, 3.0])
    parser.add_argument("--hidden", type=int, default=400)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    print("| T | seed | bf16 | fp32 | error | difference |\n|---|---|---|---|---|---|")
    for T in options.temperatures:
        lattice = tr.Lattice((options.side,) * 2)
        data = tr.sample(lattice, temperature=T, n_samples=N_TRAIN + N_HELD_OUT, seed=5)
        for seed in range(1, options.seeds + 1):
            half, full = (scores(data, options.hidden, name, seed) for name in ("bf16", "fp32"))
            error = full.std() / N_HELD_OUT**0.5
            cells = [f"{T:g}", str(seed), f"{half.mean():.5f}", f"{full.mean():.5f}", f"{error:.5f}"]
            print("| " + " | ".join([*cells, f"{(half - full).mean():+.5f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
