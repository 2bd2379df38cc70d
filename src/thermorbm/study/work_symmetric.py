"""The task that reads a symmetric machine: the Hamiltonian it has learned, and what it generates itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thermorbm import observables as ob
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.model import SymmetricRBM
from thermorbm.stats import Estimate
from thermorbm.study.store import Product, Store
from thermorbm.study.tasks import Task
from thermorbm.study.thermal import as_dict, thermal_averages
from thermorbm.study.work_data import split

CHAINS, STEPS = 512, 100
LARGEST_FOURS = 3

Values = dict[str, Any]


def interactions(task: Task, store: Store) -> Product:
    """Couplings over k_B T with the temperature they stand for; averages of the machine's own chains."""
    machine, data = store.machine(task.inputs[0]), store.dataset(task.inputs[1])
    assert isinstance(machine, SymmetricRBM)
    values = {**_learned(machine), "own": _own(machine, data, task.parameters["seed"])}
    return Product(values, {"filters": machine.filters})


def _learned(machine: SymmetricRBM) -> Values:
    """Errors of single machines are not known; several seeds show them."""
    try:
        found = ob.interactions(machine)
    except InputError as error:  # a window too large to expand
        unknown = as_dict(Estimate(math.nan, math.nan))
        return {
            "nearest_coupling": unknown,
            "temperature": None,
            "pairs": [],
            "fours": [],
            "problem": str(error),
        }
    fours = sorted(found.of_order(4).items(), key=lambda item: -abs(item[1]))[:LARGEST_FOURS]
    return {
        "nearest_coupling": as_dict(Estimate(found.nearest, math.nan)),
        "temperature": 1 / found.nearest if found.nearest > 0 else None,
        "field": sum(found.of_order(1).values()),
        "pairs": [{"r": list(r), "coupling": value} for r, value in found.pairs.items()],
        "fours": [{"places": [list(x) for x in places], "coupling": value} for places, value in fours],
        "problem": None,
    }


def _own(machine: SymmetricRBM, data: Dataset, seed: int) -> Values:
    """Averages over chains of the machine that start at held-out configurations."""
    if data.lattice is None or data.temperature is None:
        return {}
    held_out = split(data)[1]
    rows = np.arange(CHAINS) * len(held_out) // CHAINS
    chains = machine.gibbs(held_out.select(rows).spins(), STEPS, seed)
    return {
        "n_chains": CHAINS,
        "steps": STEPS,
        **thermal_averages(Dataset.from_spins(chains, data.lattice, data.temperature)),
    }
