"""One row per machine: its training, likelihoods, entropy bracket and visible energy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from thermorbm.stats import Estimate
from thermorbm.study.quantities import QUANTITIES, Quantity
from thermorbm.study.records import as_plain
from thermorbm.study.results import Family, Machine, Observation


def summary_row(machine: Machine, entropies: Mapping[float, Estimate]) -> dict[str, Any]:
    """The row of a machine in `tables/summary.csv`; one for all temperatures has the means over them.

    entropies: S per spin by temperature, exact or integrated.
    """
    seen, recipe = machine.observations, machine.recipe
    shown = [quantity for quantity in QUANTITIES.values() if quantity.in_summary]
    means = {quantity.name: _mean([_read(quantity, row) for row in seen]) for quantity in shown}
    means["entropy_per_spin"] = _mean([entropies.get(row.value) for row in seen])
    return {
        "group": machine.variant,
        "value": machine.value,
        "n_hidden": machine.n_hidden,
        "seed_index": machine.seed_index,
        "recipe": recipe["name"],
        "epochs": recipe["epochs"],
        "epochs_done": machine.last_record.get("epoch"),
        "updates": machine.last_record.get("update"),
        "zero_bias": recipe["zero_bias"],
        "status": machine.verdict.status,
        "converged": machine.verdict.status == "converged",
        "n_values": len(seen),
        **as_plain(means),
        "partition_verdict": machine.partition.verdict if machine.partition else None,
    }


def known_entropies(family: Family) -> dict[float, Estimate]:
    """S per spin by temperature: exact on this very lattice where known, else by integration."""
    entropies: dict[float, Estimate] = {}
    if family.thermodynamics and family.thermodynamics.entropy is not None:
        curve = family.thermodynamics.entropy.combined
        columns = zip(curve.x, curve.values, curve.errors, strict=True)
        entropies = {x: Estimate(value, error) for x, value, error in columns}
    for row in family.data:
        if row.exact is not None and row.exact.source == "kaufman":
            entropies[row.value] = Estimate(row.exact.entropy_per_spin, 0.0)
    return entropies


def _read(quantity: Quantity, row: Observation) -> Estimate | None:
    return quantity.estimates(row, {}).get(quantity.name)


def _mean(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """Mean of independent estimates; None if one is not known."""
    known = [item for item in estimates if item is not None]
    if not known or len(known) < len(estimates):
        return None
    error = math.sqrt(sum(item.error**2 for item in known)) / len(known)
    return Estimate(sum(item.value for item in known) / len(known), error)
