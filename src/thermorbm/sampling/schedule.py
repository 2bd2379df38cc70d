"""How long to run and how often to keep: from the measured autocorrelation, not from habit.

The pilot runs all chains from their starts until its second half is longer than 20 integrated autocorrelation
times of both the energy and |m| (more when there are few chains to average over) and the chains agree with
one another; a ladder that keeps several temperatures, until this holds at each of them and for their sums.
Everything up to there is burn-in; samples are then kept every 5 autocorrelation times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.sampling.blocks import Block
from thermorbm.sampling.pilot import Pilot, Watch
from thermorbm.sampling.workers import Workers

MAX_PILOT_SWEEPS = 200_000

_FIRST_RECORDS = 64
_MAX_RECORDS = 2048
# Chains whose records are kept at all; the others only move along. It bounds the memory.
_PILOT_CHAINS = 4096
_WATCHED_CHAINS = 128  # of the first block, of which further sums are followed

Progress = Callable[[str, int, int], None]


def run_pilots(
    blocks: Sequence[Block],
    workers: Workers,
    progress: Progress,
    max_sweeps: int,
    n_temperatures: int = 1,
    watch: Watch | None = None,
) -> list[Pilot]:
    """Runs the blocks to equilibrium, or for max_sweeps: then not all pilots are `resolved`.

    One pilot for each temperature; of several one more, that of their sums. Configurations wander from one
    temperature to another, and are remembered there longer than any single temperature shows. watch: gives
    further sums that have to settle.
    """
    progress("equilibrate", 0, 2 * _FIRST_RECORDS)
    hot = np.stack([block.hot for block in _followed(blocks)])
    look = _watching(blocks[0], n_temperatures, watch)
    (series, watched), stride = _record(blocks, workers, _FIRST_RECORDS, 1, look), 1
    while True:
        n_records = series.shape[1]
        sweeps = n_records * stride
        levels = _by_temperature(series[:, n_records // 2 :], n_temperatures)
        beside = [*watched[:, n_records // 2 :].transpose(2, 0, 1, 3), watched[:0, :, 0]]  # none of the sums
        pilots = [
            Pilot(energy, magnetization, hot.ravel(), stride, sweeps, more)
            for (energy, magnetization), more in zip(levels, beside, strict=False)
        ]
        needed = max(pilot.sweeps_needed for pilot in pilots)
        progress("equilibrate", sweeps, math.ceil(2 * needed))
        if all(pilot.resolved for pilot in pilots) or sweeps >= max_sweeps:
            return pilots
        if n_records >= _MAX_RECORDS:
            series, watched, stride = series[:, 1::2], watched[:, 1::2], 2 * stride
        n_more = series.shape[1] // 8 * 2  # a quarter more, and even, so that thinning keeps the last
        more_series, more_watched = _record(blocks, workers, n_more, stride, look)
        series = np.concatenate([series, more_series], axis=1)
        watched = np.concatenate([watched, more_watched], axis=1)


def _watching(block: Block, n_temperatures: int, watch: Watch | None) -> Callable[[], NDArray[np.int64]]:
    """A function that gives (k, n_temperatures, n_watched) of the first chains; k is 0 without a watch."""
    n_watched = min(_WATCHED_CHAINS, len(block.hot))
    if watch is None:
        return lambda: np.empty((0, n_temperatures, n_watched), np.int64)

    def look() -> NDArray[np.int64]:
        packed = block.packed().reshape(n_temperatures, len(block.hot), -1)[:, :n_watched]
        return watch(packed.reshape(n_temperatures * n_watched, -1)).reshape(-1, n_temperatures, n_watched)

    return look


def _followed(blocks: Sequence[Block]) -> Sequence[Block]:
    return blocks[: max(1, _PILOT_CHAINS // len(blocks[0].measure()[0]))]


def _record(
    blocks: Sequence[Block],
    workers: Workers,
    n_records: int,
    stride: int,
    look: Callable[[], NDArray[np.int64]],
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """(2, n_records, n_followed, n_chains): energy and magnetisation, each record after `stride` more sweeps.

    All blocks move. n_chains: of a block, at all the temperatures that it keeps. Beside it what `look` gives
    of the first block, (k, n_records, n_temperatures, n_watched).
    """
    first, n_followed = blocks[0].measure()[0], len(_followed(blocks))
    series = np.empty((2, n_records, n_followed, len(first)), first.dtype)
    watched: list[NDArray[np.int64]] = []

    def follow(index: int) -> None:
        if index >= n_followed:
            workers.advance(blocks[index], n_records * stride)
            return
        for record in range(n_records):
            workers.advance(blocks[index], stride)
            series[:, record, index] = blocks[index].measure()
            if index == 0:
                watched.append(look())

    workers.map(follow, range(len(blocks)))
    return series, np.stack(watched, axis=1)


def _by_temperature(series: NDArray[Any], n_temperatures: int) -> list[NDArray[Any]]:
    """(2, n_records, n_chains) of each temperature, and of several of the sum over them."""
    n_records, n_blocks = series.shape[1:3]
    levels = np.moveaxis(series.reshape(2, n_records, n_blocks, n_temperatures, -1), 3, 0)
    each = [level.reshape(2, n_records, -1) for level in levels]
    return each if n_temperatures == 1 else [*each, _summed(each)]


def _summed(levels: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Energies and |m|, each in units of its own spread."""
    total = np.zeros(levels[0].shape)
    for energy, magnetization in levels:
        for row, values in zip(total, (energy, np.abs(magnetization)), strict=True):
            row += values / (values.std() or 1.0)
    return total
