"""Configurations of the majority-vote model, made without thermorbm: data as a user may bring them.

Every site of a periodic square lattice takes the sign of the majority of its four neighbours, and with
probability q, the noise, the opposite one; a tie is decided by a coin. There is no energy and no temperature.
The infinite lattice orders below q = 0.075.

    python examples/own_data/majority_vote.py
    thermorbm run examples/own_data/study.toml --out runs/majority-vote
"""

import argparse
from pathlib import Path

import numpy as np

NOISE = (0.02, 0.04, 0.05, 0.06, 0.07, 0.075, 0.08, 0.085, 0.09, 0.1, 0.12, 0.14)


def sample(noise, side, n_chains, n_sweeps, n_kept, rng):
    """(n_chains * n_kept, side, side) of +-1: chains start in order, and rest before each that is kept."""
    spins = np.ones((n_chains, side, side), dtype=np.int8)
    spins[::2] = -1  # both signs are alike
    # Probability of +1 when the four neighbours sum to -4, ..., 4.
    p_up = np.float32([noise, 0, noise, 0, 0.5, 0, 1 - noise, 0, 1 - noise])
    even = np.indices((side, side)).sum(axis=0) % 2 == 0
    kept = []
    for _ in range(n_kept):
        for colour in [even, ~even] * n_sweeps:
            around = sum(np.roll(spins, step, axis) for axis in (1, 2) for step in (1, -1))
            voted = rng.random(spins.shape, dtype=np.float32) < p_up[around + 4]
            spins = np.where(colour, 2 * voted.view(np.int8) - 1, spins)
        kept.append(spins)
    return np.concatenate(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--side", type=int, default=16)
    parser.add_argument("--chains", type=int, default=250)
    parser.add_argument("--sweeps", type=int, default=200, help="before each configuration that is kept")
    parser.add_argument("--kept", type=int, default=4, help="configurations per chain")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "majority_vote.npz")
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    found = [sample(noise, given.side, given.chains, given.sweeps, given.kept, rng) for noise in NOISE]
    values = np.repeat(NOISE, given.chains * given.kept)
    np.savez_compressed(given.out, spins=np.concatenate(found), noise=values)
    print(f"{len(values)} configurations at {len(NOISE)} values of the noise: {given.out}")


if __name__ == "__main__":
    main()
