"""Metropolis updates per nanosecond on one core, beside mcising and peapods in one run.

    python -m benchmarks.sampling [--json]

The plain ferromagnet has a kernel of its own; the models that mcising also has run in the kernel of any
Hamiltonian.

Processor time, so that a busy computer is no excuse; programs take turns, and each keeps its best. All count
attempted single-spin updates near T_c; the peers are given what suits them: sweeps only, no measurements.
"""

import json
import sys
import time
from functools import partial

import numpy as np
from mcising import IsingSimulation
from numpy.random import SeedSequence
from peapods import Ising

import thermorbm as tr
from thermorbm.sampling.general_blocks import block_kind
from thermorbm.sampling.metropolis import REFUSAL_PROBABILITY
from thermorbm.trials import CASES, sampling_speed

TURNS = 5
LATTICE_TYPES = {2: "square", 3: "cubic"}


def mcising_speed(shape, temperature):
    simulation = IsingSimulation(shape[0], 1.0, 0.0, 0.0, 0.0, 1, "metropolis", LATTICE_TYPES[len(shape)])
    simulation.sweep(50, temperature=temperature)
    return _updates_per_ns(lambda n: simulation.sweep(n, temperature=temperature), np.prod(shape), 400)


# Name: our Hamiltonian, a temperature near its transition, mcising's lattice and its (J1, J2, J3, h).
MODELS = {
    "triangular": (tr.hamiltonian("triangular", (64, 64)), 3.641, "triangular", (1.0, 0.0, 0.0, 0.0)),
    "honeycomb": (tr.hamiltonian("honeycomb", (64, 64)), 1.519, "honeycomb", (1.0, 0.0, 0.0, 0.0)),
    "field": (tr.hamiltonian("square", (64, 64), field=0.1), 2.269, "square", (1.0, 0.0, 0.0, 0.1)),
    "j1j2": (tr.hamiltonian("j1j2", (64, 64), coupling=(1, 0.5)), 3.8, "square", (1.0, 0.5, 0.0, 0.0)),
}


def general_speed(hamiltonian, temperature, n_sweeps=200):
    """Of the kernel for any Hamiltonian; attempts refused whatever they cost do not count."""
    kind, terms = block_kind(hamiltonian)
    block = kind(hamiltonian, temperature, SeedSequence(1), np.zeros(kind.n_chains, np.bool_), terms)
    block.advance(20)
    n_spins = hamiltonian.n_sites * kind.n_chains * (1 - REFUSAL_PROBABILITY)
    return _updates_per_ns(block.advance, n_spins, n_sweeps)


def measure_model(hamiltonian, temperature, lattice, couplings):
    """Best of TURNS for ours and mcising, in turn."""
    turns = []
    for _ in range(TURNS):
        peer = IsingSimulation(64, *couplings, 1, "metropolis", lattice)
        peer.sweep(50, temperature=temperature)
        run = partial(peer.sweep, temperature=temperature)
        speed = _updates_per_ns(run, hamiltonian.n_sites, 100)
        turns.append({"thermorbm": general_speed(hamiltonian, temperature), "mcising": speed})
    return {name: float(max(turn[name] for turn in turns)) for name in turns[0]}


def peapods_speed(shape, temperature):
    model = Ising(shape, temperatures=np.array([temperature]))
    model.sample(n_sweeps=50, sweep_mode="metropolis")
    return _updates_per_ns(lambda n: model.sample(n_sweeps=n, sweep_mode="metropolis"), np.prod(shape), 400)


def _updates_per_ns(run, n_sites, n_sweeps):
    start = time.process_time()
    run(n_sweeps)
    return n_sites * n_sweeps / (time.process_time() - start) * 1e-9


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
    results |= {name: measure_model(*model) for name, model in MODELS.items()}
    if "--json" in sys.argv:
        print(json.dumps(results, indent=2))
        return
    print(f"{'lattice':>10} {'program':>10} {'updates/ns':>11} {'thermorbm is':>13}")
    for lattice, speeds in results.items():
        for name, speed in speeds.items():
            print(f"{lattice:>10} {name:>10} {speed:11.3f} {speeds['thermorbm'] / speed:12.1f}x")


if __name__ == "__main__":
    main()
