"""How long to run and how often to keep: from the measured autocorrelation, not from habit.

The pilot runs all chains from their starts until its second half is longer than 20 integrated autocorrelation
times of both the energy and |m| (more when there are few chains to average over). Everything up to there is
burn-in; samples are then kept every 5 autocorrelation times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from thermorbm.sampling.blocks import Block
from thermorbm.stats import autocorrelation_time

SPACING_TAUS = 5
BURN_IN_TAUS = 20
# Chain lengths in units of tau, summed over chains, that make tau itself known to a few per cent.
PILOT_TAUS = 2000
MAX_PILOT_SWEEPS = 200_000

_FIRST_RECORDS = 64
_MAX_RECORDS = 2048
# Chains used for the autocorrelation function; more would not make it better known than needed.
_TAU_CHAINS = 512

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Pilot:
    """What the run up to equilibrium showed.

    energy, magnetization: (n_records, n_chains) totals from its second half, `stride` sweeps apart.
    """

    energy: NDArray[np.int64]
    magnetization: NDArray[np.int64]
    stride: int
    sweeps: int
    tau_energy: float
    tau_abs_magnetization: float
    resolved: bool

    @property
    def tau(self) -> float:
        return max(self.tau_energy, self.tau_abs_magnetization)

    @property
    def spacing(self) -> int:
        """Sweeps between kept samples."""
        return math.ceil(SPACING_TAUS * self.tau)


def run_pilot(
    blocks: Sequence[Block],
    pool: ThreadPoolExecutor,
    progress: Progress,
    max_sweeps: int,
) -> Pilot:
    """Runs the blocks to equilibrium; `resolved` is False if max_sweeps did not suffice to know tau."""
    series, stride, target = _record(blocks, pool, _FIRST_RECORDS, 1), 1, _FIRST_RECORDS
    while True:
        pilot = _assess(series, stride)
        progress("equilibrate", pilot.sweeps, math.ceil(2 * _needed(pilot)))
        if pilot.resolved or pilot.sweeps >= max_sweeps:
            return pilot
        if target >= _MAX_RECORDS:
            series, stride, target = series[:, 1::2], 2 * stride, target // 2
        series = np.concatenate([series, _record(blocks, pool, target // 2, stride)], axis=1)
        target += target // 2


def _record(
    blocks: Sequence[Block], pool: ThreadPoolExecutor, n_records: int, stride: int
) -> NDArray[np.int64]:
    """(2, n_records, n_chains): energy and magnetisation, each record after `stride` more sweeps."""

    def follow(block: Block) -> NDArray[np.int64]:
        series = np.empty((2, n_records, len(block.hot)), np.int64)
        for record in range(n_records):
            block.advance(stride)
            series[:, record] = block.measure()
        return series

    return np.concatenate(list(pool.map(follow, blocks)), axis=2)


def _assess(series: NDArray[np.int64], stride: int) -> Pilot:
    second_half = series[:, series.shape[1] // 2 :]
    energy, magnetization = second_half
    step = max(1, energy.shape[1] // _TAU_CHAINS)
    pilot = Pilot(
        energy,
        magnetization,
        stride,
        series.shape[1] * stride,
        stride * autocorrelation_time(energy[:, ::step]),
        stride * autocorrelation_time(np.abs(magnetization[:, ::step])),
        resolved=False,
    )
    return replace(pilot, resolved=len(energy) * stride >= _needed(pilot))


def _needed(pilot: Pilot) -> float:
    """Sweeps that each half of the pilot must last."""
    return float(max(BURN_IN_TAUS, PILOT_TAUS / pilot.energy.shape[1]) * pilot.tau)
