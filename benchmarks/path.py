"""Is it the distance, rate times updates, that counts on the paper's way, and is CD-1 as good as CD-5 on it?

    OMP_NUM_THREADS=1 python -m benchmarks.path [T ...] [--shape 64x64] [--hidden 400] [--distance 4.0]
        [--way NAME ...]

The recipe `paper` but for rate, steps and length; 50 000 configurations, 5 000 held out.
All machines have one seed and start alike. "Apart" is the length of the difference of a machine's weights to
those of the first row, over the way that these have gone from the start.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch

import thermorbm as tr
from thermorbm.training.start import glorot_normal

RAMPS = {"gibbs_steps": 1, "warm_up": 800, "cool_down": 800}
WAYS: dict[str, dict[str, Any]] = {
    "CD-5, 1e-3": {"gibbs_steps": 5, "learning_rate": 1e-3},
    "CD-1, 1e-3": {"gibbs_steps": 1, "learning_rate": 1e-3},
    "CD-1, 1e-3, bf16": {"gibbs_steps": 1, "learning_rate": 1e-3, "precision": "bf16"},
    "CD-1, 5e-3 at once": {"gibbs_steps": 1, "learning_rate": 5e-3},
    "CD-1, 5e-3, rise": {"gibbs_steps": 1, "learning_rate": 5e-3, "warm_up": 800},
    "CD-1, 1.6e-2, rise and fall": {"learning_rate": 1.6e-2, **RAMPS},
    "CD-1, 1.2e-2, rise and fall": {"learning_rate": 1.2e-2, **RAMPS},
    "CD-1, 8e-3, rise and fall": {"learning_rate": 8e-3, **RAMPS},
    "CD-1, 5e-3, rise and fall": {"learning_rate": 5e-3, **RAMPS},
    "CD-1, 5 / n_h, rise and fall": {"learning_rate": 5e-3, "reference_hidden": 1000, **RAMPS},
    "CD-1, 2e-3, rise and fall": {"learning_rate": 2e-3, **RAMPS},
}
COLUMNS = ("T", "n_h", "way", "updates", "L~ training", "L~ held out", "Var |filter sum|", "apart", "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("temperatures", type=float, nargs="*", default=[1.5, 2.25, 3.0])
    parser.add_argument("--shape", type=shape, default=(64, 64))
    parser.add_argument("--distance", type=float, default=4.0)
    parser.add_argument("--hidden", type=int, default=400)
    parser.add_argument("--way", nargs="+", choices=list(WAYS), default=list(WAYS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    for temperature in options.temperatures:
        data = tr.sample(tr.Lattice(options.shape), temperature, 55_000, seed=5, threads=1, progress=False)
        parts = tr.hold_out(data, 5_000)
        compare(parts, options.hidden, options.distance, {name: WAYS[name] for name in options.way})


def shape(text: str) -> tuple[int, ...]:
    return tuple(int(side) for side in text.split("x"))


def compare(
    parts: tuple[tr.Dataset, tr.Dataset], n_hidden: int, distance: float, ways: dict[str, dict[str, Any]]
) -> None:
    """A row per way of training on the first part; the second is held out."""
    n_sites = parts[0].n_sites
    start, first = glorot_normal(n_hidden, n_sites, np.random.SeedSequence(1).spawn(1)[0])["W"], None
    for name, changes in ways.items():
        begin = time.process_time()
        changes = {"precision": "int8", "distance": distance, **changes}
        result = tr.train(parts[0], n_hidden, "paper", seed=1, threads=1, progress=False, **changes)
        seconds, W = time.process_time() - begin, result.rbm.W
        first = W if first is None else first
        apart = np.linalg.norm(W - first) / np.linalg.norm(first - start)
        scores = [result.rbm.pseudo_likelihood(data.spins(0, 1000)).mean() / n_sites for data in parts]
        n_updates = int(result.history["update"][-1])
        cells = [f"{parts[0].temperature:g}", str(n_hidden), name, str(n_updates)]
        cells += [f"{score:.4f}" for score in scores]
        cells += [f"{np.abs(W.sum(axis=1)).var():.3g}", f"{apart:.3f}", f"{seconds:.0f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
