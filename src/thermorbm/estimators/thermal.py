"""Thermal averages per spin from independent samples, with jackknife errors (appendix A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from thermorbm.errors import InputError
from thermorbm.stats import Estimate, mean_estimate, variance_estimate


@dataclass(frozen=True)
class EnergyAverages:
    """Per spin: energy in units of J, heat capacity in units of k_B."""

    energy: Estimate
    heat_capacity: Estimate


@dataclass(frozen=True)
class MagneticAverages:
    """Per spin: <|m|> and the susceptibility of |m|, N (<m^2> - <|m|>^2) / T."""

    abs_magnetization: Estimate
    susceptibility: Estimate


def energy_averages(energies: ArrayLike, temperature: float, n_sites: int) -> EnergyAverages:
    """From total energies H (n,): <H>/N and c_V = (<H^2> - <H>^2) / (N T^2)."""
    _check(temperature, n_sites)
    series = np.asarray(energies, dtype=np.float64)
    mean, variance = mean_estimate(series), variance_estimate(series)
    return EnergyAverages(_scaled(mean, 1 / n_sites), _scaled(variance, 1 / (n_sites * temperature**2)))


def magnetic_averages(magnetizations: ArrayLike, temperature: float, n_sites: int) -> MagneticAverages:
    """From magnetisations per spin m (n,), of either sign."""
    _check(temperature, n_sites)
    size = np.abs(np.asarray(magnetizations, dtype=np.float64))
    return MagneticAverages(mean_estimate(size), _scaled(variance_estimate(size), n_sites / temperature))


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(estimate.value * factor, estimate.error * factor)


def _check(temperature: float, n_sites: int) -> None:
    if not 0 < temperature < np.inf:
        raise InputError("temperature", temperature, "a finite number > 0")
    if n_sites < 1:
        raise InputError("n_sites", n_sites, "a whole number >= 1")
