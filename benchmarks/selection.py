"""Which products of spins data ask for, beside those of the Hamiltonian that they come from.

    OMP_NUM_THREADS=1 python -m benchmarks.selection [--seeds 5]

2000 configurations of each model, looked through by the window that training takes by default. Temperatures
and lattices are not those at which the rule was written, but for h = 1; cold ones give couplings no upper
limit. Last, independent spins, which ask for nothing. It takes about two minutes of a core.
"""

import argparse
import time

import numpy as np

import thermorbm as tr
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.hamiltonians.cells import Product
from thermorbm.inverse_ising import asked_products

N_SAMPLES, N_INDEPENDENT = 2000, 100
MODELS: dict[str, tuple[Hamiltonian, float]] = {
    "triangular antiferromagnet, 12x12": (tr.hamiltonian("triangular", (12, 12), coupling=-1), 0.4),
    "the same, colder": (tr.hamiltonian("triangular", (12, 12), coupling=-1), 0.2),
    "kagome antiferromagnet, 6x6": (tr.hamiltonian("kagome", (6, 6), coupling=-1), 0.25),
    "square antiferromagnet, 12x12": (tr.hamiltonian("square", (12, 12), coupling=-1), 1.2),
    "the same, in h = 1": (tr.hamiltonian("square", (12, 12), coupling=-1, field=1.0), 1.0),
    "the same, in h = 2": (tr.hamiltonian("square", (12, 12), coupling=-1, field=2.0), 0.9),
    "triangular antiferromagnet in h = 1, 12x12": (
        tr.hamiltonian("triangular", (12, 12), coupling=-1, field=1.0),
        0.5,
    ),
    "J1-J2 = 1, -0.4, 12x12": (tr.hamiltonian("j1j2", (12, 12), coupling=(1, -0.4)), 0.9),
    "Baxter-Wu, 12x12, ordered": (tr.hamiltonian("baxter-wu", (12, 12)), 2.1),
    "plaquette, 12x12": (tr.hamiltonian("plaquette", (12, 12)), 2.5),
    "ferromagnet in h = 0.1, 16x16": (tr.hamiltonian("square", (16, 16), field=0.1), 2.1),
}


def looked_through(H: Hamiltonian) -> tuple[int, ...]:
    """The window of symmetric machines where nothing is said."""
    return (3,) * len(H.grid.shape) if H.grid.n_cell == 1 else (2,) * len(H.grid.shape)


def sites_of(H: Hamiltonian, products: tuple[Product, ...]) -> set[frozenset[tuple[int, ...]]]:
    """Each product by all the sets of sites that it joins."""
    return {
        frozenset(tuple(row) for terms in H.grid.expand([each]) for row in np.sort(terms.sites, axis=1))
        for each in products
    }


def row(name: str, H: Hamiltonian, temperature: float, seeds: int) -> str:
    right, missing, more = 0, 0, 0
    wanted = sites_of(H, H.products)
    for seed in range(1, seeds + 1):
        data = tr.sample(H, temperature, N_SAMPLES, seed=100 + seed, threads=1, progress=False)
        asked = sites_of(H, asked_products(data, H.grid, looked_through(H)))
        right += asked == wanted
        missing += len(wanted - asked)
        more += len(asked - wanted)
    return f"| {name} | {temperature} | {len(wanted)} | {right} of {seeds} | {missing} | {more} |"


def independent() -> str:
    H, rng = tr.hamiltonian("square", (8, 8)), np.random.default_rng(1)
    found = []
    for _ in range(N_INDEPENDENT):
        v = rng.choice(np.array([-1, 1], np.int8), (200, 64))
        found.append(len(asked_products(tr.Dataset.from_spins(v, H.lattice), H.grid, (3, 3))))
    right = found.count(0)
    return f"| independent spins, 8x8 | inf | 0 | {right} of {N_INDEPENDENT} | 0 | {sum(found)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    began = time.process_time()
    print("| model | T | products | exactly these | missing, in all | superfluous, in all |")
    print("|---|---|---|---|---|---|")
    for name, (H, temperature) in MODELS.items():
        print(row(name, H, temperature, options.seeds), flush=True)
    print(independent())
    print(f"\n{time.process_time() - began:.0f} s of a core")


if __name__ == "__main__":
    main()
