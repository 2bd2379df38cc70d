"""Averages of configurations with errors, and the exact values to set beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from thermorbm import exact
from thermorbm.dataset import Dataset
from thermorbm.lattice import Lattice
from thermorbm.observables import configuration_series, pseudo_entropies
from thermorbm.stats import Estimate, jackknife, mean_estimate

Values = dict[str, Any]


def as_dict(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "error": estimate.error}


def averages(data: Dataset) -> Values:
    """<|m|> and <m^2> per spin, and the signed <m>."""
    m = configuration_series(data).magnetization
    return {
        "magnetization_per_spin": as_dict(mean_estimate(m)),
        "abs_magnetization_per_spin": as_dict(mean_estimate(np.abs(m))),
        "squared_magnetization_per_spin": as_dict(mean_estimate(m * m)),
    }


def thermal_averages(data: Dataset) -> Values:
    """Energy, heat capacity, susceptibility of |m| and pseudo-entropy, per spin, in units of J and k_B.

    The dataset must have a lattice and a temperature, in units of J/k_B.
    """
    series, temperature, n_sites = configuration_series(data), data.temperature, data.n_sites
    assert series.energy is not None
    assert temperature is not None
    energy, size = series.energy / n_sites, np.abs(series.magnetization)
    return {
        "energy_per_spin": as_dict(mean_estimate(energy)),
        "heat_capacity_per_spin": as_dict(fluctuation(energy, n_sites / temperature**2)),
        "susceptibility_per_spin": as_dict(fluctuation(size, n_sites / temperature)),
        "pseudo_entropy_per_spin": as_dict(mean_estimate(pseudo_entropies(data) / n_sites)),
    }


def fluctuation(samples: np.ndarray[Any, np.dtype[np.float64]], factor: float) -> Estimate:
    """factor (<x^2> - <x>^2) of independent samples (n,), with its jackknife error."""
    x = samples - samples.mean()  # squares of the distance from the mean do not cancel
    found = jackknife(np.stack([x, x * x], axis=1), lambda means: float(means[1] - means[0] ** 2))
    return Estimate(factor * found.value, factor * found.error)


def exact_values(lattice: Lattice, temperature: float) -> Values | None:
    """Exact energy, heat capacity, entropy and free energy per spin where they are known, and their source.

    "kaufman": the same square torus. "series": the infinite cubic lattice at T >= 5.
    """
    if lattice.dimension == 2 and len(set(lattice.shape)) == 1:
        source, found = "kaufman", exact.kaufman(lattice.shape[0], temperature)
    elif lattice.dimension == 3 and temperature >= 5:
        source, found = "series", exact.cubic_series(temperature)
    else:
        return None
    return {
        "source": source,
        "energy_per_spin": found.energy,
        "heat_capacity_per_spin": found.heat_capacity,
        "entropy_per_spin": found.entropy,
        "free_energy_per_spin": found.free_energy,
    }
