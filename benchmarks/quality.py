"""`fast` against `paper` where `paper` can be trained to its end: a small lattice.

    python -m benchmarks.quality [--side 16] [--hidden 64] [--temperatures 1.5,2.25,3.0]

50 000 configurations and 5 000 held-out ones, one thread. `paper` is CD-5, its rate 1e-4 reached from 1e-3
along a cosine over 200 epochs: it walks as far as 1100 epochs at 1e-4, and where it arrives does not depend
on the way. L~ per spin is taken on all held-out configurations; products are matrix products of one batch, in
thousands.
"""

import argparse
import time
from dataclasses import replace

from thermorbm import Lattice, hold_out, sample, train
from thermorbm.training import RECIPES

CONVERGED = replace(
    RECIPES["paper"], learning_rate=1e-3, final_learning_rate=1e-4, schedule="cosine", epochs=200
)


def measure(recipe, data, held_out, n_hidden):
    """A row of the table: held-out L~ per spin with its error, products, seconds, verdict."""
    start = time.perf_counter()
    result = train(data, n_hidden, recipe, seed=1, threads=1)
    seconds = time.perf_counter() - start
    likelihood = result.rbm.pseudo_likelihood(held_out.spins(0, len(held_out))) / data.n_sites
    products = result.history["update"][-1] * (3 + 2 * recipe.gibbs_steps) / 1000
    return (
        f"{likelihood.mean():.4f}({likelihood.std() / len(likelihood) ** 0.5:.4f}) | {products:.0f} "
        f"| {seconds:.0f} | {result.verdict.status}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--side", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--temperatures", default="1.5,2.25,3.0")
    options = parser.parse_args()
    print("| T | recipe | L~ / N | products | s | verdict |\n|---|---|---|---|---|---|")
    for temperature in map(float, options.temperatures.split(",")):
        lattice = Lattice((options.side, options.side))
        data, held_out = hold_out(sample(lattice, temperature, 55_000, seed=1), 5000)
        for recipe in (RECIPES["fast"], CONVERGED):
            row = measure(recipe, data, held_out, options.hidden)
            print(f"| {temperature} | {recipe.name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
