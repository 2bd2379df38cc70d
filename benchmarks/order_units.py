"""Claims on the weights of a machine trained well, with and without the units that carry the order.

    OMP_NUM_THREADS=1 python -m benchmarks.order_units [--shape 64x64] [--hidden 400] [T ...]

50 000 configurations train, one core, one seed. A unit carries the order if its filter is uniform: at least
half of the sum of its squared weights lies in their mean. The machine without them is the same one with their
rows of W left out. E and |m| are those of 512 configurations one step after hidden layers drawn with
p_h = (<|m|> + 1) / 2, the paper's way, or at random; "data" is their mean in the data.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import kurtosis

import thermorbm as tr
from thermorbm.observables.distributions import distribution
from thermorbm.observables.generation import hidden_start, magnetization_probability
from thermorbm.observables.hidden import hidden_encoding
from thermorbm.observables.weights import (
    filter_sums,
    inverse_filter_correlation,
    inverse_filter_sums,
    largest_domains,
)

N_TRAIN, N_SEEN, N_CHAINS = 50_000, 5_000, 512
TEMPERATURES = [1.0, 1.5, 2.0, 2.25, 2.5, 3.0, 3.5]
COLUMNS = (
    "T", "n_h", "units", "kurtosis of W", "Var W", "rms c", "Sarle, filter sums", "Var of abs. filter sum",
    "kurtosis, inverse sums", "mean / deviation", "correlation, r = 4", "domains, spread", "width of m_h",
    "E, p_h", "E, data", "abs. m, random h", "abs. m, p_h", "abs. m, data",
)  # fmt: skip


def carries_order(machine: tr.RBM) -> np.ndarray:
    """(n_hidden,): whether half of a filter's power lies in its mean."""
    power = (machine.W.astype(np.float64) ** 2).sum(axis=1)
    return filter_sums(machine).totals ** 2 / machine.n_visible > power / 2


def only(machine: tr.RBM, units: np.ndarray) -> tr.RBM:
    return tr.RBM(machine.W[units], machine.b, machine.c[units])


def one_step(machine: tr.RBM, lattice: tr.Lattice, p_h: float) -> tuple[float, float]:
    """<E> and <|m|> per spin of configurations that follow from hidden layers drawn with p_h."""
    h = hidden_start(machine, p_h, N_CHAINS, seed=1)
    up = np.random.default_rng(2).random((N_CHAINS, machine.n_visible)) < machine.p_visible(h)
    v = np.where(up, 1, -1).astype(np.int8)
    return float(lattice.energy(v).mean() / lattice.n_sites), float(np.abs(v.mean(axis=1)).mean())


def row(machine: tr.RBM, name: str, data: tr.Dataset) -> str:
    v, lattice = data.spins(), data.lattice
    order = float(np.abs(v.mean(axis=1)).mean())
    inverse, distance = inverse_filter_sums(machine).normalised, inverse_filter_correlation(machine, lattice)
    drawn, random = (one_step(machine, lattice, p) for p in (magnetization_probability(order), 0.5))
    numbers = [
        kurtosis(machine.W, axis=None), machine.W.var(), np.sqrt((machine.c**2).mean()),
        distribution(filter_sums(machine).normalised).bimodality, filter_sums(machine).abs_variance.value,
        kurtosis(inverse), abs(inverse.mean()) / inverse.std(), distance.at(4.0).value,
        largest_domains(machine, lattice).std(), hidden_encoding(machine, data, 1).magnetization.std(),
        drawn[0], lattice.energy(v).mean() / lattice.n_sites, random[1], drawn[1], order,
    ]  # fmt: skip
    cells = [f"{data.temperature:g}", str(machine.n_hidden), name, *(f"{x:.3g}" for x in numbers)]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("temperatures", type=float, nargs="*", default=TEMPERATURES)
    parser.add_argument("--shape", default="64x64")
    parser.add_argument("--hidden", default="400")
    options = parser.parse_args()
    lattice = tr.Lattice(tuple(int(side) for side in options.shape.split("x")))
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    for temperature in options.temperatures:
        data = tr.sample(lattice, temperature=temperature, n_samples=N_TRAIN + N_SEEN, seed=5, threads=1)
        for n_hidden in map(int, options.hidden.split(",")):
            machine = tr.train(data[:N_TRAIN], n_hidden, seed=1, threads=1).rbm
            uniform = carries_order(machine)
            for name, units in (("all", uniform | True), ("without order", ~uniform)):
                print(row(only(machine, units), name, data[N_TRAIN:]), flush=True)


if __name__ == "__main__":
    main()
