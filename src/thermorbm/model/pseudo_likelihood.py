"""Pseudo-likelihood L~ of the paper, as a positive number of nats: minus the sum of ln p(v_j | rest)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.model.layers import Layers
from thermorbm.model.numerics import softplus
from thermorbm.model.units import row_blocks


def pseudo_likelihood(machine: Layers, v: NDArray[Any]) -> NDArray[np.float64]:
    """-sum_j ln p(v_j | rest), exact over all sites, nats. (n, n_visible) -> (n,)."""
    totals = np.empty(len(v))
    for rows in row_blocks(len(v), machine.width):
        # p(v_j | rest) = 1 / (1 + exp(-cost of flipping j)).
        totals[rows] = softplus(-machine.flip_energies(v[rows])).sum(axis=1)
    return totals


def pseudo_likelihood_estimate(
    machine: Layers, v: NDArray[Any], generator: np.random.Generator
) -> NDArray[np.float64]:
    """-n_v ln p(v_j | rest) at one random site j per row, the paper's unbiased estimate. -> (n,)."""
    sites = generator.integers(machine.n_visible, size=len(v))
    totals = np.empty(len(v))
    for rows in row_blocks(len(v), machine.width):
        totals[rows] = machine.n_visible * softplus(-machine.flip_energy(v[rows], sites[rows]))
    return totals
