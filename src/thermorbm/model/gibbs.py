"""Conditionals, Gibbs chains and the reconstruction's cross entropy (section II B and C, appendix C)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from thermorbm.model.energy import softplus
from thermorbm.model.layers import Layers
from thermorbm.model.random_units import sample_units
from thermorbm.model.units import row_blocks


def p_hidden(machine: Layers, v: NDArray[Any]) -> NDArray[Any]:
    """P(h_i = +1 | v) = sigma(2 (W v + c)_i). (n, n_visible) -> (n, n_hidden)."""
    p = np.empty((len(v), machine.n_hidden), dtype=machine.dtype)
    for rows in row_blocks(len(v), machine.width):
        p[rows] = expit(2 * machine.hidden_inputs(v[rows]))
    return p


def p_visible(machine: Layers, h: NDArray[Any]) -> NDArray[Any]:
    """P(v_j = +1 | h) = sigma(2 (W^T h + b)_j). (n, n_hidden) -> (n, n_visible)."""
    p = np.empty((len(h), machine.n_visible), dtype=machine.dtype)
    for rows in row_blocks(len(h), machine.width):
        p[rows] = expit(2 * machine.visible_inputs(h[rows]))
    return p


def sample_hidden(machine: Layers, v: NDArray[Any], state: NDArray[np.uint64]) -> NDArray[np.int8]:
    """h drawn given v; advances the generator state. (n, n_visible) -> (n, n_hidden)."""
    h = np.empty((len(v), machine.n_hidden), dtype=np.int8)
    for rows in row_blocks(len(v), machine.width):
        sample_units(machine.hidden_inputs(v[rows]), state, h[rows])
    return h


def sample_visible(machine: Layers, h: NDArray[Any], state: NDArray[np.uint64]) -> NDArray[np.int8]:
    """v drawn given h; advances the generator state. (n, n_hidden) -> (n, n_visible)."""
    v = np.empty((len(h), machine.n_visible), dtype=np.int8)
    for rows in row_blocks(len(h), machine.width):
        sample_units(machine.visible_inputs(h[rows]), state, v[rows])
    return v


def gibbs(machine: Layers, v: NDArray[Any], steps: int, state: NDArray[np.uint64]) -> NDArray[np.int8]:
    """v^(steps) of the chain v -> h -> v -> ... of each row; advances the generator state."""
    last = np.empty((len(v), machine.n_visible), dtype=np.int8)
    for rows in row_blocks(len(v), machine.width):
        chains = np.array(v[rows], dtype=machine.dtype)
        h = np.empty((len(chains), machine.n_hidden), dtype=machine.dtype)
        for _ in range(steps):
            sample_units(machine.hidden_inputs(chains), state, h)
            sample_units(machine.visible_inputs(h), state, chains)
        last[rows] = chains
    return last


def cross_entropy(machine: Layers, v: NDArray[Any], state: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Cross entropy of each v with its reconstruction from one drawn h, nats per visible unit. -> (n,)."""
    entropy = np.empty(len(v))
    for rows in row_blocks(len(v), machine.width):
        h = sample_units(machine.hidden_inputs(v[rows]), state)
        entropy[rows] = cross_entropy_given_hidden(machine, v[rows], h)
    return entropy


def cross_entropy_given_hidden(machine: Layers, v: NDArray[Any], h: NDArray[Any]) -> NDArray[np.float64]:
    """-(1/n_v) sum_j ln p(v'_j = v_j | h) of each row (appendix C). (n, n_visible), (n, n_hidden) -> (n,)."""
    surprise = softplus(-2 * v * machine.visible_inputs(h))  # -ln sigma(2 v y)
    return np.asarray(surprise.mean(axis=1))
