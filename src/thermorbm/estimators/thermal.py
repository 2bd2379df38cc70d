"""Thermal averages per spin from independent samples, with jackknife errors (appendix A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError
from thermorbm.stats import Estimate, mean_estimate, variance_estimate

Array = NDArray[np.float64]
_NEIGHBOURS = 2  # on either side


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


def mean_over_seeds(
    values: Sequence[ArrayLike], stated: Sequence[ArrayLike], *, shared: bool = False
) -> tuple[Array, Array]:
    """Means and their errors, (n,) each. values, stated: for each of n temperatures one number per seed.

    The error is the largest of three: what the seeds state; what their scatter at this temperature shows; and
    what it shows around this temperature, in the mean of five. A few seeds may lie together by chance, and an
    error that is much too small at one point would pull a curve through it. nan where one seed alone states
    none. shared: the stated errors come from data that all seeds share, such as held-out configurations:
    the mean has them in full, and the scatter of the trainings beside them.
    """
    columns = [np.asarray(column, dtype=np.float64) for column in values]
    counts = np.array([len(column) for column in columns])
    variance = np.array([column.var(ddof=1) if len(column) > 1 else np.nan for column in columns])
    own = np.nan_to_num(variance)
    around = np.array([_mean_around(variance, place) for place in range(len(columns))])
    scatter = np.where(counts > 1, np.sqrt(np.maximum(own, around) / counts), np.nan)
    squares = np.array([np.sum(np.square(column)) for column in stated])
    means = np.array([column.mean() for column in columns])
    if shared:
        claimed = np.sqrt(squares / counts)
        return means, np.where(counts > 1, np.hypot(np.nan_to_num(claimed), scatter), claimed)
    return means, np.fmax(np.sqrt(squares) / counts, scatter)


def _mean_around(variance: Array, place: int) -> float:
    near = variance[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS + 1]
    finite = near[np.isfinite(near)]
    return float(finite.mean()) if len(finite) else 0.0
