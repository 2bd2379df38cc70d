"""What each part of the `fast` recipe is good for: the share of the correlations learnt without it.

    OMP_NUM_THREADS=1 python -m benchmarks.ablation [--temperature 2.0] [--updates 1200] [--hidden 400]

64 x 64, 50 000 configurations and 5 000 held-out ones, one thread, one seed. The share is that of
benchmarks.learnt; a machine whose ln Z is not trusted shows its verdict instead.
"""

from __future__ import annotations

import argparse
import time

import torch

import thermorbm as tr
from thermorbm.model.rounded import as_annealed
from thermorbm.observables import entropy_bracket
from thermorbm.reading.entropy import log_partition
from thermorbm.training import order, start

VARIANTS: dict[str, dict[str, object]] = {
    "fast": {},
    "Glorot start": {"start": "glorot"},
    "Glorot start, neither modes nor sparsity": {"start": "glorot", "modes": 0, "sparsity": 0.0},
    "one unit carries the order": {"carriers": 1},
    "no background of bumps": {"background": 0.0},
    "no lattice known": {"lattice": False},
    "no stiff modes, rate / 10": {"modes": 0, "learning_rate": 2e-3},
    "no sparsity": {"sparsity": 0.0},
    "sparsity 2": {"sparsity": 2.0},
    "CD-1 to the end": {"persistent_from": 1.0},
    "PCD-1 from the start": {"persistent_from": 0.0},
    "rate x 2": {"learning_rate": 4e-2},
    "rate / 2": {"learning_rate": 1e-2},
    "no warm-up": {"warm_up": 0},
    "chains never renewed": {"chain_life": 0},
    "zero bias": {"zero_bias": True},
    "full bias rate": {"bias_rate": 1.0},
    "two units for the order at the most": {"patterns": 2, "least_share": 0.0},
}


def measure(known: tr.Dataset, held_out: tr.Dataset, n_hidden: int, n_updates: int, changes: dict) -> str:
    """A row of the table."""
    changes = dict(changes)
    start._BACKGROUND = changes.pop("background", 2.0)
    order._MOST_PATTERNS, order._LEAST_SHARE = changes.pop("patterns", 4), changes.pop("least_share", 0.1)
    if not changes.pop("lattice", True):
        known = tr.Dataset(known.packed, None, known.temperature, n_sites=known.n_sites)
    begin = time.process_time()
    result = tr.train(known, n_hidden, epochs=1, seed=1, threads=1, least_updates=n_updates, **changes)
    seconds = time.process_time() - begin
    if result.verdict.status == "diverged":
        return f"diverged | | | {seconds:.0f}"
    ln_z = log_partition(result.rbm, seed=1)
    edges = entropy_bracket(as_annealed(result.rbm), held_out, ln_z, seed=1)
    S = float(tr.exact.kaufman(held_out.lattice.shape[0], held_out.temperature).entropy)
    share = f"{edges.below_order.value / (edges.order.value - S):.3f}" if ln_z.is_trusted else ln_z.verdict
    likelihood = result.rbm.pseudo_likelihood(held_out.spins(0, 2000)).mean() / held_out.n_sites
    return f"{share} | {edges.nll.value:.4f} | {likelihood:.4f} | {seconds:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--temperature", type=float, default=2.0)
    parser.add_argument("--updates", type=int, default=1200)
    parser.add_argument("--hidden", type=int, default=400)
    options = parser.parse_args()
    torch.set_num_threads(1)
    drawn = tr.sample(tr.Lattice((64, 64)), options.temperature, 55_000, seed=5, threads=1)
    known, held_out = tr.hold_out(drawn, 5_000)
    print("| changed | learnt | NLL | L~ held out | s |\n|---|---|---|---|---|", flush=True)
    for name, changes in VARIANTS.items():
        row = measure(known, held_out, options.hidden, options.updates, changes)
        print(f"| {name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
