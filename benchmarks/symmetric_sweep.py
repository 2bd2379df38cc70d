"""Symmetric machines of a finished study: entropy, ln Z from both sides, couplings, and what they took.

    thermorbm run paper --out runs/paper
    python -m benchmarks.symmetric_sweep runs/paper/results.json

Entropies are set beside Kaufman's in two dimensions and beside thermodynamic integration in three. A row per
temperature: means over the machines of all seeds with the error of one of them (they share their held-out
configurations), and what is furthest off among them. CPU seconds of one core for each; the last line has
the sum of all.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from thermorbm.exact import kaufman

COLUMNS = ("model", "T", "seeds", "NLL - S", "furthest", "bound - S", "reverse - forward, errors, furthest",
           "J T - 1", "furthest", "ln Z ok", "training, s", "ln Z and bound, s")  # fmt: skip
READINGS = ("partition", "bracket", "interactions")

Values = dict[str, Any]


def entropies(family: Values) -> dict[float, tuple[float, float]]:
    """By temperature, per spin, with errors."""
    curve = family["thermodynamics"]["entropy"]["combined"]
    found = {T: (s, e) for T, s, e in zip(curve["x"], curve["values"], curve["errors"], strict=True)}
    if len(family["shape"]) == 2:
        found = {T: (float(kaufman(family["shape"][0], T).entropy), 0.0) for T in found}
    return found


def row(name: str, seeds: list[Values], entropy: tuple[float, float], seconds: np.ndarray) -> list[str]:
    """seeds: machines of one temperature that differ in their seed alone. seconds: (n_seeds, 2)."""
    S, error = entropy
    T = seeds[0]["value"]
    brackets = [machine["observations"][0]["bracket"] for machine in seeds]
    nll, bound = (_above(brackets, key, S) for key in ("nll_per_spin", "entropy_upper_per_spin"))
    errors = [math.hypot(np.mean(item[:, 1]), error) for item in (nll, bound)]
    order = [-machine["partition"]["equilibrium"]["order"] for machine in seeds]
    couplings = [machine["interactions"]["nearest_coupling"]["value"] * T - 1 for machine in seeds]
    n_ok = sum(machine["partition"]["verdict"] == "ok" for machine in seeds)
    return [
        name, f"{T:g}", str(len(seeds)),
        f"{np.mean(nll[:, 0]):+.5f} ± {errors[0]:.5f}", f"{max(nll[:, 0], key=abs):+.5f}",
        f"{np.mean(bound[:, 0]):+.5f} ± {errors[1]:.5f}", f"{max(order, key=abs):+.1f}",
        f"{np.mean(couplings):+.4f}", f"{max(couplings, key=abs):+.4f}", str(n_ok),
        *(f"{s:.0f}" for s in seconds.mean(axis=0)),
    ]  # fmt: skip


def _above(brackets: list[Values], key: str, S: float) -> np.ndarray:
    """(n_seeds, 2): distances from S, and errors."""
    return np.array([[bracket[key]["value"] - S, bracket[key]["error"]] for bracket in brackets])


def spent(timings: Values, machine: Values) -> tuple[float, float]:
    """CPU seconds of training, and of all that was read off the machine."""
    name = Path(machine["file"]).stem.rsplit("-", 1)[0]
    took = {task.rsplit("-", 1)[0]: timing["cpu_seconds"] for task, timing in timings["tasks"].items()}
    return took[f"train/{name}"], sum(took[f"{kind}/{name}"] for kind in READINGS)


def main(path: str) -> None:
    results = json.loads(Path(path).read_text())
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    total = 0.0
    for family in results["families"]:
        exact = entropies(family)
        machines = [machine for machine in family["machines"] if machine.get("filters")]
        for value in dict.fromkeys(machine["value"] for machine in machines):
            seeds = [machine for machine in machines if machine["value"] == value]
            seconds = np.array([spent(results["timings"], machine) for machine in seeds])
            total += seconds.sum()
            print("| " + " | ".join(row(family["name"], seeds, exact[value], seconds)) + " |")
    print(f"\n{total:.0f} CPU seconds in all")


if __name__ == "__main__":
    main(sys.argv[1])
