"""Averages of configurations with errors, the exact values to set beside them, and which are held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from thermorbm import exact
from thermorbm.dataset import Dataset, as_dataset
from thermorbm.errors import InputError
from thermorbm.estimators import energy_averages, magnetic_averages
from thermorbm.lattice import Lattice
from thermorbm.model.units import whole_number
from thermorbm.observables import configuration_series, pseudo_entropies
from thermorbm.reading import default_held_out
from thermorbm.reading.values import ExactValues
from thermorbm.stats import Estimate, mean_estimate

OUR_METHODS = ("metropolis", "swendsen-wang", "wolff")


def hold_out(data: Dataset | ArrayLike, n_held_out: int | None = None) -> tuple[Dataset, Dataset | None]:
    """Splits data into configurations to train on and the last ones, which training does not see.

    n_held_out: by default 10 %, at most 5000; with 0 the second part is None.
    data: a Dataset, or an array of +-1, (n, n_sites) or (n, L, L).
    """
    data = as_dataset("data", data)
    wanted = default_held_out(len(data)) if n_held_out is None else n_held_out
    n = whole_number("n_held_out", wanted, 0)
    if n >= len(data):
        raise InputError("n_held_out", n, f"less than the {len(data)} configurations there are")
    return (data[:-n], data[-n:]) if n else (data, None)


def is_our_ising(data: Dataset) -> bool:
    """Whether thermorbm has sampled these configurations, of the ferromagnet on their lattice with J = 1."""
    if data.hamiltonian is not None and data.hamiltonian.plain != (data.lattice, 1.0):
        return False
    return data.provenance.get("method") in OUR_METHODS


def averages(data: Dataset) -> dict[str, Estimate]:
    """<m>, <|m|> and <m^2> per spin."""
    m = configuration_series(data).magnetization
    return {
        "magnetization_per_spin": mean_estimate(m),
        "abs_magnetization_per_spin": mean_estimate(np.abs(m)),
        "squared_magnetization_per_spin": mean_estimate(m * m),
    }


def thermal_averages(data: Dataset) -> dict[str, Estimate]:
    """Energy, heat capacity, susceptibility of |m| and pseudo-entropy, per spin, in units of J and k_B.

    The dataset must have a lattice and a temperature, in units of J/k_B.
    """
    series, temperature, n_sites = configuration_series(data), data.temperature, data.n_sites
    assert series.energy is not None
    assert temperature is not None
    energy = energy_averages(series.energy, temperature, n_sites)
    magnetic = magnetic_averages(series.magnetization, temperature, n_sites)
    return {
        "energy_per_spin": energy.energy,
        "heat_capacity_per_spin": energy.heat_capacity,
        "susceptibility_per_spin": magnetic.susceptibility,
        "pseudo_entropy_per_spin": mean_estimate(pseudo_entropies(data) / n_sites),
    }


def exact_values(lattice: Lattice, temperature: float) -> ExactValues | None:
    """Exact values at one temperature where they are known, and their source.

    "kaufman": the same square torus. "series": the infinite cubic lattice at T >= 5.
    """
    if lattice.dimension == 2 and len(set(lattice.shape)) == 1:
        source, truth = "kaufman", exact.kaufman(lattice.shape[0], temperature)
    elif lattice.dimension == 3 and temperature >= 5:
        source, truth = "series", exact.cubic_series(temperature)
    else:
        return None
    numbers = (truth.energy, truth.heat_capacity, truth.entropy, truth.free_energy)
    return ExactValues(source, *(float(number) for number in numbers))
