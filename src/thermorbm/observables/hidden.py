"""The hidden layer: its magnetisation, its picture, and the sign rule of table 1 (section III B)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.model import RBM, Machine, generator_state, sample_units
from thermorbm.observables.distributions import Distribution, distribution
from thermorbm.observables.weights import couplings, filter_sums, hidden_bias, visible_bias
from thermorbm.stats import Estimate, mean_estimate


@dataclass(frozen=True, eq=False)
class HiddenEncoding:
    """One hidden layer drawn for every configuration.

    magnetization: (n,), m_h = mean of the hidden units. obeying: (n_counted,), the fraction of the units of
    one configuration with sign(h_i) = sign(m) sign(filter sum_i). Configurations with m = 0 and units whose
    filter sum is 0 have no sign and are left out; n_tied_samples and n_tied_units count them.
    """

    magnetization: NDArray[np.float64]
    obeying: NDArray[np.float64]
    n_hidden: int
    n_tied_samples: int
    n_tied_units: int

    @property
    def sign_rule(self) -> Estimate:
        """Fraction of (configuration, unit) pairs that obey the rule, with the error over configurations.

        One half means no relation. nan where nothing could be counted.
        """
        if len(self.obeying) < 2 or self.n_tied_units == self.n_hidden:
            return Estimate(math.nan, math.nan)
        return mean_estimate(self.obeying)


def hidden_encoding(machine: Machine, data: Dataset, seed: int = 0) -> HiddenEncoding:
    """Draws h given every configuration of the dataset."""
    state = generator_state(seed)
    sign_of_sum = np.sign(filter_sums(machine).totals).astype(np.float32)
    n_signed = int(np.count_nonzero(sign_of_sum))
    magnetization, obeying = [], []
    for v in data.blocks():
        h = sample_units(np.ascontiguousarray(machine.hidden_inputs(v)), state)
        magnetization.append(h.mean(axis=1, dtype=np.float64))
        sign_of_m = np.sign(v.sum(axis=1, dtype=np.int64))
        match = sign_of_m * (h @ sign_of_sum).astype(np.float64) / max(n_signed, 1)  # agreeing minus opposing
        obeying.append((1 + match[sign_of_m != 0]) / 2)
    counted = np.concatenate(obeying)
    return HiddenEncoding(
        np.concatenate(magnetization),
        counted,
        machine.n_hidden,
        len(data) - len(counted),
        machine.n_hidden - n_signed,
    )


def hidden_magnetization_histogram(m_h: ArrayLike, n_hidden: int, most_bins: int = 100) -> Distribution:
    """Distribution of m_h over [-1, 1] on bins that each hold equally many of its n_hidden + 1 values."""
    if n_hidden < 1 or most_bins < 1:
        raise InputError("n_hidden and most_bins", (n_hidden, most_bins), "whole numbers >= 1")
    per_bin = -(-(n_hidden + 1) // most_bins) | 1
    n_bins = -(-(n_hidden + 1) // per_bin)
    n_bins += (n_bins * per_bin - n_hidden - 1) % 2  # symmetric about 0 with every edge between two values
    half_width = n_bins * per_bin / n_hidden
    return distribution(m_h, np.linspace(-half_width, half_width, n_bins + 1))


def wrap_hidden(h: ArrayLike) -> NDArray[np.int8]:
    """Hidden layers laid out in the squarest rectangle that holds them, filled up with 0.

    (n, n_hidden) -> (n, rows, columns), 400 units to 20 x 20. Units have no neighbours: any pattern in the
    picture is an artefact of the order.
    """
    layers = np.atleast_2d(np.asarray(h, dtype=np.int8))
    n_hidden = layers.shape[1]
    rows = max(1, math.isqrt(n_hidden))
    columns = -(-n_hidden // rows)
    padded = np.pad(layers, ((0, 0), (0, rows * columns - n_hidden)))
    return padded.reshape(-1, rows, columns)


def permutation_difference(machine: Machine, v: ArrayLike, seed: int = 0) -> float:
    """Largest relative change of a visible energy when hidden units change places. v: (n, n_visible)."""
    order = np.random.default_rng(seed).permutation(machine.n_hidden)
    permuted = RBM(couplings(machine)[order], visible_bias(machine), hidden_bias(machine)[order])
    before, after = machine.visible_energy(v), permuted.visible_energy(v)
    return float(np.max(np.abs(after - before) / np.abs(before)))
