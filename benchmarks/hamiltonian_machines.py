"""Symmetric machines of other Hamiltonians: entropy by NLL and its bound beside exact ones, and couplings.

    python -m benchmarks.hamiltonian_machines [triangular|kagome|cold|couplings ...]

Triangular antiferromagnet: 9x9, S of the same torus from its transfer matrix, and NLL also with ln Z from the
transfer matrix of the machine's own Hamiltonian. Kagome antiferromagnet at T = 0.35: 6x6 cells beside
0.50183, the entropy of the infinite lattice at T = 0. cold: the triangular antiferromagnet at T = 0.25, also
on 24x24, beside S of that torus by reweighting from infinite temperature. 4000 configurations train, 20 000
others are scored.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import thermorbm as tr
from thermorbm import observables as ob
from thermorbm.exact import transfer_matrix
from thermorbm.model import LogPartition
from thermorbm.reading.entropy import log_partition

N_TRAINING, N_HELD_OUT = 4000, 20_000
LADDER = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 30.0)

COUPLINGS = {
    "Baxter-Wu, T = 2.6": (tr.hamiltonian("baxter-wu", (12, 12)), 2.6),
    "anisotropic, J = 1, 0.5, T = 1.7": (tr.hamiltonian("square", (16, 16), coupling=(1.0, 0.5)), 1.7),
    "honeycomb, J = 1, 0.5, -0.8, T = 1.5": (
        tr.hamiltonian("honeycomb", (12, 12), coupling=(1.0, 0.5, -0.8)),
        1.5,
    ),
    "square antiferromagnet, h = 0.5, T = 2": (
        tr.hamiltonian("square", (16, 16), coupling=-1.0, field=0.5),
        2.0,
    ),
}


def closely(machine: tr.SymmetricRBM) -> LogPartition:
    """ln Z as a user asks for it."""
    return machine.log_partition(method="ais", seed=1)


def as_studies_do(machine: tr.SymmetricRBM) -> LogPartition:
    """ln Z to the width that studies ask for, with more rungs while it is doubted."""
    return log_partition(machine, seed=1)


def entropy_row(
    name: str,
    H: tr.Hamiltonian,
    temperature: float,
    exact: float,
    log_z_of: Callable[[tr.SymmetricRBM], LogPartition] = closely,
) -> None:
    data = tr.sample(H, temperature, N_TRAINING, seed=1, progress=False)
    held_out = tr.sample(H, temperature, N_HELD_OUT, seed=2, progress=False)
    begin = time.process_time()
    machine = tr.train(data, model="symmetric", seed=1, progress=False).rbm
    trained = time.process_time()
    log_z = log_z_of(machine)
    nll = ob.negative_log_likelihood(machine, held_out, log_z)
    bound = machine.entropy_upper_bound(
        held_out.spins(), seed=1, n_chains=64, betas=log_z.betas, guide=log_z.guide
    )
    ended = time.process_time()
    is_narrow = H.grid.n_cell == 1 and H.grid.shape[0] <= 12
    known = _exactly(machine, held_out) - exact if is_narrow else math.nan
    print(
        f"| {name} | {temperature} | {exact:.5f} | {nll.value - exact:+.5f} ± {nll.error:.5f} "
        f"| {known:+.5f} | {bound.value / H.n_sites - exact:+.5f} ± {bound.error / H.n_sites:.5f} "
        f"| {log_z.verdict} | {trained - begin:.0f} | {ended - trained:.0f} |",
        flush=True,
    )


def _exactly(machine: tr.SymmetricRBM, held_out: tr.Dataset) -> float:
    """NLL per spin with ln Z of the Hamiltonian that the weights are, from its transfer matrix."""
    learned = ob.interactions(machine)
    J = [learned.vectors[bond] for bond in ((1, 0), (0, 1), (1, 1))]
    log_z = -transfer_matrix(tr.hamiltonian("triangular", machine.shape, coupling=J), 1.0).free_energy
    energies = machine.visible_energy(held_out.spins()) / held_out.n_sites
    return float(energies.mean() + log_z + learned.constant)


def entropies(which: str) -> None:
    print(
        "| model | T | S per spin | NLL - S | the same, ln Z exact | bound - S "
        "| verdict of ln Z | training, s | ln Z, bound, s |"
    )
    print("|" + "---|" * 9)
    if which == "kagome":
        entropy_row("kagome 6x6", tr.hamiltonian("kagome", (6, 6), coupling=-1.0), 0.35, 0.50183)
        return
    if which == "cold":
        small, large = (tr.hamiltonian("triangular", (L, L), coupling=-1.0) for L in (9, 24))
        entropy_row("triangular 9x9", small, 0.25, transfer_matrix(small, 0.25).entropy, as_studies_do)
        series = tr.sample(large, temperatures=LADDER, n_samples=8000, seed=2, threads=1, progress=False)
        entropy = series.reweight([0.25]).entropy
        print(f"S of 24x24 by reweighting: {entropy.values[0]:.5f} ± {entropy.errors[0]:.5f}")
        entropy_row("triangular 24x24", large, 0.25, float(entropy.values[0]), as_studies_do)
        return
    H = tr.hamiltonian("triangular", (9, 9), coupling=-1.0)
    for temperature in (1.0, 0.5):
        entropy_row("triangular 9x9", H, temperature, transfer_matrix(H, temperature).entropy)


def couplings() -> None:
    """Every coupling of the machine times T, with its error."""
    for name, (H, temperature) in COUPLINGS.items():
        data = tr.sample(H, temperature, 10_000, seed=1, progress=False)
        result = tr.train(data, model="symmetric", seed=1, progress=False)
        found = ob.coupling_estimates(result.rbm, data)
        rows = zip(found.labels, found.values * temperature, found.errors * temperature, strict=True)
        large = [f"{label}: {value:.4f} ± {error:.4f}" for label, value, error in rows if abs(value) > 0.02]
        learned = ob.interactions(result.rbm)
        others = [abs(v) * temperature for v in learned.of_order(2).values() if abs(v) * temperature < 0.05]
        rest = f"other pairs below {max(others, default=0.0):.4f}"
        print(f"{name}: {result.verdict.status}; {'; '.join(large)}; {rest}", flush=True)


def main(*which: str) -> None:
    for part in which or ("triangular", "kagome", "couplings"):
        if part == "couplings":
            couplings()
        else:
            entropies(part)


if __name__ == "__main__":
    main(*sys.argv[1:])
