"""ln Z of a machine of the paper's size, and what replica exchange gains over plain Gibbs chains.

    python benchmarks/partition.py data.h5 rbm.h5    # held-out configurations, a machine trained on others

Prints CPU seconds, the width of the sandwich per spin and the verdict; then how far chains from random spins
and from data are still apart, in standard errors, after equally many matrix products of plain and of tempered
chains.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import thermorbm as tr
from thermorbm.model.tempering import LADDER
from thermorbm.observables import quality

N_CHAINS, N_STEPS = 64, 32  # of tempered chains; plain ones take as many more steps as there are replicas


def main(data_file: str, machine_file: str) -> None:
    data, rbm = tr.Dataset.load(data_file), tr.RBM.load(machine_file)
    show_partition(rbm)
    show_mixing("plain", rbm, data[-1000:], len(LADDER) * N_STEPS, None)
    show_mixing("tempered", rbm, data[-1000:], N_STEPS, lambda v, k, seed: rbm.temper(v, k, seed).v[0])


def show_partition(rbm: tr.RBM) -> None:
    rbm.log_partition("ais", seed=0, n_rungs=2, n_chains=2)  # compiles
    begin = time.process_time()
    found = rbm.log_partition("ais", seed=1)
    seconds, width = time.process_time() - begin, (found.upper - found.lower) / rbm.n_visible
    print(
        f"ln Z/N = {found.value / rbm.n_visible:.6f} +- {found.error / rbm.n_visible:.1e}, width {width:.5f}"
    )
    print(f"{found.n_rungs} rungs, {found.n_chains} chains, {seconds:.1f} CPU s: {found.verdict}")


def show_mixing(name: str, rbm: tr.RBM, data: tr.Dataset, n_steps: int, move: Any) -> None:
    begin = time.process_time()
    found = quality(rbm, data, N_CHAINS, n_steps, seed=1, move=move)
    seconds = time.process_time() - begin
    apart = ", ".join(f"{item.quantity} {item.z_score:+.1f}" for item in found.starts)
    print(f"{name}, {n_steps} steps, {seconds:.1f} CPU s: {apart}")


if __name__ == "__main__":
    main(*sys.argv[1:])
