"""Energies and the gradient of the visible energy (section II B, appendices B and C)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.model.layers import Layers
from thermorbm.model.numerics import log_2cosh_sum
from thermorbm.model.units import row_blocks


def joint_energy(machine: Layers, v: NDArray[Any], h: NDArray[Any]) -> NDArray[np.float64]:
    """E(v, h) = -b.v - c.h - h.W v of each row, nats. (n, n_visible), (n, n_hidden) -> (n,)."""
    energies = np.empty(len(v))
    for rows in row_blocks(len(v), machine.width):
        inputs = machine.hidden_inputs(v[rows])  # W v + c
        pairs = np.einsum("ni,ni->n", inputs, h[rows], dtype=np.float64)
        energies[rows] = -pairs - machine.visible_field(v[rows])
    return energies


def visible_energy(machine: Layers, v: NDArray[Any]) -> NDArray[np.float64]:
    """-ln sum_h exp(-E(v, h)) of each row, nats. (n, n_visible) -> (n,)."""
    energies = np.empty(len(v))
    for rows in row_blocks(len(v), machine.width):
        inputs = machine.hidden_inputs(v[rows])
        energies[rows] = -machine.visible_field(v[rows]) - log_2cosh_sum(inputs)
    return energies


def mean_gradient(machine: Layers, v: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Mean over rows of minus the gradient of the visible energy (appendix C), by parameter name."""
    if not len(v):
        raise InputError("v", v.shape, "at least one configuration")
    totals = {name: np.zeros(array.shape) for name, array in machine.parameters.items()}
    for rows in row_blocks(len(v), machine.width):
        sums = machine.gradient_sums(v[rows], np.tanh(machine.hidden_inputs(v[rows])))
        for name, total in totals.items():
            total += sums[name]
    return {name: total / len(v) for name, total in totals.items()}
