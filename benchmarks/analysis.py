"""Time and memory of everything that is read off one machine of the paper's size, on one core.

    OMP_NUM_THREADS=1 python -m benchmarks.analysis [--json]

64 x 64 spins, 400 hidden units, 50 000 configurations. The machine is random with weights of the size that
training gives, the configurations are random bits: the work does not depend on either.
"""

import json
import resource
import sys
import time

import numpy as np

from thermorbm import observables as ob
from thermorbm.dataset import Dataset
from thermorbm.lattice import Lattice
from thermorbm.model import RBM

LATTICE, N_HIDDEN, N_SAMPLES, TEMPERATURE = Lattice((64, 64)), 400, 50_000, 2.25
MOST_SECONDS, MOST_MEMORY = 30, 2.0  # GB


def machine(rng):
    W = rng.normal(0, 0.05, size=(N_HIDDEN, LATTICE.n_sites)).astype(np.float32)
    return RBM(W, rng.normal(0, 0.01, LATTICE.n_sites), rng.normal(0, 0.1, N_HIDDEN))


def configurations(rng):
    packed = rng.integers(0, 256, size=(N_SAMPLES, LATTICE.n_sites // 8), dtype=np.uint8)
    return Dataset(packed, LATTICE, TEMPERATURE)


def parts(rbm, data):
    """Every reading by name."""
    return {
        "energy and magnetisation": lambda: ob.configuration_series(data),
        "spin correlation": lambda: ob.two_point_correlation(data),
        "pseudo-entropy": lambda: ob.pseudo_entropies(data),
        "distributions": lambda: [ob.distribution(x) for x in (rbm.W, rbm.b, rbm.c)],
        "filter sums": lambda: (ob.filter_sums(rbm).abs_variance, ob.inverse_filter_sums(rbm)),
        "inverse-filter correlation": lambda: ob.inverse_filter_correlation(rbm, LATTICE),
        "hidden layer": lambda: ob.hidden_encoding(rbm, data).sign_rule,
        "visible energies": lambda: ob.visible_energies(rbm, data).variance,
        "L~ of 5000": lambda: ob.pseudo_likelihood(rbm, data, 5000),
        "cross entropy of 5000": lambda: ob.cross_entropy(rbm, data, 5000),
        "generation, one step": lambda: ob.generate(rbm, 0.8, 5000, 0, 1, LATTICE, TEMPERATURE),
        "generation, seven steps": lambda: ob.generate(rbm, 0.5, 5000, 7, 1, LATTICE, TEMPERATURE),
    }


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    rng = np.random.default_rng(0)
    rbm, data = machine(rng), configurations(rng)
    ob.pseudo_likelihood(rbm, data[:8])  # compiles, once per installation
    ob.hidden_encoding(rbm, data[:8])
    times = {name: seconds(run) for name, run in parts(rbm, data).items()}
    total = sum(times.values())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if "--json" in sys.argv:
        print(json.dumps({"seconds": times, "total_seconds": total, "peak_memory_gb": memory}, indent=2))
        return
    for name, spent in times.items():
        print(f"{name:>28} {spent:6.2f} s")
    print(f"{'all':>28} {total:6.2f} s, at most {MOST_SECONDS}")
    print(f"{'peak memory':>28} {memory:6.2f} GB, at most {MOST_MEMORY}")


if __name__ == "__main__":
    main()
