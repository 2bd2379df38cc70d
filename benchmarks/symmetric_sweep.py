"""Symmetric machines of a finished study: entropy, ln Z from both sides, couplings, and what they took.

    thermorbm run paper --out runs/paper
    python -m benchmarks.symmetric_sweep runs/paper/results.json

Entropies are set beside Kaufman's in two dimensions and beside thermodynamic integration in three. CPU
seconds of one core; the last line has their sum.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from thermorbm.exact import kaufman

COLUMNS = ("model", "T", "NLL - S", "bound - S", "reverse - forward, errors", "J T - 1", "verdict of ln Z",
           "training, s", "ln Z and bound, s")  # fmt: skip
READINGS = ("partition", "bracket", "interactions")

Values = dict[str, Any]


def entropies(family: Values) -> dict[float, tuple[float, float]]:
    """By temperature, per spin, with errors."""
    curve = family["thermodynamics"]["entropy"]["combined"]
    found = {T: (s, e) for T, s, e in zip(curve["x"], curve["values"], curve["errors"], strict=True)}
    if len(family["shape"]) == 2:
        found = {T: (float(kaufman(family["shape"][0], T).entropy), 0.0) for T in found}
    return found


def row(name: str, machine: Values, entropy: tuple[float, float], seconds: tuple[float, float]) -> list[str]:
    S, error = entropy
    (observed,) = machine["observations"]
    bracket, ln_z, T = observed["bracket"], machine["partition"], machine["value"]
    cells = [name, f"{T:g}"]
    for key in ("nll_per_spin", "entropy_upper_per_spin"):
        value = bracket[key]
        cells.append(f"{value['value'] - S:+.5f} ± {(value['error'] ** 2 + error**2) ** 0.5:.5f}")
    nearest = machine["interactions"]["nearest_coupling"]["value"]
    cells += [f"{-ln_z['equilibrium']['order']:+.1f}", f"{nearest * T - 1:+.4f}", ln_z["verdict"]]
    return cells + [f"{s:.0f}" for s in seconds]


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
        for machine in family["machines"]:
            if machine.get("filters"):
                seconds = spent(results["timings"], machine)
                total += sum(seconds)
                print(
                    "| " + " | ".join(row(family["name"], machine, exact[machine["value"]], seconds)) + " |"
                )
    print(f"\n{total:.0f} CPU seconds in all")


if __name__ == "__main__":
    main(sys.argv[1])
