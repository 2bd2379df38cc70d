"""Reweighting: how long it takes, and the peaks of 64 x 64 from the temperatures of `paper-plus`.

    OMP_NUM_THREADS=1 python -m benchmarks.reweighting [--peaks]

Times 16 x 50 000 packed samples of 64 x 64 to 400 temperatures with errors; the energies that are reweighted
are drawn from the exact P(E).
--peaks samples 11 x 50 000 configurations with each of two seeds (some minutes) and prints where c_V and chi
have their peaks.
"""

import argparse
import time

import numpy as np

from thermorbm import Dataset, Lattice, sample
from thermorbm.estimators import Measurements, Reweighting, reweighted_peak
from thermorbm.exact import energy_distribution
from thermorbm.series import measure

SEEDS = (1, 77)


def speed() -> None:
    """Random bits cost as much as configurations do; the exact energies give the curves something to join."""
    rng, n, lattice = np.random.default_rng(0), 50_000, Lattice((64, 64))
    temperatures = np.linspace(2.04, 2.5, 16)
    packed = [rng.integers(0, 256, (n, lattice.n_sites // 8), dtype=np.uint8) for _ in temperatures]
    parts = []
    for t in temperatures:
        exact = energy_distribution(64, float(t))
        energies = rng.choice(exact.energies, n, p=exact.probabilities / exact.probabilities.sum())
        parts.append(Measurements(float(t), energies, rng.random(n)))
    begin = time.perf_counter(), time.process_time()
    for each, t in zip(packed, temperatures, strict=True):
        measure(Dataset(packed=each, lattice=lattice, temperature=float(t)))
    report("energies and magnetisations of 16 x 50 000 packed configurations", begin)
    Reweighting(parts, lattice.n_sites).curves(np.linspace(2.04, 2.5, 400))
    report("the same, then 400 temperatures with errors", begin)


def report(what: str, begin: tuple[float, float]) -> None:
    wall, cpu = time.perf_counter() - begin[0], time.process_time() - begin[1]
    print(f"{what}: {wall:.2f} s, {cpu:.2f} s of CPU", flush=True)


def peaks() -> None:
    lattice = Lattice((64, 64))
    for seed in SEEDS:
        temperatures = np.linspace(2.04, 2.5, 11)
        data = [
            sample(lattice, float(t), 50_000, seed=seed + 1000 * k, threads=1)
            for k, t in enumerate(temperatures)
        ]
        reweighting = Reweighting([measure(each) for each in data], lattice.n_sites)
        found = {name: reweighted_peak(reweighting, name) for name in ("heat_capacity", "susceptibility")}
        print(f"seed {seed}: c_V {found['heat_capacity']}, chi {found['susceptibility']}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peaks", action="store_true")
    options = parser.parse_args()
    speed()
    if options.peaks:
        peaks()


if __name__ == "__main__":
    main()
