"""How fast plain Gibbs chains and replica exchange move through the same machines, per unit of work.

    OMP_NUM_THREADS=1 python -m benchmarks.mixing [--json] [--work 16384] [--trained | --exact]

Machines: `ising_rbm`, whose equilibrium is known, at and below T_c, and machines trained as in `desk`, one at
T = 2.25 and one for all temperatures. All moves do equally many Gibbs steps of single configurations: plain
chains take as many more steps as there are replicas. Chains begin at configurations of the Monte Carlo
sampler, and the first fifth of the steps is left out. Only replica 0, at beta = 1, is measured.
"""

import argparse
import json
import time
from itertools import chain, islice

import numpy as np

import thermorbm as tr
from thermorbm.exact import TC_2D, ising_rbm
from thermorbm.model.gibbs import LADDER, exchange_steps
from thermorbm.stats import autocorrelation_time
from thermorbm.stats.chains import WINDOW

N_CHAINS, WORK = 32, 1 << 14  # Gibbs steps of each chain, over all of its replicas
LEFT_OUT = 0.2
# The default ladder, and one of the same spacing that goes twice as far.
LADDERS = {"plain": (1.0,), "8 replicas": LADDER, "16 replicas": tuple(np.linspace(1.0, 0.55, 16))}
ALL_T = (1.0, 1.5, 2.0, 2.1, 2.2, 2.25, 2.3, 2.35, 2.4, 2.5, 3.0, 3.5, 4.0)


def exact_machines():
    """Name, machine, configurations to begin with."""
    for side, temperature in ((16, TC_2D), (32, TC_2D), (32, 2.0)):
        lattice = tr.Lattice((side, side))
        name = f"Ising machine, {side}x{side}, T = {temperature:.3f}"
        yield name, ising_rbm(lattice, temperature), tr.sample(lattice, temperature, N_CHAINS, seed=1)


def trained_machines():
    """The same of machines trained as in `desk`."""
    lattice = tr.Lattice((32, 32))
    data = tr.sample(lattice, 2.25, 10_000, seed=2)
    for n_hidden in (64, 144):
        rbm = tr.train(data, n_hidden, least_updates=1450, seed=1, threads=1).rbm
        yield f"trained, 32x32, T = 2.25, n_h = {n_hidden}", rbm, data[:N_CHAINS]
    union = tr.Dataset.concatenate([tr.sample(lattice, temperature, 3000, seed=3) for temperature in ALL_T])
    rbm = tr.train(union, 64, epochs=6, seed=1, threads=1).rbm
    some = union.select(np.arange(N_CHAINS) * len(union) // N_CHAINS)
    yield "trained, 32x32, all T, n_h = 64", rbm, some


def series(machine, start, betas, n_steps):
    """m and E per spin of replica 0, (n_steps, n) each; walkers, (n_steps, n_replicas, n); swap rates."""
    m, energy = np.empty((n_steps, len(start))), np.empty((n_steps, len(start)))
    walkers = np.empty((n_steps, len(betas), len(start)), np.int8)
    tried, made = np.zeros(len(betas)), np.zeros(len(betas))
    for step, now in enumerate(islice(exchange_steps(machine, start.spins(), betas, seed=1), n_steps)):
        v = now.v[0].astype(np.int8)
        m[step], energy[step] = v.mean(axis=1), start.lattice.energy(v) / start.n_sites
        walkers[step] = now.walkers
        tried += now.tried
        made += now.made
    return m, energy, walkers, made[:-1] / tried[:-1]


def sign_changes(m):
    """Passages of single chains between m > r and m < -r, r half the mean of |m|: m near 0 does not count."""
    side = np.where(np.abs(m) < np.abs(m).mean() / 2, 0, np.sign(m))
    changes = 0
    for one in side.T:
        known = one[one != 0]
        changes += int((known[1:] != known[:-1]).sum())
    return changes


def round_trips(walkers):
    """Ways from replica 0 to the hottest and back, of all configurations together."""
    _, n_replicas, n = walkers.shape
    seen_hot, trips, chains = np.zeros((n_replicas, n), bool), 0, np.arange(n)
    for cold, hot in zip(walkers[:, 0], walkers[:, -1], strict=True):
        seen_hot[hot, chains] = True
        trips += int(seen_hot[cold, chains].sum())
        seen_hot[cold, chains] = False
    return trips


def times(values, n_replicas):
    """Autocorrelation time in Gibbs steps of all replicas; None if the record is shorter than its window."""
    tau = autocorrelation_time(values)
    return n_replicas * tau if len(values) > WINDOW * tau else None


def measure(machine, start, betas, work):
    n_steps = work // len(betas)
    begin = time.process_time()
    m, energy, walkers, rates = series(machine, start, betas, n_steps)
    seconds = time.process_time() - begin
    kept = slice(int(LEFT_OUT * n_steps), None)
    per_work = 1e4 / (len(m[kept]) * len(betas) * len(start))
    return {
        "tau_E": times(energy[kept], len(betas)),
        "tau_abs_m": times(np.abs(m[kept]), len(betas)),
        "tau_m": times(m[kept], len(betas)),
        "sign_changes": sign_changes(m[kept]) * per_work,
        "round_trips": round_trips(walkers[kept]) * per_work if len(betas) > 1 else None,
        "least_swap_rate": float(rates.min()) if len(betas) > 1 else None,
        "abs_m": float(np.abs(m[kept]).mean()),
        "E": float(energy[kept].mean()),
        "cpu_us_per_work": 1e6 * seconds / (work * len(start)),
    }


def row(name, move, found):
    def cell(key, pattern, missing="–"):
        return missing if found[key] is None else format(found[key], pattern)

    taus = [cell(key, ".0f", "too long") for key in ("tau_E", "tau_abs_m", "tau_m")]
    counts = [cell("sign_changes", ".2f"), cell("round_trips", ".2f"), cell("least_swap_rate", ".2f")]
    return "| " + " | ".join([name, move, *taus, *counts, cell("abs_m", ".3f"), cell("E", ".3f")]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--work", type=int, default=WORK, help="Gibbs steps of each chain and its replicas")
    parser.add_argument("--trained", action="store_true", help="trained machines only")
    parser.add_argument("--exact", action="store_true", help="Ising machines only")
    options = parser.parse_args()
    exact = () if options.trained else exact_machines()
    trained, results = () if options.exact else trained_machines(), {}
    head = [
        "machine",
        "moves",
        "tau E",
        "tau abs m",
        "tau m",
        "sign changes",
        "round trips",
        "least swap rate",
    ]
    if not options.json:
        print("| " + " | ".join([*head, "<abs m>", "<E>"]) + " |\n" + "|---" * (len(head) + 2) + "|")
    for name, machine, start in chain(
        exact_machines() if exact else (), trained_machines() if trained else ()
    ):
        for move, betas in LADDERS.items():
            results[f"{name}, {move}"] = found = measure(machine, start, betas, options.work)
            if not options.json:
                print(row(name, move, found), flush=True)
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
