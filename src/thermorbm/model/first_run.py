"""The first, short run along a path, and which path it should be; a mode that annealing passed by.

Chains that come from independent units arrive where there are many configurations. A mode of fewer and more
likely ones, behind a first-order transition, is met late by a few chains or by none, and nothing in their
works tells. Such a mode lies along the weights. So chains start along the leading singular vectors of W,
relax, and those of the lowest visible energy give fields in which free units look like them. From these
fields no transition is met, and the chains that anneal from there give a lower bound of ln Z: its mean weight
is Z whatever the start, so that it exceeds ln Z by x nats with a probability of at most exp(-x).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from thermorbm.errors import unknown_name
from thermorbm.model.annealing import anneal, effective_number, log_mean, relax
from thermorbm.model.energy import visible_energy
from thermorbm.model.layers import Layers
from thermorbm.model.ordered_path import ordered_path
from thermorbm.model.path import STARTS, Path, leading_patterns, make_path, preferred_pattern
from thermorbm.model.random_units import generator_state
from thermorbm.stats import Estimate

AUTO = "auto"
N_RUNGS = 128
_GUIDE_CHAINS, _GUIDE_STEPS = 8, 128
_CLEAR = 3.0  # standard deviations over chains; a smaller magnetisation is none
_PATTERNS = 8
_GAIN = 2.0  # standard deviations of ln w
_LEAST_UNITS = 4  # fewer have no pattern worth the search
_FEWEST_CHAINS = 5.0  # of equal weight, without which the bound's error says nothing


@dataclass(frozen=True, eq=False)
class FirstRun:
    """Works of chains along evenly spaced rungs. betas: (n_rungs + 1,); works: (n_rungs, n)."""

    path: Path
    betas: NDArray[np.float64]
    works: NDArray[np.float64]

    @property
    def log_partition(self) -> float:
        """ln of the mean weight and of Z at the start: a lower bound of ln Z, in expectation."""
        log_weights = self.works.sum(axis=0)
        return self.path.log_start + float(logsumexp(log_weights)) - math.log(len(log_weights))

    @property
    def spread(self) -> float:
        """Standard deviation of ln w over chains."""
        return float(self.works.sum(axis=0).std())

    @property
    def error(self) -> float:
        """Standard error of log_partition, by how many chains of equal weight these are worth."""
        log_weights = self.works.sum(axis=0)
        return math.sqrt(max(0.0, 1 / effective_number(log_weights) - 1 / len(log_weights)))


def first_run(machine: Layers, start: str, n_chains: int, seed: np.random.SeedSequence) -> FirstRun:
    """Along the path that `start` names; "auto" takes that from the bias, the same with a guide, or that of
    the units that share the order.

    All give lower bounds of ln Z, so that the largest one belongs to the best path. Where order hides a
    heavier mode of the machine, the path without a guide gives the larger bound.
    """
    if start not in (AUTO, *STARTS):
        raise unknown_name("start", start, (AUTO, *STARTS))
    look, plain, guided, ordered = seed.spawn(4)
    if start != AUTO:
        return _run(make_path(machine, start), n_chains, plain)
    best = without = _run(make_path(machine), n_chains, plain)
    guide = find_guide(machine, look)
    if guide:
        with_guide = _run(make_path(machine, guide=guide), n_chains, guided)
        best = max(without, with_guide, key=lambda run: run.log_partition)
    shared = ordered_path(machine, generator_state(ordered.spawn(1)[0]))
    last = _run(shared, n_chains, ordered) if shared else best
    return last if _is_better(last, best, without) else best


def _is_better(ordered: FirstRun, best: FirstRun, without: FirstRun) -> bool:
    """Whether the bound is the largest, or weights are the steadier ones and it may be: with more rungs, or
    within the error of the other bound, which a single chain can push up.

    Along the other paths chains arrive in wrong modes, which more rungs do not mend: near T_c bounds of these
    few rungs were within 8 nats, and only this path then led to equilibrium.
    """
    may_gain = _GAIN * ordered.spread + best.error if ordered.spread < without.spread else 0.0
    return ordered.log_partition + may_gain > best.log_partition


def find_guide(machine: Layers, seed: np.random.SeedSequence) -> float:
    """The field in which free units have the order that the machine keeps when it starts there; 0 if none.

    Positive for units that are all alike. Else the pattern that the weights prefer is tried, as of an
    antiferromagnet: the field along it is given with a minus sign.
    """
    uniform = _kept_field(machine, np.ones(machine.n_visible, machine.dtype), seed)
    if uniform or machine.n_visible < _LEAST_UNITS:
        return uniform
    pattern = preferred_pattern(machine)
    if (pattern == pattern[0]).all():
        return 0.0
    return -_kept_field(machine, pattern, seed.spawn(1)[0])


def _kept_field(machine: Layers, pattern: NDArray[Any], seed: np.random.SeedSequence) -> float:
    """From the overlap with a pattern that chains keep when they start at it."""
    v = np.tile(pattern, (_GUIDE_CHAINS, 1))
    relax(make_path(machine), v, _GUIDE_STEPS, generator_state(seed))
    m = v.mean(axis=1, dtype=np.float64) if pattern.min() > 0 else v @ pattern / machine.n_visible
    if m.mean() < _CLEAR * m.std(ddof=1):
        return 0.0
    largest = 1 - 1 / (2 * v.size)  # where no unit is down, half a unit of all might be
    return float(np.arctanh(min(m.mean(), largest)))


def _run(path: Path, n_chains: int, seed: np.random.SeedSequence) -> FirstRun:
    betas, state = np.linspace(0, 1, N_RUNGS + 1), generator_state(seed)
    return FirstRun(path, betas, anneal(path, betas, path.start(n_chains, state), state).works)


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
    guided = replace(make_path(path.machine), a=fields.astype(v.dtype))
    run = anneal(guided, betas, guided.start(n_chains, state), state)
    if effective_number(run.log_weights) < _FEWEST_CHAINS:
        return None
    bound = log_mean(run.log_weights, np.random.default_rng(draws))
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
