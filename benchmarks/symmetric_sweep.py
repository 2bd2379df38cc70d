"""Symmetric machines at every temperature of a finished study: entropy, ln Z from both sides, couplings.

    python -m benchmarks.symmetric_sweep RUN_DIRECTORY [--out rows.jsonl] [--only 2d:2.25,3d:4.5]
    python -m benchmarks.symmetric_sweep --table rows.jsonl

The run directory gives configurations (cache/sample) and the entropy by thermodynamic integration
(reduced/estimate); where Kaufman's is exact it is used instead. Rows are added to the file one by one, and
those that it has are not made again. The second form prints them as a table. One core, CPU
seconds.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import thermorbm as tr
from thermorbm import observables as ob
from thermorbm.study.reduced import read_values
from thermorbm.study.work_bracket import partition_options

KERNELS = {2: 3, 3: 2}  # by dimension: couplings are read from windows of at most 16 spins
N_FILTERS, HELD_OUT, BOUND_CHAINS = 4, 5000, 64
COLUMNS = ("model", "T", "NLL - S", "bound - S", "reverse - forward, errors", "J T - 1", "verdict of ln Z",
           "training, s", "ln Z and bound, s")  # fmt: skip

Row = dict[str, Any]


def temperatures(run: Path) -> list[tuple[str, float, tuple[float, float]]]:
    """Family, temperature, and entropy per spin with its error, as the study integrated it."""
    found = []
    for file in sorted((run / "reduced" / "estimate").glob("*-thermodynamics-*.h5")):
        curve = read_values(file).values["entropy"]["combined"]
        name = file.name.split("-thermodynamics-")[0]
        for T, value, error in zip(curve["x"], curve["values"], curve["errors"], strict=True):
            found.append((name, float(T), (float(value), float(error))))
    return found


def dataset(run: Path, name: str, temperature: float) -> tr.Dataset:
    (file,) = (run / "cache" / "sample").glob(f"{name}-T{temperature:g}-*.h5")
    return tr.Dataset.load(file)


def measure(data: tr.Dataset, entropy: tuple[float, float], seed: int = 1) -> Row:
    """All numbers of one temperature, per spin."""
    lattice, T = data.lattice, data.temperature
    assert lattice is not None
    assert T is not None
    if lattice.dimension == 2:
        entropy = (float(tr.exact.kaufman(lattice.shape[0], T).entropy), 0.0)
    known, held_out = data[:-HELD_OUT], data[-HELD_OUT:]
    begin = time.process_time()
    options = {"filters": N_FILTERS, "kernel": KERNELS[lattice.dimension], "zero_bias": True}
    machine = tr.train(known, model="symmetric", seed=seed, threads=1, **options).rbm
    trained = time.process_time()
    found = machine.log_partition("ais", seed=seed, **partition_options(machine))
    bracket = ob.entropy_bracket(machine, held_out, found, seed, n_chains=BOUND_CHAINS)
    pairs = ob.interactions(machine).pairs
    return {
        "T": T,
        "entropy": entropy,
        "nll": [bracket.nll.value, bracket.nll.error],
        "bound": [bracket.upper.value, bracket.upper.error],
        "log_partition": found.to_dict(),
        "pairs": [[list(r), value] for r, value in pairs.items()],
        "seconds": [trained - begin, time.process_time() - trained],
    }


def table(rows: list[Row]) -> str:
    """Markdown, sorted by model and temperature."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for row in sorted(rows, key=lambda row: (row["model"], row["T"])):
        S, error = row["entropy"]
        nearest = row["pairs"][0][1]
        cells = [row["model"], f"{row['T']:g}"]
        cells += [f"{x - S:+.5f} ± {(e**2 + error**2) ** 0.5:.5f}" for x, e in (row["nll"], row["bound"])]
        cells += [f"{-row['log_partition']['equilibrium']['order']:+.1f}", f"{nearest * row['T'] - 1:+.4f}"]
        cells += [row["log_partition"]["verdict"], *(f"{s:.0f}" for s in row["seconds"])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def read(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def sweep(run: Path, out: Path, only: set[str]) -> None:
    done = {(row["model"], row["T"]) for row in read(out)}
    for name, T, entropy in temperatures(run):
        if (name, T) in done or (only and f"{name}:{T:g}" not in only):
            continue
        row = {"model": name, **measure(dataset(run, name, T), entropy)}
        with out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(table([row]).splitlines()[-1], flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--out", type=Path, default=Path("symmetric_sweep.jsonl"))
    parser.add_argument("--only", default="")
    parser.add_argument("--table", type=Path)
    arguments = parser.parse_args()
    if arguments.table:
        print(table(read(arguments.table)))
    else:
        sweep(arguments.run, arguments.out, set(filter(None, arguments.only.split(","))))


if __name__ == "__main__":
    main()
