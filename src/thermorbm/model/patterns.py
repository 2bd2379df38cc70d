"""A mode that annealing passed by: what the machine's own leading patterns say of ln Z.

Chains that come from independent units arrive where there are many configurations. A mode of fewer and more
likely ones, behind a first-order transition, is met late by a few chains or by none, and nothing in their
works tells. Such a mode lies along the weights. So chains start along the leading singular vectors of W,
relax, and those of the lowest visible energy give fields in which free units look like them. From these
fields no transition is met, and the chains that anneal from there give a lower bound of ln Z: its mean weight
is Z whatever the start, so that it exceeds ln Z by x nats with a probability of at most exp(-x).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.model.annealing import anneal, effective_number, relax
from thermorbm.model.bennett import log_mean
from thermorbm.model.energy import visible_energy
from thermorbm.model.path import Path, leading_patterns
from thermorbm.model.random_units import generator_state
from thermorbm.stats import Estimate

_PATTERNS = 8
_LEAST_UNITS = 4  # fewer have no pattern worth the search
_FEWEST_CHAINS = 5.0  # of equal weight, without which the bound's error says nothing


def pattern_bound(
    path: Path, betas: NDArray[np.float64], n_chains: int, seed: np.random.SeedSequence
) -> Estimate | None:
    """A lower bound of ln Z, nats, from chains that start near the machine's most likely pattern.

    None where its weight is on too few chains, or where units are too few to have patterns. betas: rungs,
    (n_rungs + 1,).
    """
    if path.machine.n_visible < _LEAST_UNITS:
        return None
    chains, draws = seed.spawn(2)
    state = generator_state(chains)
    v = _deepest(path, leading_patterns(path.machine, _PATTERNS), len(betas) // 2, state)
    v = v[np.arange(n_chains) % len(v)]
    relax(path, v, len(betas) // 2, state)
    largest = 1 - 1 / (2 * len(v))  # where no chain is down, half a chain might be
    fields = np.arctanh(np.clip(v.mean(axis=0, dtype=np.float64), -largest, largest))
    guided = replace(path, a=fields.astype(path.a.dtype), guide=0.0)
    found = anneal(guided, betas, guided.start(n_chains, state), state)
    if effective_number(found.log_weights) < _FEWEST_CHAINS:
        return None
    bound = log_mean(found.log_weights, np.random.default_rng(draws))
    return Estimate(guided.log_start + bound.value, bound.error)


def _deepest(
    path: Path, patterns: NDArray[np.int64], n_steps: int, state: NDArray[np.uint64], n_copies: int = 4
) -> NDArray[Any]:
    """Where chains from one of the patterns or its negative end, the one of the lowest mean energy."""
    starts = np.concatenate([patterns, -patterns])
    v = np.repeat(starts, n_copies, axis=0).astype(path.machine.dtype)
    relax(path, v, n_steps, state)
    energies = visible_energy(path.machine, v).reshape(len(starts), n_copies).mean(axis=1)
    return np.asarray(v.reshape(len(starts), n_copies, -1)[int(np.argmin(energies))])
