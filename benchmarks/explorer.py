"""How large a machine is in the explorer's page, and what its formats do to visible energies.

    OMP_NUM_THREADS=1 python -m benchmarks.explorer [--side 64] [--hidden 400]

A machine trained by `fast` on 20 000 configurations at T = 2.25; energies of 2000 others.
"""

from __future__ import annotations

import argparse

import numpy as np

import thermorbm as tr
from thermorbm.explorer.fit import FORMATS, store, with_weights

COLUMNS = ("format", "bytes in the file", "largest error of a weight", "sigma, nats")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=400)
    options = parser.parse_args()
    data = tr.sample((options.side, options.side), temperature=2.25, n_samples=22_000, seed=1)
    training, others = tr.hold_out(data, 2_000)
    machine, v = tr.train(training, options.hidden, seed=1).rbm, others.spins()
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for name in FORMATS:
        stored = store(machine, name, v)
        size = f"{len(stored.text) / 1e6:.2f} MB"
        print(f"| {name} | {size} | {stored.weight_error:.2g} | {stored.energy_error:.2g} |", flush=True)
    step = np.abs(machine.W).max(axis=1, keepdims=True) / 127
    alone = with_weights(machine, np.float32(np.rint(machine.W / step) * step))
    sigma = np.std(alone.visible_energy(v) - machine.visible_energy(v))
    print(f"| int8, each weight rounded alone | | {step.max() / 2:.2g} | {sigma:.2g} |")


if __name__ == "__main__":
    main()
