"""An upper bound on the entropy of the distribution that configurations come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.checks import whole_number
from thermorbm.errors import InputError
from thermorbm.model.annealing import anneal
from thermorbm.model.energy import visible_energy
from thermorbm.model.first_run import AUTO, first_run
from thermorbm.model.layers import Layers
from thermorbm.model.ordered_path import path_along
from thermorbm.model.partition import CHAINS, planned_rungs
from thermorbm.model.path import Path, make_path
from thermorbm.model.random_units import Seed, generator_state, seed_sequence
from thermorbm.model.sandwich import Progress, ticker
from thermorbm.stats import Estimate

MOST_CHAINS = 256
_CHAINS_AT_ONCE = 256


def entropy_upper_bound(
    machine: Layers,
    v: NDArray[Any],
    seed: Seed = 0,
    n_chains: int = MOST_CHAINS,
    betas: NDArray[np.float64] | None = None,
    guide: float = 0.0,
    thresholds: NDArray[np.float64] | None = None,
    start: str | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """<visible energy> + ln Z_0 - <ln w>, total in nats; w of chains that anneal from each v to independence.

    The relative entropy of (v and its way back) and of the forward process is >= 0. So the mean is at least
    the entropy of the distribution of v, for any machine and any rungs, as long as neither has seen v; the
    excess is the relative entropy of v and the machine plus the work lost on the way. The error is that of
    the mean over configurations. The energy is that of all v; n_chains of them, evenly spaced, are annealed,
    which costs more and varies less. betas, guide, thresholds: rungs from 0 to 1 and what belongs to their
    path, as in `LogPartition`; without betas all are found. start: of the path, as for
    `partition.log_partition_ais`.
    """
    if len(v) < 2:
        raise InputError("v", f"{len(v)} configurations", "two or more, for an error")
    look, back = seed_sequence(seed).spawn(2)
    if betas is None:
        first = first_run(machine, start or AUTO, CHAINS, look)
        path, rungs = first.path, planned_rungs(first)
    elif thresholds is not None:
        rungs = _checked(betas)
        path = path_along(machine, rungs, thresholds)
    else:
        path, rungs = make_path(machine, start or "bias", guide), _checked(betas)
    n_chains = min(len(v), whole_number("n_chains", n_chains, 2))
    chosen = np.arange(n_chains) * len(v) // n_chains
    log_weights = _way_back(path, rungs, v[chosen], back, progress)
    energies = visible_energy(machine, v)
    value = energies.mean() + path.log_start - log_weights.mean()
    return Estimate(float(value), _error(energies, -log_weights, energies[chosen]))


def _way_back(
    path: Path,
    betas: NDArray[np.float64],
    v: NDArray[Any],
    seed: np.random.SeedSequence,
    progress: Progress | None,
) -> NDArray[np.float64]:
    """ln w of a chain from each configuration to independent units. (n, n_visible) -> (n,)."""
    blocks = [v[k : k + _CHAINS_AT_ONCE] for k in range(0, len(v), _CHAINS_AT_ONCE)]
    tick = ticker(progress, "entropy bound", len(blocks) * (len(betas) - 1))
    log_weights = []
    for rows, block_seed in zip(blocks, seed.spawn(len(blocks)), strict=True):
        chains = np.array(rows, dtype=path.machine.dtype)
        log_weights.append(anneal(path, betas[::-1], chains, generator_state(block_seed), tick).log_weights)
    return np.concatenate(log_weights)


def _error(
    energies: NDArray[np.float64], losses: NDArray[np.float64], their_energies: NDArray[np.float64]
) -> float:
    """Of mean(energies) + mean(losses), where the losses belong to some of the energies."""
    together = np.cov(their_energies, losses)
    variance = energies.var(ddof=1) / len(energies) + together[1, 1] / len(losses)
    return float(np.sqrt(max(0.0, variance + 2 * together[0, 1] / len(energies))))


def _checked(betas: NDArray[np.float64]) -> NDArray[np.float64]:
    rungs = np.asarray(betas, dtype=np.float64)
    rises = rungs.ndim == 1 and len(rungs) > 1 and bool((np.diff(rungs) >= 0).all())
    if not rises or rungs[0] != 0 or rungs[-1] != 1:
        raise InputError("betas", betas, "inverse temperatures that rise from 0 to 1")
    return rungs
