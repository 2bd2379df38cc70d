"""Visible energies over a dataset and the paper's three approximations of them (section III C)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.model import Machine
from thermorbm.model.energy import log_2cosh_sum
from thermorbm.observables.weights import filter_sums, hidden_bias
from thermorbm.stats import Estimate, mean_estimate, variance_estimate


@dataclass(frozen=True, eq=False)
class VisibleEnergies:
    """Totals in nats, one per configuration.

    full: (n,), E(v) of the machine. zero_bias: (n,), E_W(v) = -sum_i ln 2cosh(w_i.v), without b and c.
    absolute: (n,), E~_W(v) = -sum_i |w_i.v|. all_up: E~_W(1), the same of the configuration of ones.
    """

    full: NDArray[np.float64]
    zero_bias: NDArray[np.float64]
    absolute: NDArray[np.float64]
    all_up: float

    @property
    def mean(self) -> Estimate:
        """Mean of E(v) over the configurations."""
        return mean_estimate(self.full)

    @property
    def variance(self) -> Estimate:
        """Variance of E(v) over the configurations."""
        return variance_estimate(self.full)


def visible_energies(machine: Machine, data: Dataset) -> VisibleEnergies:
    """Visible energies of every configuration of the dataset, by one product with W for each."""
    bias = hidden_bias(machine).astype(machine.dtype)
    full, zero_bias, absolute = [], [], []
    for v in data.blocks():
        inputs = machine.hidden_inputs(v)  # W v + c
        full.append(-machine.visible_field(v) - log_2cosh_sum(inputs))
        inputs -= bias
        zero_bias.append(-log_2cosh_sum(inputs))
        absolute.append(-np.abs(inputs).sum(axis=1, dtype=np.float64))
    all_up = -float(np.abs(filter_sums(machine).totals).sum())
    return VisibleEnergies(np.concatenate(full), np.concatenate(zero_bias), np.concatenate(absolute), all_up)
