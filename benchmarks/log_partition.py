"""Whether the verdict on ln Z and its error can be trusted: machines whose ln Z is known exactly.

    OMP_NUM_THREADS=1 python -m benchmarks.log_partition [--machines 34] [--seed 1]

Six kinds, --machines of each: random weights and biases; ordered, the machines that are the Ising model at
T = 1.2 to 2.1; near T_c, the same at T = 2.15 to 2.6; in a field, ordered machines whose visible biases
prefer one mode and hidden biases the other; first order, with a mode that annealing finds late; frustrated,
random patterns and bonds of both signs. Layers of few units are summed exactly, and the Ising machines have
Kaufman's ln Z. 64 chains and at most 32, 128 or 512 rungs, in turn, so that annealing fails now and then.
"""

import argparse
import math
from collections.abc import Callable

import numpy as np

from thermorbm import RBM, Lattice
from thermorbm.exact import ising_rbm, kaufman
from thermorbm.model.partition import LogPartition

CHAINS, RUNGS = 64, (32, 128, 512)
FAR = 4.0  # stated errors
Machine = tuple[RBM, float]


def random_machine(rng: np.random.Generator) -> Machine:
    n_hidden, n_visible = int(rng.integers(8, 15)), int(rng.integers(40, 101))
    scale = rng.uniform(1, 9) / math.sqrt(n_visible)
    W = scale * rng.standard_normal((n_hidden, n_visible))
    return summed(W, 0.3 * rng.standard_normal(n_visible), 0.3 * rng.standard_normal(n_hidden))


def ising_machine(low: float, high: float) -> Callable[[np.random.Generator], Machine]:
    def machine(rng: np.random.Generator) -> Machine:
        side, t = 2 * int(rng.integers(3, 7)), float(rng.uniform(low, high))
        lattice = Lattice((side, side))
        log_z = -lattice.n_sites * float(kaufman(side, t).free_energy) / t
        return ising_rbm(lattice, t), log_z + lattice.n_bonds * (math.log(2) + 1 / t)

    return machine


def field_machine(rng: np.random.Generator) -> Machine:
    """Every hidden unit sees all spins; visible biases prefer one mode, hidden biases the other one."""
    n_hidden, n_visible = int(rng.integers(6, 13)), int(rng.integers(60, 401))
    strength = rng.uniform(1.0, 3.0) / math.sqrt(n_hidden * n_visible)
    W = strength * (1 + 0.3 * rng.standard_normal((n_hidden, n_visible)))
    b = -rng.uniform(0, 0.4) + 0.05 * rng.standard_normal(n_visible)
    c = rng.uniform(0, 4.0) + 0.2 * rng.standard_normal(n_hidden)
    return summed(W, b, c)


def first_order_machine(rng: np.random.Generator) -> Machine:
    """Two hidden units whose fields on a random pattern cancel, until a share of the spins lie along it.

    A mode that annealing meets late, by a first-order transition, and finds with a few chains or with none.
    """
    n_visible, strength = int(rng.integers(40, 121)), rng.uniform(0.6, 1.2)
    threshold = rng.uniform(0.15, 0.4) * n_visible * strength
    pattern = strength * rng.choice([-1.0, 1.0], size=n_visible)
    W = np.vstack([pattern, pattern, 0.1 * rng.standard_normal((6, n_visible))])
    return summed(W, 0.05 * rng.standard_normal(n_visible), np.array([-threshold, threshold] + [0.0] * 6))


def frustrated_machine(rng: np.random.Generator) -> Machine:
    """Random patterns of which each hidden unit holds one, or bonds of both signs on a 4 x 4 lattice."""
    if rng.random() < 0.5:
        n_hidden, n_visible = int(rng.integers(8, 15)), int(rng.integers(40, 101))
        W = rng.uniform(2, 12) / math.sqrt(n_visible) * rng.choice([-1.0, 1.0], size=(n_hidden, n_visible))
        return summed(W, np.zeros(n_visible), np.zeros(n_hidden))
    machine = ising_rbm(Lattice((4, 4)), float(rng.uniform(0.4, 1.5)))
    W = np.array(machine.W, dtype=np.float64)
    for row in W:
        if rng.random() < 0.5:
            row[np.flatnonzero(row)[0]] *= -1
    return summed(W, 0.1 * rng.standard_normal(16), np.zeros(len(W)))


def summed(W, b, c) -> Machine:
    machine = RBM(W, b, c)
    return machine, machine.log_partition("exact").value


KINDS: dict[str, Callable[[np.random.Generator], Machine]] = {
    "random": random_machine,
    "ordered": ising_machine(1.2, 2.1),
    "near T_c": ising_machine(2.15, 2.6),
    "in a field": field_machine,
    "first order": first_order_machine,
    "frustrated": frustrated_machine,
}


def estimates(kind: str, n: int, seed: int) -> list[tuple[LogPartition, float]]:
    found = []
    for k in range(n):
        machine, truth = KINDS[kind](np.random.default_rng([seed, k, len(kind)]))
        rungs = RUNGS[k % len(RUNGS)]
        estimate = machine.log_partition("ais", seed=k, n_chains=CHAINS, most_rungs=rungs)
        found.append((estimate, truth))
    return found


def row(kind: str, results: list[tuple[LogPartition, float]]) -> str:
    z = np.array([(e.value - truth) / e.error for e, truth in results])
    ok, trusted = (np.array([getattr(e, name) for e, _ in results]) for name in ("is_ok", "is_trusted"))
    far = np.abs(z) > FAR
    cells = [f"{len(z)}", f"{ok.sum()}", held(z[ok]), f"{trusted.sum()}", held(z[trusted])]
    cells += [f"{np.sqrt(np.mean(z[trusted] ** 2)):.2f}" if trusted.any() else "-"]
    cells += [f"{far.sum()}", f"{(far & ~trusted).sum()}"]
    return f"| {kind} | " + " | ".join(cells) + " |"


def held(z: np.ndarray) -> str:
    """How many of the 95 % intervals hold the truth."""
    return f"{np.mean(np.abs(z) < 1.96):.2f}" if len(z) else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--machines", type=int, default=34)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    columns = ["kind", "number", "ok", "95 % hold", "ok or wide", "95 % hold", "rms z", "off > 4 errors"]
    print("| " + " | ".join([*columns, "and doubted"]) + " |\n" + "|---" * 9 + "|")
    everything = []
    for kind in KINDS:
        results = estimates(kind, options.machines, options.seed)
        everything += results
        print(row(kind, results), flush=True)
    print(row("all", everything))


if __name__ == "__main__":
    main()
