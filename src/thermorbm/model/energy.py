"""Energies, the gradient of the visible energy, and the pseudo-likelihood (section II B, appendices B, C)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.model.layers import Layers
from thermorbm.model.units import row_blocks

# Factors 1 + exp(-2 |x|) lie in (1, 2], so a product of 512 of them stays below 2^512.
FACTORS = 512


def softplus(x: NDArray[Any]) -> NDArray[np.float64]:
    """ln(1 + e^x), elementwise, for any finite x."""
    x = np.asarray(x, dtype=np.float64)
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def log_2cosh(x: NDArray[Any]) -> NDArray[np.float64]:
    """ln(e^x + e^-x), elementwise, for any finite x."""
    size = np.abs(np.asarray(x, dtype=np.float64))
    return np.asarray(size + np.log1p(np.exp(-2 * size)))


def log_2cosh_sum(x: NDArray[Any]) -> NDArray[np.float64]:
    """Sum of ln(e^x + e^-x) over the last axis. x: (n, m) -> (n,).

    Same value as `log_2cosh(x).sum(1)` with one logarithm per 512 elements instead of one each.
    """
    size = np.abs(np.asarray(x, dtype=np.float64))
    total = size.sum(axis=1)
    size *= -2
    factors = np.exp(size, out=size)
    factors += 1
    products = np.multiply.reduceat(factors, np.arange(0, x.shape[1], FACTORS), axis=1)
    return np.asarray(total + np.log(products).sum(axis=1))


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
