"""How long to run and how often to keep: from the measured autocorrelation, not from habit.

The pilot runs all chains from their starts until its second half is longer than 20 integrated autocorrelation
times of both the energy and |m| (more when there are few chains to average over) and the chains agree with
one another. Everything up to there is burn-in; samples are then kept every 5 autocorrelation times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.sampling.blocks import Block
from thermorbm.sampling.pilot import Pilot
from thermorbm.sampling.workers import Workers

MAX_PILOT_SWEEPS = 200_000

_FIRST_RECORDS = 64
_MAX_RECORDS = 2048
# Chains whose records are kept at all; the others only move along. It bounds the memory.
_PILOT_CHAINS = 4096

Progress = Callable[[str, int, int], None]


def run_pilot(blocks: Sequence[Block], workers: Workers, progress: Progress, max_sweeps: int) -> Pilot:
    """Runs the blocks to equilibrium, or for max_sweeps: then the pilot is not `resolved`."""
    progress("equilibrate", 0, 2 * _FIRST_RECORDS)
    hot = np.concatenate([block.hot for block in _followed(blocks)])
    series, stride = _record(blocks, workers, _FIRST_RECORDS, 1), 1
    while True:
        n_records = series.shape[1]
        energy, magnetization = series[:, n_records // 2 :]
        pilot = Pilot(energy, magnetization, hot, stride, n_records * stride)
        progress("equilibrate", pilot.sweeps, math.ceil(2 * pilot.sweeps_needed))
        if pilot.resolved or pilot.sweeps >= max_sweeps:
            return pilot
        if n_records >= _MAX_RECORDS:
            series, stride = series[:, 1::2], 2 * stride
        n_more = series.shape[1] // 8 * 2  # a quarter more, and even, so that thinning keeps the last
        series = np.concatenate([series, _record(blocks, workers, n_more, stride)], axis=1)


def _followed(blocks: Sequence[Block]) -> Sequence[Block]:
    return blocks[: max(1, _PILOT_CHAINS // len(blocks[0].hot))]


def _record(blocks: Sequence[Block], workers: Workers, n_records: int, stride: int) -> NDArray[Any]:
    """(2, n_records, n_chains): energy and magnetisation, each record after `stride` more sweeps.

    All blocks move; n_chains counts those of the followed ones.
    """
    size, n_followed = len(blocks[0].hot), len(_followed(blocks))
    series = np.empty((2, n_records, n_followed * size), blocks[0].measure()[0].dtype)

    def follow(index: int) -> None:
        if index >= n_followed:
            workers.advance(blocks[index], n_records * stride)
            return
        for record in range(n_records):
            workers.advance(blocks[index], stride)
            series[:, record, index * size : (index + 1) * size] = blocks[index].measure()

    workers.map(follow, range(len(blocks)))
    return series
