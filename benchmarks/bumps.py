"""How wide the bumps are that hidden units start as, and what a dense machine has learnt after one epoch.

    OMP_NUM_THREADS=1 python -m benchmarks.bumps [--shape 64x64] [-T 2.0] [--hidden 2500] [--widths 0.6 0.85]

50 000 configurations train, 1500 others are scored by L~, one core, one seed. Widths are in sites.
"""

import argparse
import time

import numpy as np

import thermorbm as tr
from thermorbm.training import start

N_TRAIN, N_HELD_OUT = 50_000, 1500


def learnt(data: tr.Dataset, n_hidden: int, width: float) -> float:
    """L~ of held-out configurations, nats per configuration, after one epoch from bumps of this width."""
    start._WIDTH, start._LEAST_SPINS, start._LEAST_WIDTH = 0.0, 0.0, width
    machine = tr.train(data[:N_TRAIN], n_hidden, epochs=1, settling=0, seed=1, threads=1).rbm
    return float(np.mean(machine.pseudo_likelihood(data[N_TRAIN:].spins())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shape", default="64x64")
    parser.add_argument("-T", "--temperature", type=float, default=2.0)
    parser.add_argument("--hidden", type=int, default=2500)
    parser.add_argument("--widths", type=float, nargs="+", default=[0.6, 0.75, 0.85, 0.95])
    args = parser.parse_args()
    lattice = tr.Lattice(tuple(int(side) for side in args.shape.split("x")))
    n_samples = N_TRAIN + N_HELD_OUT
    data = tr.sample(lattice, temperature=args.temperature, n_samples=n_samples, seed=5, threads=1)
    for width in args.widths:
        begin = time.process_time()
        score = learnt(data, args.hidden, width)
        seconds = time.process_time() - begin
        print(
            f"| {args.temperature:g} | {args.hidden} | {width:.2f} | {score:.1f} | {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
