"""Finite-size scaling of the Ising model from our own samples, beside what is known.

    OMP_NUM_THREADS=1 python -m benchmarks.scaling [2d|3d ...] [--samples 1.0]

2d: L = 8 to 128; 3d: L = 6 to 20; four temperatures for each side, within |T / T_c - 1| L^(1/nu) <= 0.5 (2d)
and 0.4 (3d). --samples multiplies the numbers of samples. Prints T_c, U4 at T_c and exponents with errors.
"""

import argparse
import time
from collections.abc import Mapping

import numpy as np

from thermorbm import Lattice, sample
from thermorbm.estimators import Reweighting, ScalingFit, scaling_fit
from thermorbm.exact import TC_2D, TC_3D
from thermorbm.series import measure

OFFSETS = np.array([-1, -0.33, 0.33, 1])
SIDES = {
    "2d": {8: 20_000, 16: 20_000, 32: 20_000, 64: 10_000, 128: 4_000},
    "3d": {6: 20_000, 8: 20_000, 10: 20_000, 12: 20_000, 16: 20_000, 20: 10_000},
}
DIMENSION, NEAR, WINDOW = {"2d": 2, "3d": 3}, {"2d": 2.2692, "3d": 4.5115}, {"2d": 0.5, "3d": 0.4}
INVERSE_NU, OMEGA, SEED = {"2d": 1.0, "3d": 1.587}, {"2d": 1.75, "3d": 0.83}, {"2d": 1, "3d": 2}
# T_c, nu, U4 at T_c, gamma/nu and beta/nu: exact in 2d; K_c and the conformal bootstrap, Blöte's U4 in 3d
KNOWN = {"2d": (TC_2D, 1.0, 0.61069, 1.75, 0.125), "3d": (TC_3D, 0.629971, 0.46548, 1.963702, 0.518149)}


def lattices(name: str, samples: float) -> dict[int, Reweighting]:
    """Samples of every side, reduced to energies and magnetisations."""
    found = {}
    for side, n in SIDES[name].items():
        temperatures = NEAR[name] * (1 + OFFSETS * WINDOW[name] / side ** INVERSE_NU[name])
        lattice = Lattice((side,) * DIMENSION[name])
        n_samples = max(100, round(samples * n))
        data = [
            sample(lattice, float(t), n_samples, seed=SEED[name] + 1000 * k, threads=1)
            for k, t in enumerate(temperatures)
        ]
        found[side] = Reweighting([measure(each) for each in data], lattice.n_sites, n_draws=100)
    return found


def table(name: str, fit: ScalingFit) -> str:
    rows = ["| | measured | known |", "|---|---|---|"]
    measured: Mapping[str, object] = {
        "T_c": fit.temperature,
        "nu": fit.nu,
        "U4 at T_c": fit.binder,
        "gamma/nu": fit.gamma_over_nu,
        "beta/nu": fit.beta_over_nu,
    }
    pairs = zip(measured.items(), KNOWN[name], strict=True)
    rows += [f"| {key} | {value} | {truth:.6g} |" for (key, value), truth in pairs]
    rows += [
        f"| crossing of L = {c.sides[0]} and {c.sides[1]} | {c.temperature}, U4 = {c.binder} | |"
        for c in fit.crossings
    ]
    return "\n".join([*rows, f"| chi-squared | {fit.chi_squared:.0f} for {fit.n_degrees} | |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", default=["2d", "3d"])
    parser.add_argument("--samples", type=float, default=1.0)
    options = parser.parse_args()
    for name in options.names:
        begin = time.process_time()
        fit = scaling_fit(lattices(name, options.samples), OMEGA[name])
        print(f"{name}, {time.process_time() - begin:.0f} s of CPU\n\n{table(name, fit)}\n", flush=True)


if __name__ == "__main__":
    main()
