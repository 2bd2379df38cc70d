"""Whether the verdict on training can be trusted: the change it expects beside the one that really comes.

    python -m benchmarks.verdict [--hidden 64] [--updates 1450]

32 x 32, 10 000 configurations. At each temperature a machine is trained by `fast` from Glorot's start, as in
studies, for some updates, and another with the same seed for twice as many; L~ per spin of both is taken on
2 000 held-out configurations.
"""

import argparse
from dataclasses import replace

import numpy as np

from thermorbm import Lattice, hold_out, sample, train
from thermorbm.training import RECIPES

TEMPERATURES = (1.0, 2.0, 2.25, 2.5, 3.0, 4.0)


def trained(data, n_hidden, n_updates):
    recipe = replace(RECIPES["fast"], start="glorot", epochs=1, least_updates=n_updates)
    return train(data, n_hidden, recipe, seed=1, threads=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--updates", type=int, default=1450)
    options = parser.parse_args()
    print("| T | L~ / N | expected change | change | verdict |\n|---|---|---|---|---|")
    for temperature in TEMPERATURES:
        data, held_out = hold_out(sample(Lattice((32, 32)), temperature, 12_000, seed=1), 2000)
        spins = held_out.spins(0, len(held_out))
        once, twice = (trained(data, options.hidden, k * options.updates) for k in (1, 2))
        before, after = (result.rbm.pseudo_likelihood(spins) / 1024 for result in (once, twice))
        change, expected = after - before, once.verdict
        error = change.std() / np.sqrt(len(change))
        print(
            f"| {temperature} | {before.mean():.4f} | {expected.drift:+.4f}({expected.drift_error:.4f}) "
            f"| {change.mean():+.4f}({error:.4f}) | {expected.status} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
