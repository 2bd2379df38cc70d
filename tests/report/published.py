"""What must be true of published results, as lists of what is wrong: empty where all is well."""

import csv
import json
import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

LIMIT = 4  # standard errors
ROW = (
    "recipe", "epochs", "epochs_done", "status", "pseudo_likelihood_per_spin", "cross_entropy",
    "entropy_lower_per_spin", "entropy_upper_per_spin", "nll_per_spin", "visible_energy_mean_per_spin",
    "visible_energy_variance_per_spin", "partition_verdict",
)  # fmt: skip
WITH_LOG_PARTITION = ("entropy_lower_per_spin", "entropy_upper_per_spin", "nll_per_spin", "partition_verdict")
ROW_WITHOUT_BRACKET = tuple(name for name in ROW if name not in WITH_LOG_PARTITION)
# ln Z is trusted within its errors; it may be less sharp than was asked for.
TRUSTED = ("ok", "wider than asked")


@dataclass(frozen=True)
class Published:
    results: dict
    summary: list[dict]

    def family(self, name):
        return next(family for family in self.results["families"] if family["name"] == name)

    def rows(self, family, group="main"):
        return [row for row in self.summary if (row["family"], row["group"]) == (family, group)]


def read_published(path):
    with open(path / "tables" / "summary.csv", newline="") as file:
        return Published(json.loads((path / "results.json").read_text()), list(csv.DictReader(file)))


def count_rows(published, groups):
    """Numbers of rows by family, group and hidden units."""
    rows = [row for row in published.summary if row["group"] in groups]
    return Counter((row["family"], row["group"], int(row["n_hidden"])) for row in rows)


def incomplete_rows(published, groups, families, columns=ROW):
    """Rows in which something is missing, with what it is."""
    found = []
    wanted = [*columns, *(f"{name}_error" for name in columns if name.endswith("_per_spin"))]
    for row in published.summary:
        if row["group"] in groups and row["family"] in families:
            found += [
                (row["family"], row["value"], row["n_hidden"], name) for name in wanted if row[name] == ""
            ]
    return found


def open_brackets(published, family):
    """Machines at temperatures where S~ <= S <= NLL fails by more than four errors.

    Where ln Z is not to be trusted, the upper bound of the entropy takes the place of NLL. It needs no ln Z.
    In the cold a few held-out configurations may have no excitation at all, and their scatter tells nothing:
    NLL of n of them varies by sqrt(c_V / (N n)), which is added.
    """
    found = []
    for row in published.rows(family):
        few = _sampling_error(published.family(family), float(row["value"]))
        trusted = row["partition_verdict"].startswith(TRUSTED)
        upper = "nll_per_spin" if trusted else "entropy_upper_per_spin"
        edges = [_pair(row, name) for name in ("entropy_lower_per_spin", "entropy_per_spin", upper)]
        for (low, low_error), (high, high_error) in pairwise(edges):
            if low > high + LIMIT * math.hypot(low_error, high_error, few):
                found.append((row["value"], row["n_hidden"], low, high))
    return found


def _sampling_error(family, value):
    data = next(row for row in family["data"] if row["value"] == value and row["sector"] == "symmetric")
    if not data.get("exact"):
        return 0.0
    return math.sqrt(data["exact"]["heat_capacity_per_spin"] / (family["n_sites"] * data["n_held_out"]))


def temperatures_with_nll(published, family):
    """Those at which a machine, dense or symmetric, has a NLL whose ln Z is to be trusted."""
    rows = [row for group in ("main", "symmetric") for row in published.rows(family, group)]
    return {float(row["value"]) for row in rows if row["partition_verdict"].startswith(TRUSTED)}


def energies_off(published, family):
    """Temperatures at which the mean energy is more than four standard errors from Kaufman's."""
    found = []
    for row in published.family(family)["data"]:
        if row["sector"] != "symmetric":
            continue
        measured, exact = row["thermal"]["energy_per_spin"], row["exact"]
        n_samples = row["n_train"] + row["n_held_out"]
        # Far below T_c samples may all be alike; then the exact heat capacity says how far they may be off.
        variance = exact["heat_capacity_per_spin"] * row["value"] ** 2 / row["n_sites"]
        error = max(measured["error"], math.sqrt(variance / n_samples))
        if abs(measured["value"] - exact["energy_per_spin"]) > LIMIT * error:
            found.append((row["value"], measured["value"], exact["energy_per_spin"], error))
    return found


def histogram_p_values(published, family):
    """p of the energy histogram beside the exact P(E); there is none where all samples have one energy."""
    rows = [row for row in published.family(family)["data"] if row["sector"] == "symmetric"]
    found = [row["certificate"]["energy_histogram_p"] for row in rows]
    return np.array([p for p in found if p is not None])


def families_without_tc(published, groups, families):
    """Groups and sizes for which no indicator has a T_c with an error."""
    found = set()
    for name in families:
        wanted = {
            (row["group"], int(row["n_hidden"])) for group in groups for row in published.rows(name, group)
        }
        known = {
            (row["group"], row["n_hidden"])
            for row in published.family(name)["critical_temperatures"]
            if row["estimate"] is not None and row["problem"] is None and row["estimate"]["error"] > 0
        }
        found |= {(name, *item) for item in wanted - known}
    return found


def _pair(row, name):
    return float(row[name]), float(row[f"{name}_error"])
