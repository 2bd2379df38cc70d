"""Likelihoods, entropies and visible energies over a dataset (sections II C, III C and III D)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.model.energy import log_2cosh_sum, softplus
from thermorbm.observables.configurations import required_lattice, required_temperature
from thermorbm.observables.weights import filter_sums, hidden_bias
from thermorbm.stats import Estimate, mean_estimate, variance_estimate

_SPINS_AT_ONCE = 1 << 20


def pseudo_likelihood(machine: Machine, data: Dataset, n_samples: int = 5000, seed: int = 0) -> Estimate:
    """L~ = <-sum_j ln p(v_j | rest)>, total in nats, exact over all sites of n_samples random configurations.

    All configurations are used where there are no more than n_samples.
    """
    return mean_estimate(pseudo_likelihoods(machine, _subset(data, n_samples, seed)))


def pseudo_likelihoods(machine: Machine, data: Dataset) -> NDArray[np.float64]:
    """-sum_j ln p(v_j | rest) of every configuration, total in nats, (n,)."""
    return np.concatenate([machine.pseudo_likelihood(v) for v in data.blocks()])


def cross_entropy(machine: Machine, data: Dataset, n_samples: int = 5000, seed: int = 0) -> Estimate:
    """Cross entropy of v and its reconstruction, nats per visible unit; n_samples random configurations."""
    chosen, draws = _subset(data, n_samples, seed), np.random.SeedSequence([seed, 1])
    size = max(1, _SPINS_AT_ONCE // data.n_sites)
    seeds = draws.spawn(-(-len(chosen) // size))
    blocks = zip(chosen.blocks(size), seeds, strict=True)
    return mean_estimate(np.concatenate([machine.cross_entropy(v, block_seed) for v, block_seed in blocks]))


def pseudo_entropies(data: Dataset, temperature: float | None = None) -> NDArray[np.float64]:
    """-sum_i ln p_T(s_i | rest) of every configuration, total in nats; its mean is S~. -> (n,).

    The conditionals are those of the Hamiltonian at `temperature`, by default the dataset's. The paper prints
    the sum without the logarithm.
    """
    wanted = required_temperature(data) if temperature is None else temperature
    if not 0 < wanted < np.inf:
        raise InputError("temperature", wanted, "a finite number > 0")
    H = data.hamiltonian
    if H is not None and H.plain != (data.lattice, 1.0):
        return np.concatenate([H.pseudo_entropy(v, wanted) for v in data.blocks()])
    lattice = required_lattice(data)
    # p_T(s_i | rest) = 1 / (1 + exp(-cost of flipping i / T)), by the number of broken bonds of i.
    surprise = softplus(-lattice.flip_costs / wanted)
    size = max(1, _SPINS_AT_ONCE // lattice.n_sites)
    return np.concatenate([surprise[_broken_bonds(lattice, v)].sum(axis=1) for v in data.blocks(size)])


def _broken_bonds(lattice: Lattice, v: NDArray[np.int8]) -> NDArray[np.uint8]:
    """How many of its own bonds are broken, of every site. (n, n_sites) -> (n, n_sites)."""
    broken = np.zeros(v.shape, dtype=np.uint8)
    for neighbours in lattice.neighbours.T:
        broken += np.take(v, neighbours, axis=1) != v
    return broken


def _subset(data: Dataset, n_samples: int, seed: int) -> Dataset:
    if n_samples < 2 or len(data) < 2:
        raise InputError("n_samples", min(n_samples, len(data)), "at least 2, for an error")
    if n_samples >= len(data):
        return data
    chosen = np.random.default_rng(seed).choice(len(data), size=n_samples, replace=False)
    return data.select(np.sort(chosen))


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
