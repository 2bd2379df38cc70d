"""Swendsen-Wang and Wolff at 256x256 near T_c: nanoseconds per spin on one core, beside mcising and peapods.

    python -m benchmarks.clusters [side]

Swendsen-Wang visits every spin once a sweep; Wolff's work is counted by spins that it flips, which both
programs count themselves. peapods has cluster moves only after a Metropolis sweep: that sweep alone is timed
too and taken off; it does not count what its Wolff flips, and is left out there. Processor time, so
that a busy computer is no excuse; programs take turns, and each keeps its best.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from mcising import IsingSimulation
from numpy.random import SeedSequence
from peapods import Ising

from thermorbm.lattice import Lattice
from thermorbm.sampling.blocks import ClusterBlock

TEMPERATURE, TURNS, SWEEPS, CLUSTERS = 2.27, 3, 20, 40


def seconds(run: Callable[[], object]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def ours(side: int) -> dict[str, Callable[[], float]]:
    lattice, cold = Lattice((side, side)), np.zeros(1, np.bool_)
    swendsen_wang = ClusterBlock(lattice, TEMPERATURE, SeedSequence(1), cold)
    wolff = ClusterBlock(lattice, TEMPERATURE, SeedSequence(2), cold, 1)
    swendsen_wang.advance(50)
    wolff.advance(200)

    def flipping() -> float:
        begin = time.process_time()
        flipped = wolff.flip_clusters(CLUSTERS)
        return (time.process_time() - begin) / flipped

    return {
        "swendsen-wang": lambda: seconds(lambda: swendsen_wang.advance(SWEEPS)) / (SWEEPS * side**2),
        "wolff": flipping,
    }


def of_mcising(side: int) -> dict[str, Callable[[], float]]:
    def made(algorithm: str, warm: int) -> IsingSimulation:
        simulation = IsingSimulation(side, 1.0, 0.0, 0.0, 0.0, 1, algorithm, "square")
        simulation.sweep(warm, temperature=TEMPERATURE)
        return simulation

    swendsen_wang, wolff = made("swendsen_wang", 50), made("wolff", 400)

    def flipping() -> float:
        begin = time.process_time()
        flipped = wolff.sweep(CLUSTERS, temperature=TEMPERATURE)[0]
        return (time.process_time() - begin) / flipped

    def sweeping() -> float:
        return seconds(lambda: swendsen_wang.sweep(SWEEPS, temperature=TEMPERATURE)) / (SWEEPS * side**2)

    return {"swendsen-wang": sweeping, "wolff": flipping}


def of_peapods(side: int) -> dict[str, Callable[[], float]]:
    model = Ising((side, side), temperatures=np.array([TEMPERATURE]))
    model.sample(n_sweeps=50, sweep_mode="metropolis", cluster_update_interval=1, cluster_mode="sw")

    def plain() -> float:
        return seconds(lambda: model.sample(n_sweeps=SWEEPS, sweep_mode="metropolis"))

    def with_clusters() -> float:
        options = {"sweep_mode": "metropolis", "cluster_update_interval": 1, "cluster_mode": "sw"}
        return seconds(lambda: model.sample(n_sweeps=SWEEPS, **options))

    return {"swendsen-wang": lambda: (with_clusters() - plain()) / (SWEEPS * side**2)}


def main(side: int = 256) -> None:
    programs = {"thermorbm": ours(side), "mcising": of_mcising(side), "peapods": of_peapods(side)}
    turns: dict[tuple[str, str], list[float]] = {}
    for _ in range(TURNS):
        for program, methods in programs.items():
            for method, run in methods.items():
                turns.setdefault((method, program), []).append(run())
    print(f"| method, {side}x{side}, T = {TEMPERATURE} | program | ns per spin | thermorbm is faster by |")
    print("|---|---|---|---|")
    for (method, program), found in sorted(
        turns.items(), key=lambda item: (item[0][0], item[0][1] != "thermorbm")
    ):
        best = min(turns[method, "thermorbm"])
        print(f"| {method} | {program} | {min(found) * 1e9:.2f} | {min(found) / best:.2f} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
