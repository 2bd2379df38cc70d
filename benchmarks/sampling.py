"""Metropolis updates per nanosecond on one core, beside mcising and peapods in one run.

    python -m benchmarks.sampling [--json]

Programs take turns, so that a noisy machine is noisy for all of them, and each keeps its best turn. All count
attempted single-spin updates near T_c; the peers are given what suits them: sweeps only, no measurements.
"""

import json
import sys
import time

import numpy as np
from mcising import IsingSimulation
from peapods import Ising

from thermorbm.bench import CASES, sampling_speed

TURNS = 5
LATTICE_TYPES = {2: "square", 3: "cubic"}


def mcising_speed(shape, temperature):
    simulation = IsingSimulation(shape[0], 1.0, 0.0, 0.0, 0.0, 1, "metropolis", LATTICE_TYPES[len(shape)])
    simulation.sweep(50, temperature=temperature)
    return _updates_per_ns(lambda n: simulation.sweep(n, temperature=temperature), np.prod(shape), 400)


def peapods_speed(shape, temperature):
    model = Ising(shape, temperatures=np.array([temperature]))
    model.sample(n_sweeps=50, sweep_mode="metropolis")
    return _updates_per_ns(lambda n: model.sample(n_sweeps=n, sweep_mode="metropolis"), np.prod(shape), 400)


def _updates_per_ns(run, n_sites, n_sweeps):
    start = time.perf_counter()
    run(n_sweeps)
    return n_sites * n_sweeps / (time.perf_counter() - start) * 1e-9


def measure(shape, temperature):
    """Best of TURNS for each program, in turn."""
    programs = {
        "thermorbm": lambda: sampling_speed(shape, temperature, repeats=1).updates_per_ns,
        "mcising": lambda: mcising_speed(shape, temperature),
        "peapods": lambda: peapods_speed(shape, temperature),
    }
    turns = [{name: program() for name, program in programs.items()} for _ in range(TURNS)]
    return {name: float(max(turn[name] for turn in turns)) for name in programs}


def main():
    results = {"x".join(map(str, shape)): measure(shape, temperature) for shape, temperature in CASES}
    if "--json" in sys.argv:
        print(json.dumps(results, indent=2))
        return
    print(f"{'lattice':>10} {'program':>10} {'updates/ns':>11} {'thermorbm is':>13}")
    for lattice, speeds in results.items():
        for name, speed in speeds.items():
            print(f"{lattice:>10} {name:>10} {speed:11.3f} {speeds['thermorbm'] / speed:12.1f}x")


if __name__ == "__main__":
    main()
