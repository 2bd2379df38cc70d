"""ln Z by enumeration of the smaller layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from thermorbm.errors import InputError
from thermorbm.model.energy import visible_energy
from thermorbm.model.layers import Layers
from thermorbm.model.numerics import log_2cosh_sum
from thermorbm.model.units import row_blocks

MOST_UNITS = 22  # 2^22 states of the smaller layer


@dataclass(frozen=True)
class LogPartition:
    """ln Z in nats, its standard error, and the edges between which it lies."""

    value: float
    error: float
    lower: float
    upper: float
    method: str


def log_partition_exact(machine: Layers) -> LogPartition:
    """ln Z = ln of the sum over the smaller layer, the other one summed analytically."""
    smaller = min(machine.n_visible, machine.n_hidden)
    if smaller > MOST_UNITS:
        layers = f"{machine.n_hidden} hidden and {machine.n_visible} visible units"
        raise InputError(
            "machine", layers, f"one with a layer of <= {MOST_UNITS} units for exact enumeration"
        )
    log_weights = _hidden_log_weights if machine.n_hidden == smaller else _visible_log_weights
    parts = [logsumexp(log_weights(machine, states)) for states in _all_states(smaller, machine.width)]
    value = float(logsumexp(parts))
    return LogPartition(value, error=0.0, lower=value, upper=value, method="exact")


def _hidden_log_weights(machine: Layers, h: NDArray[np.float64]) -> NDArray[np.float64]:
    return machine.hidden_field(h) + log_2cosh_sum(machine.visible_inputs(h))


def _visible_log_weights(machine: Layers, v: NDArray[np.float64]) -> NDArray[np.float64]:
    return -visible_energy(machine, v)


def _all_states(n_units: int, width: int) -> Iterator[NDArray[np.float64]]:
    """Every state of the layer once, in blocks of +-1, float64 whatever the machine's type."""
    for rows in row_blocks(1 << n_units, width):
        numbers = np.arange(rows.start, rows.stop)
        yield np.where((numbers[:, None] >> np.arange(n_units)) & 1, 1.0, -1.0)
