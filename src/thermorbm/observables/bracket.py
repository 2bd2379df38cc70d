"""The entropy of configurations between two edges: pseudo-entropy below, a machine's likelihood above."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.model import LogPartition, Machine
from thermorbm.model.entropy_bound import MOST_CHAINS
from thermorbm.model.sandwich import Progress
from thermorbm.observables.configurations import check_sites, total_energies
from thermorbm.observables.likelihood import pseudo_entropies
from thermorbm.observables.order_parameter import mere_order
from thermorbm.shown import Displayed
from thermorbm.stats import Estimate, mean_estimate

NO_LOWER_EDGE = "no Hamiltonian is known, and L~ of an imperfect machine lies above S~ and bounds nothing"


@dataclass(frozen=True, repr=False)
class EntropyBracket(Displayed):
    """S~ <= S <= upper, nats per spin, with standard errors.

    lower: S~, the mean of -sum ln p_T(s_i | rest) of the Hamiltonian; None where it is not known. upper: the
    bound from chains that start at the configurations, which holds in expectation whatever ln Z is, or nll
    where ln Z is exact. nll: the negative log-likelihood with ln Z of the machine, whose error is included;
    it is too small if ln Z is.
    free_energy: F = E - T S with the upper edge as S, in units of J per spin, so a lower bound; None without
    a Hamiltonian. kl_bound: nll - lower, which the relative entropy of data and machine, nll - S, does not
    exceed. order: the entropy of mere order (`observables.mere_order`); below_order: order - nll,
    configuration by configuration. n_samples: held-out configurations.
    """

    lower: Estimate | None
    upper: Estimate
    nll: Estimate
    order: Estimate
    below_order: Estimate
    kl_bound: Estimate | None
    free_energy: Estimate | None
    n_samples: int
    lower_problem: str | None


def entropy_bracket(
    machine: Machine,
    held_out: Dataset,
    log_partition: LogPartition,
    seed: int = 0,
    hamiltonian: bool = True,
    n_chains: int = MOST_CHAINS,
    progress: Progress | None = None,
) -> EntropyBracket:
    """Both edges from configurations that training has not seen.

    hamiltonian: whether the configurations follow their Hamiltonian, or the ferromagnet of their lattice
    where none is named, at their temperature.
    n_chains: as many of them, at most, are annealed for the upper edge.
    """
    check_sites(machine, held_out)
    if len(held_out) < 2:
        raise InputError("data", f"{len(held_out)} configuration", "two or more, for an error")
    n, v = held_out.n_sites, held_out.spins()
    energies, mere = _visible_energies(machine, held_out), mere_order(held_out)
    nll = upper = _likelihood(energies, log_partition, n)
    below_order = _likelihood(energies - mere, log_partition, n)
    if log_partition.method != "exact":
        bound = machine.entropy_upper_bound(
            v,
            seed,
            n_chains=n_chains,
            betas=log_partition.betas,
            guide=log_partition.guide,
            thresholds=log_partition.thresholds,
            progress=progress,
        )
        upper = bound.scaled(1 / n)
    has_energy = held_out.hamiltonian is not None or held_out.lattice is not None
    has_truth = hamiltonian and has_energy and held_out.temperature is not None
    lower = mean_estimate(pseudo_entropies(held_out) / n) if has_truth else None
    return EntropyBracket(
        lower=lower,
        upper=upper,
        nll=nll,
        order=mean_estimate(mere / n),
        below_order=below_order.scaled(-1),
        kl_bound=None
        if lower is None
        else Estimate(nll.value - lower.value, math.hypot(nll.error, lower.error)),
        free_energy=_free_energy(held_out, upper) if has_truth else None,
        n_samples=len(held_out),
        lower_problem=None if has_truth else NO_LOWER_EDGE,
    )


def negative_log_likelihood(machine: Machine, held_out: Dataset, log_partition: LogPartition) -> Estimate:
    """<visible energy> + ln Z, nats per spin; its error joins that of the mean and that of ln Z."""
    return _likelihood(_visible_energies(machine, held_out), log_partition, machine.n_visible)


def _likelihood(energies: NDArray[np.float64], log_partition: LogPartition, n: int) -> Estimate:
    mean = mean_estimate(energies)
    return Estimate((mean.value + log_partition.value) / n, math.hypot(mean.error, log_partition.error) / n)


def _visible_energies(machine: Machine, data: Dataset) -> NDArray[np.float64]:
    return np.concatenate([machine.visible_energy(v) for v in data.blocks()])


def _free_energy(data: Dataset, entropy: Estimate) -> Estimate:
    """E - T S per spin, in units of J."""
    energies, temperature = total_energies(data), data.temperature
    assert temperature is not None
    assert energies is not None
    energy = mean_estimate(energies / data.n_sites)
    error = math.hypot(energy.error, temperature * entropy.error)
    return Estimate(energy.value - temperature * entropy.value, error)
