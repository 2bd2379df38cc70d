"""Machines trained alike, once with CD-5 and once with persistent chains: where do their long chains go?

    OMP_NUM_THREADS=1 python -m benchmarks.equilibrium [--side 32] [--hidden 64] [--steps 1000]
    OMP_NUM_THREADS=1 python -m benchmarks.equilibrium --calibrate

The first prints the table of docs/entropy.md: one dataset per temperature; the same number of hidden units,
updates, batches and the same rates; only the negative phase differs, chains of five steps from the batch or
the chains of the `fast` recipe. The Ising machine stands beside them: its distribution is that of the data,
so what it says is due to slow chains alone. Values of chains from random spins and from data after equally
many steps, and their distance from held-out data in standard errors.

The second counts verdicts on the Ising machine over seeds, where "out of equilibrium" is a false alarm, and
on Ising machines of slightly other temperatures.
"""

import argparse
from dataclasses import replace

import numpy as np

import thermorbm as tr
from thermorbm.exact import ising_rbm
from thermorbm.observables import Comparison, quality

TEMPERATURES = (2.0, 2.25, 3.0)
N_TRAINED, N_HELD_OUT = 10_000, 5_000
NEGATIVE_PHASES = {"CD-5": {"persistent_from": 1.0, "gibbs_steps": 5}, "PCD": {"persistent_from": 0.0}}
SHOWN = {"joint_energy": "E(v,h)", "energy": "E", "abs_magnetization": "abs m", "heat_capacity": "c_V"}


def machines(lattice, temperature, data, options):
    """Name and machine, trained alike but for the negative phase; the Ising machine last."""
    for name, changes in NEGATIVE_PHASES.items():
        trained = tr.train(data, options.hidden, "fast", seed=options.seed, threads=1, **changes)
        yield name, trained.rbm
    yield "Ising machine", ising_rbm(lattice, temperature)


def show(options):
    lattice = tr.Lattice((options.side, options.side))
    shown = {**SHOWN, "correlation_r2": "r = 2"}
    if options.side >= 12:
        shown[f"correlation_r{options.side // 4}"] = f"r = {options.side // 4}"
    head = ["T", "machine", "start", *shown.values(), "verdict"]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for temperature in options.temperatures:
        drawn = tr.sample(lattice, temperature, N_TRAINED + N_HELD_OUT, seed=options.seed)
        data, held_out = drawn[:N_TRAINED], drawn[N_TRAINED:]
        for name, machine in machines(lattice, temperature, data, options):
            found = quality(machine, data, options.chains, options.steps, options.seed, held_out=held_out)
            for line in lines(name, temperature, found, shown):
                print("| " + " | ".join(line) + " |", flush=True)


def lines(name, temperature, found, shown):
    """Held-out data, chains from random spins and chains from data, with distances in standard errors."""
    random = {item.quantity: item for item in found.comparisons}
    from_data = {
        item.quantity: Comparison(item.quantity, random[item.quantity].data, item.data)
        for item in found.starts
    }
    yield [f"{temperature:g}", name, "(held out)", *(value(random[key].data) for key in shown), ""]
    yield ["", "", "random", *(cell(random[key]) for key in shown), found.verdict]
    yield ["", "", "data", *(cell(from_data[key]) for key in shown), ""]


def value(estimate):
    return f"{estimate.value:.3f}"


def cell(comparison):
    return f"{value(comparison.model)} ({comparison.z_score:+.1f})"


def calibrate(n_seeds=100, side=8, temperature=2.6, n_samples=1000):
    """Share of verdicts against the machine; every seed has data of its own."""
    lattice = tr.Lattice((side, side))
    pool = tr.sample(lattice, temperature, n_seeds * n_samples, seed=1)
    print("| temperature of the machine | shift of <E(v,h)>, deviations | alarms at 0.05 | at 0.001 |")
    print("|---|---|---|---|")
    for other in (temperature, 2.5, 2.4, 2.3):
        machine = ising_rbm(lattice, other)
        parts = [pool[k * n_samples : (k + 1) * n_samples] for k in range(n_seeds)]
        found = [quality(machine, part, seed=seed) for seed, part in enumerate(parts)]
        alarms = [share_of_alarms(found, rate) for rate in (0.05, 0.001)]
        shift = (
            np.mean([one.trained.z_score for one in found]) * (1 / found[0].n_chains + 1 / n_samples) ** 0.5
        )
        print(f"| {other:g} | {shift:+.2f} | {alarms[0]:.3f} | {alarms[1]:.3f} |", flush=True)


def share_of_alarms(found, rate):
    return np.mean([not replace(one, false_alarms=rate).is_equilibrium for one in found])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--temperatures", type=float, nargs="+", default=TEMPERATURES)
    parser.add_argument("--calibrate", action="store_true")
    options = parser.parse_args()
    calibrate() if options.calibrate else show(options)


if __name__ == "__main__":
    main()
