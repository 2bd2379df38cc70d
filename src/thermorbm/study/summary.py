"""One row per machine: its training, likelihoods, entropy bracket and visible energy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Values = Mapping[str, Any]
Row = dict[str, Any]

PLACE = ("group", "value", "n_hidden", "seed_index")
# Column -> where an observation has it, and whether it is a total that is divided by the number of spins.
ESTIMATES: dict[str, tuple[tuple[str, ...], bool]] = {
    "pseudo_likelihood_per_spin": (("likelihood", "held_out", "pseudo_likelihood_per_spin"), False),
    "cross_entropy": (("likelihood", "held_out", "cross_entropy"), False),
    "entropy_lower_per_spin": (("bracket", "entropy_lower_per_spin"), False),
    "entropy_upper_per_spin": (("bracket", "entropy_upper_per_spin"), False),
    "nll_per_spin": (("bracket", "nll_per_spin"), False),
    "visible_energy_mean_per_spin": (("visible_energy", "train", "mean"), True),
    "visible_energy_variance_per_spin": (("visible_energy", "train", "variance"), True),
}


def summary_row(machine: Values, entropies: Mapping[float, Values]) -> Row:
    """The row of a machine as in `results.json`; one for all temperatures has the means over them.

    entropies: S per spin by temperature, exact or integrated.
    """
    seen = machine["observations"]
    recipe, verdict = machine["recipe"], machine.get("verdict") or {}
    return {
        **{name: machine[name] for name in PLACE},
        "recipe": recipe["name"],
        "epochs": recipe["epochs"],
        "epochs_done": (machine.get("last_record") or {}).get("epoch"),
        "updates": (machine.get("last_record") or {}).get("update"),
        "zero_bias": recipe["zero_bias"],
        "status": verdict.get("status"),
        "converged": verdict.get("status") == "converged",
        "n_values": len(seen),
        **{name: _mean([_look(row, *where) for row in seen]) for name, where in ESTIMATES.items()},
        "entropy_per_spin": _mean([entropies.get(row["value"]) for row in seen]),
        "partition_verdict": (machine.get("partition") or {}).get("verdict"),
    }


def known_entropies(data: Sequence[Values], thermodynamics: Values | None) -> dict[float, Values]:
    """S per spin by temperature: exact on this very lattice where known, else by integration."""
    curve = ((thermodynamics or {}).get("entropy") or {}).get("combined") or {
        "x": [],
        "values": [],
        "errors": [],
    }
    columns = zip(curve["x"], curve["values"], curve["errors"], strict=True)
    found: dict[float, Values] = {x: {"value": value, "error": error} for x, value, error in columns}
    for row in data:
        exact = row.get("exact") or {}
        if exact.get("source") == "kaufman":
            found[row["value"]] = {"value": exact["entropy_per_spin"], "error": 0.0}
    return found


def _look(row: Values, where: tuple[str, ...], is_total: bool) -> Values | None:
    found: Any = row
    for key in where:
        found = (found or {}).get(key)
    if found is None:
        return None
    scale = row["n_sites"] if is_total else 1
    return {key: found[key] / scale for key in ("value", "error")}


def _mean(estimates: Sequence[Values | None]) -> Row | None:
    """Mean of independent estimates; None if one is not known."""
    known = [item for item in estimates if item is not None]
    if not known or len(known) < len(estimates):
        return None
    return {
        "value": sum(item["value"] for item in known) / len(known),
        "error": math.sqrt(sum(item["error"] ** 2 for item in known)) / len(known),
    }
