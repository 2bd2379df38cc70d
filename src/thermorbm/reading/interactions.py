"""What a symmetric machine has learned: its Hamiltonian, and what it generates itself."""

from __future__ import annotations

import math

import numpy as np

from thermorbm import observables as ob
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.model import SymmetricRBM
from thermorbm.reading.configurations import thermal_averages
from thermorbm.reading.values import Four, Interactions, OwnChains, Pair
from thermorbm.stats import Estimate

CHAINS, STEPS = 512, 100
LARGEST_FOURS = 3


def interactions(machine: SymmetricRBM, held_out: Dataset, seed: int) -> Interactions:
    """Couplings over k_B T with the temperature they stand for; averages of the machine's own chains.

    The error of a single machine's couplings is not known; several seeds show it.
    """
    own = _own_chains(machine, held_out, seed)
    try:
        learned = ob.interactions(machine)
    except InputError as error:  # a window too large to expand
        return Interactions(Estimate(math.nan, math.nan), (), (), own, problem=str(error))
    fours = sorted(learned.of_order(4).items(), key=lambda item: -abs(item[1]))[:LARGEST_FOURS]
    return Interactions(
        nearest_coupling=Estimate(learned.nearest, math.nan),
        pairs=tuple(Pair(tuple(r), value) for r, value in learned.pairs.items()),
        fours=tuple(Four(tuple(tuple(x) for x in places), value) for places, value in fours),
        own=own,
        temperature=1 / learned.nearest if learned.nearest > 0 else None,
        field=sum(learned.of_order(1).values()),
    )


def _own_chains(machine: SymmetricRBM, held_out: Dataset, seed: int) -> OwnChains:
    """Averages over chains of the machine that start at held-out configurations."""
    if held_out.lattice is None or held_out.temperature is None:
        return OwnChains()
    rows = np.arange(CHAINS) * len(held_out) // CHAINS
    chains = machine.gibbs(held_out.select(rows).spins(), STEPS, seed)
    generated = Dataset.from_spins(chains, held_out.lattice, held_out.temperature)
    return OwnChains(CHAINS, STEPS, thermal_averages(generated))
