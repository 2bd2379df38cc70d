"""The recipe `fast` at the paper's size: seconds of one core, held-out L~, and what chains keep of the data.

    OMP_NUM_THREADS=1 python -m benchmarks.time_to_quality [2.25 1.0 2.0 2.5 3.0 3.5] [--machines DIRECTORY]
        [--start glorot] [--updates 4692] [--ordered-rate 1]

64x64, n_h = 400, 50 000 configurations and 5 000 held out. Chains of 1000 Gibbs steps start at random spins
and at data. `--machines` names a directory with machines that were trained otherwise, such as cache/train of
a run of the study `paper`: those of the recipe `paper` are scored on the same configurations. `--start`,
`--updates` and `--ordered-rate` change the recipe.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import thermorbm as tr
from thermorbm.training import RECIPES

SHAPE, N_HIDDEN, N_TRAIN, N_HELD_OUT, N_CHAINS, N_STEPS = (64, 64), 400, 50_000, 5_000, 200, 1000
TEMPERATURES = [2.25, 1.0, 2.0, 2.5, 3.0, 3.5]
COLUMNS = ("T", "recipe", "s", "L~ / N", "above fast", "e from random", "e from data", "e of data",
           "|m| from random", "|m| from data", "|m| of data")  # fmt: skip


def chain_averages(machine: tr.RBM, start: np.ndarray, lattice: tr.Lattice) -> tuple[float, float]:
    """Energy per spin and |m| after N_STEPS steps."""
    v = machine.gibbs(start, N_STEPS, seed=1)
    return averages(v, lattice)


def averages(v: np.ndarray, lattice: tr.Lattice) -> tuple[float, float]:
    energies, m = lattice.energy(v) / lattice.n_sites, lattice.magnetization(v)
    return float(energies.mean()), float(np.abs(m).mean())


def scores(machine: tr.RBM, held_out: tr.Dataset) -> np.ndarray:
    """L~ / N of each held-out configuration."""
    return machine.pseudo_likelihood(held_out.spins()) / held_out.n_sites


def row(name: str, seconds: str, machine: tr.RBM, held_out: tr.Dataset, cells: list[str]) -> str:
    """cells: what is known of L~."""
    lattice, v = held_out.lattice, held_out.spins()
    assert lattice is not None
    tossed = np.random.default_rng(1).choice(np.array([-1, 1], np.int8), (N_CHAINS, lattice.n_sites))
    ends = [chain_averages(machine, start, lattice) for start in (tossed, v[:N_CHAINS])]
    ends.append(averages(v, lattice))
    cells = [f"{held_out.temperature:g}", name, seconds, *cells]
    cells += [f"{e:.3f}" for e, _ in ends] + [f"{m:.3f}" for _, m in ends]
    return "| " + " | ".join(cells) + " |"


def with_error(values: np.ndarray) -> str:
    return f"{values.mean():.6f}({values.std() / len(values) ** 0.5:.6f})"


def compare(temperature: float, machines: Path | None, recipe: tr.Recipe) -> None:
    data = tr.sample(tr.Lattice(SHAPE), temperature=temperature, n_samples=N_TRAIN + N_HELD_OUT, seed=5)
    known, held_out = data[:N_TRAIN], data[N_TRAIN:]
    begin = time.process_time()
    trained = tr.train(known, N_HIDDEN, recipe, seed=1, threads=1).rbm
    seconds = f"{time.process_time() - begin:.0f}"
    assert isinstance(trained, tr.RBM)
    ours = scores(trained, held_out)
    print(row("fast", seconds, trained, held_out, [with_error(ours), ""]), flush=True)
    if machines is not None:
        for file in sorted(machines.glob(f"2d-paper-recipe-T{temperature:g}-h{N_HIDDEN}-*.h5")):
            machine = tr.RBM.load(file)
            theirs = scores(machine, held_out)
            cells = [with_error(theirs), with_error(theirs - ours)]
            print(row("paper, 100 epochs", "", machine, held_out, cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("temperatures", type=float, nargs="*", default=TEMPERATURES)
    parser.add_argument("--machines", type=Path)
    parser.add_argument("--start", default="local")
    parser.add_argument("--updates", type=int)
    parser.add_argument("--ordered-rate", type=float, default=RECIPES["fast"].ordered_rate)
    arguments = parser.parse_args()
    recipe = replace(RECIPES["fast"], start=arguments.start, ordered_rate=arguments.ordered_rate)
    if arguments.updates is not None:
        recipe = replace(recipe, epochs=1, least_updates=arguments.updates)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for temperature in arguments.temperatures:
        compare(temperature, arguments.machines, recipe)


if __name__ == "__main__":
    main()
