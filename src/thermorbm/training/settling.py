"""The end of training: thresholds of the units that carry the order, until chains stay where the data are.

A threshold decides how likely the modes on its two sides are (see training.carriers). Chains pass from one
mode to the next in tens of steps and through all of them in thousands, which no chain of the training lives
to see: thresholds each a nat off, all the same way, make weak order as likely as strong one although it is
not. Here W and b stay, chains start at data and go on, and each threshold moves until as many chains are on
either side of it as configurations are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.model import RBM
from thermorbm.model.random_units import generator_state, sample_units
from thermorbm.model.rounded import as_annealed

Array = NDArray[np.float64]

_CHAINS, _ROWS = 512, 2048
# Nats per step and unit of the difference: it falls as one over the steps, so that noise averages out, but
# not below the last, so that slow modes are followed.
_FIRST_RATE, _LAST_RATE, _HALVED_AFTER = 2.0, 0.3, 50
_KEPT = 1 / 3  # of the steps, the last ones, over which thresholds are averaged


def settled(machine: RBM, n_carriers: int, n_steps: int, data: Dataset, seed: SeedSequence) -> RBM:
    """The machine with new thresholds of its first n_carriers units, alike for both signs of the order."""
    rows, moves = seed.spawn(2)
    layers, state = as_annealed(machine), generator_state(moves)
    old = machine.c[:n_carriers].astype(np.float64)
    chosen = np.random.default_rng(rows).choice(len(data), min(_CHAINS, len(data)), replace=False)
    v = data.select(np.sort(chosen)).spins().astype(machine.dtype)
    of_data = _without_thresholds(layers, data, old)
    thresholds, total, n_kept = old.copy(), np.zeros(n_carriers), max(1, round(_KEPT * n_steps))
    for step in range(n_steps):
        x = layers.hidden_inputs(v)
        x[:, :n_carriers] += (thresholds - old).astype(x.dtype)
        missing = np.tanh(of_data + thresholds).mean(axis=0) - np.tanh(x[:, :n_carriers]).mean(axis=0)
        thresholds = thresholds + _rate(step) * (missing - missing[::-1]) / 2
        total += thresholds if step >= n_steps - n_kept else 0.0
        sample_units(layers.visible_inputs(sample_units(x, state, x)), state, v)
    c = machine.c.copy()
    c[:n_carriers] = total / n_kept
    return RBM(machine.W, machine.b, c, machine.provenance)


def _rate(step: int) -> float:
    return max(_FIRST_RATE / (1 + step / _HALVED_AFTER), _LAST_RATE)


def _without_thresholds(layers: RBM, data: Dataset, thresholds: Array) -> Array:
    """Hidden inputs W v of evenly spaced configurations, (n, n_carriers)."""
    rows = np.linspace(0, len(data) - 1, min(_ROWS, len(data))).astype(np.int64)
    inputs: list[NDArray[Any]] = [
        layers.hidden_inputs(v.astype(layers.dtype))[:, : len(thresholds)] for v in data.select(rows).blocks()
    ]
    return np.concatenate(inputs).astype(np.float64) - thresholds
