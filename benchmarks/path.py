"""Is it the distance, rate times updates, that counts on the paper's way, and is CD-1 as good as CD-5 on it?

    OMP_NUM_THREADS=1 python -m benchmarks.path [T ...] [--hidden 400] [--distance 4.0]

64x64, the recipe `paper` but for rate, steps and length; 50 000 configurations, 5 000 held out.
All machines have one seed and start alike. "Apart" is the length of the difference of a machine's weights to
those of the first row, over the way that these have gone from the start. A training lasts an epoch at least,
so that the distance must be 3.9 or more.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

import thermorbm as tr
from thermorbm.training.start import glorot_normal

# Gibbs steps, rate, and updates during which the rate rises; the last is how studies train as the paper did.
WAYS = {
    "CD-5, 1e-3": (5, 1e-3, 0),
    "CD-1, 1e-3": (1, 1e-3, 0),
    "CD-1, 5e-3 at once": (1, 5e-3, 0),
    "CD-1, 5e-3 after a rise": (1, 5e-3, 800),
}
COLUMNS = ("T", "way", "updates", "L~ training", "L~ held out", "Var |filter sum|", "apart", "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("temperatures", type=float, nargs="*", default=[1.5, 2.25, 3.0])
    parser.add_argument("--distance", type=float, default=4.0)
    parser.add_argument("--hidden", type=int, default=400)
    options = parser.parse_args()
    n_hidden = options.hidden
    torch.set_num_threads(1)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    for temperature in options.temperatures:
        data = tr.sample(tr.Lattice((64, 64)), temperature, 55_000, seed=5, threads=1, progress=False)
        known, held_out = tr.hold_out(data, 5_000)
        first = None
        for name, (steps, rate, rise) in WAYS.items():
            n_updates, begin = round(options.distance / rate + rise / 2), time.process_time()
            changes = {
                "learning_rate": rate,
                "gibbs_steps": steps,
                "least_updates": n_updates,
                "warm_up": rise,
            }
            recipe = tr.Recipe("paper", epochs=1, stop_early=False, **changes)
            result = tr.train(known, n_hidden, recipe, seed=1, threads=1, progress=False)
            seconds, W = time.process_time() - begin, result.rbm.W
            first = W if first is None else first
            start = glorot_normal(n_hidden, 4096, np.random.SeedSequence(1).spawn(1)[0])["W"]
            apart = np.linalg.norm(W - first) / np.linalg.norm(first - start)
            scores = [result.rbm.pseudo_likelihood(d.spins(0, 1000)).mean() / 4096 for d in (known, held_out)]
            cells = [f"{temperature:g}", name, str(n_updates), *(f"{score:.4f}" for score in scores)]
            cells += [f"{np.abs(W.sum(axis=1)).var():.3g}", f"{apart:.3f}", f"{seconds:.0f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
