"""What share of the correlations dense machines learn, by temperature and number of hidden units.

    OMP_NUM_THREADS=1 python -m benchmarks.learnt [--shape 64x64] [--hidden 400] [T ...] [--peers]

50 000 configurations, 5 000 more held out, one core, one seed. S is Kaufman's, or where there is no such
formula that of reweighted samples from T up to infinite temperature. H_order is the entropy of spins that
are independent but for their common sign; the share learnt is (H_order - NLL) / (H_order - S). `--peers` sets
the PCD of `rbms` beside it, in as many seconds of CPU, judged by our ln Z.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

import thermorbm as tr
from thermorbm.model.rounded import as_annealed
from thermorbm.observables import entropy_bracket
from thermorbm.reading.entropy import log_partition
from thermorbm.stats import Estimate, mean_estimate, variance_estimate

N_TRAIN, N_HELD_OUT = 50_000, 5_000
TEMPERATURES = [1.5, 1.75, 2.0, 2.132, 2.178, 2.25, 2.5, 3.0, 3.5]
COLUMNS = (
    "T",
    "n_h",
    "who",
    "S",
    "H_order",
    "L~ training",
    "L~ held out",
    "NLL",
    "bound",
    "ln Z",
    "learnt",
    "Var E / N",
    "s",
)
# Close where energies fluctuate most, so that neighbours overlap.
LADDER = np.unique([*np.geomspace(1.0, 1.5, 24), *np.geomspace(1.5, 12.0, 30)])


def entropy(lattice: tr.Lattice, temperature: float) -> Estimate:
    """S per spin, exact or from samples at temperatures up to twelve times this one."""
    if lattice.dimension == 2:
        return Estimate(float(tr.exact.kaufman(lattice.shape[0], temperature).entropy), 0.0)
    temperatures = temperature * LADDER
    parts = [
        tr.sample(lattice, temperature=float(T), n_samples=4000, seed=k) for k, T in enumerate(temperatures)
    ]
    curve = tr.Series(parts).reweight([temperature]).entropy
    return Estimate(float(curve.values[0]), float(curve.errors[0]))


def trained_by_us(data: tr.Dataset, n_hidden: int, seed: int) -> tuple[tr.RBM, float]:
    begin = time.process_time()
    machine = tr.train(data, n_hidden, seed=seed, threads=1).rbm
    return machine, time.process_time() - begin


def trained_by_rbms(data: tr.Dataset, n_hidden: int, seconds: float, seed: int) -> tr.RBM:
    """PCD of `rbms`, the best by L~ of three learning rates, each with as many seconds as `fast` took."""
    machines = [_rbms_pcd(data[:-1000], n_hidden, seconds, rate, seed) for rate in (1e-2, 1e-1, 1.0)]
    v = data[-1000:].spins()
    return min(machines, key=lambda machine: float(machine.pseudo_likelihood(v).mean()))


def _rbms_pcd(data: tr.Dataset, n_hidden: int, seconds: float, rate: float, seed: int) -> tr.RBM:
    """Their update of 128 chains by 1 Gibbs step, as our `fast`, with their centred gradient and SGD."""
    from rbms.bernoulli_bernoulli.classes import BBRBM
    from rbms.training.pcd import fit_batch_pcd

    torch.manual_seed(seed)
    n, rng, weights = data.n_sites, np.random.default_rng(seed), torch.ones(128)
    start = 1e-2 * torch.randn(n, n_hidden)
    machine = BBRBM(weight_matrix=start, vbias=torch.zeros(n), hbias=torch.zeros(n_hidden))
    optimizer = torch.optim.SGD(machine.parameters(), lr=rate, maximize=True)
    for parameter in machine.parameters():
        parameter.grad = torch.zeros_like(parameter)  # their gradient is written into it
    chains, begin = machine.init_chains(128), time.process_time()
    while time.process_time() - begin < seconds:
        rows = np.sort(rng.integers(0, len(data), 128))
        v = torch.from_numpy((data.select(rows).spins() + 1) // 2).float()
        optimizer.zero_grad(set_to_none=False)
        chains, _ = fit_batch_pcd((v, weights), chains, machine, gibbs_steps=1, beta=1.0)
        optimizer.step()
    w, a, d = (x.double().numpy() for x in (machine.weight_matrix.T, machine.vbias, machine.hbias))
    return tr.RBM(w / 4, a / 2 + w.sum(0) / 4, d / 2 + w.sum(1) / 4)


def row(
    who: str, machine: tr.RBM, known: tr.Dataset, held_out: tr.Dataset, S: Estimate, seconds: float
) -> str:
    ln_z = log_partition(machine, seed=1)
    edges = entropy_bracket(as_annealed(machine), held_out, ln_z, seed=1)
    room = edges.order.value - S.value
    learnt = edges.below_order.value / room
    error = np.hypot(edges.below_order.error, learnt * S.error) / room
    scores = [
        mean_estimate(machine.pseudo_likelihood(d.spins(0, 2000)) / d.n_sites) for d in (known, held_out)
    ]
    cells = [
        f"{held_out.temperature:g}",
        str(machine.n_hidden),
        who,
        f"{S.value:.4f}",
        f"{edges.order.value:.4f}",
    ]
    cells += [f"{estimate.value:.4f}" for estimate in (*scores, edges.nll, edges.upper)]
    spread = variance_estimate(machine.visible_energy(held_out.spins())) / held_out.n_sites
    cells += [ln_z.verdict, f"{learnt:.3f}({error:.3f})", str(spread), f"{seconds:.0f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("temperatures", type=float, nargs="*", default=TEMPERATURES)
    parser.add_argument("--shape", default="64x64")
    parser.add_argument("--hidden", default="400")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    lattice = tr.Lattice(tuple(int(side) for side in options.shape.split("x")))
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    for temperature in options.temperatures:
        data = tr.sample(lattice, temperature=temperature, n_samples=N_TRAIN + N_HELD_OUT, seed=5, threads=1)
        known, held_out = data[:N_TRAIN], data[N_TRAIN:]
        S = entropy(lattice, temperature)
        for n_hidden in map(int, options.hidden.split(",")):
            machine, seconds = trained_by_us(known, n_hidden, options.seed)
            print(row("fast", machine, known, held_out, S, seconds), flush=True)
            if options.peers:
                theirs = trained_by_rbms(known, n_hidden, seconds, options.seed)
                print(row("rbms", theirs, known, held_out, S, seconds), flush=True)


if __name__ == "__main__":
    main()
