"""Averages of configurations with errors, and the exact values to set beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from thermorbm import exact
from thermorbm.dataset import Dataset
from thermorbm.estimators import energy_averages, magnetic_averages
from thermorbm.lattice import Lattice
from thermorbm.observables import configuration_series, pseudo_entropies
from thermorbm.stats import Estimate, mean_estimate

Values = dict[str, Any]


def as_dict(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "error": estimate.error}


def averages(data: Dataset) -> Values:
    """<m>, <|m|> and <m^2> per spin."""
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
    energy = energy_averages(series.energy, temperature, n_sites)
    magnetic = magnetic_averages(series.magnetization, temperature, n_sites)
    return {
        "energy_per_spin": as_dict(energy.energy),
        "heat_capacity_per_spin": as_dict(energy.heat_capacity),
        "susceptibility_per_spin": as_dict(magnetic.susceptibility),
        "pseudo_entropy_per_spin": as_dict(mean_estimate(pseudo_entropies(data) / n_sites)),
    }


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
