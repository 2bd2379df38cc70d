"""Averages of configurations with errors, the exact values to set beside them, and which are held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from thermorbm import exact
from thermorbm.checks import whole_number
from thermorbm.dataset import Dataset, as_dataset
from thermorbm.errors import InputError
from thermorbm.estimators import energy_averages, magnetic_averages
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.observables import configuration_series, order_parameters, pseudo_entropies, total_energies
from thermorbm.reading import default_held_out
from thermorbm.reading.values import ExactValues
from thermorbm.stats import Estimate, mean_estimate

OUR_METHODS = ("metropolis", "swendsen-wang", "wolff", "tempering")
_MOST_KEPT = 16  # spins of a transfer matrix that takes a second at most


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


def is_ours(data: Dataset) -> bool:
    """Whether thermorbm has sampled these configurations, so that they follow their Hamiltonian."""
    return data.provenance.get("method") in OUR_METHODS


def averages(data: Dataset) -> dict[str, Estimate]:
    """<m> per spin, and <|m|> and <m^2> of the order parameter, which is m of ferromagnets."""
    m, order = configuration_series(data).magnetization, order_parameters(data)
    return {
        "magnetization_per_spin": mean_estimate(m),
        "abs_magnetization_per_spin": mean_estimate(np.abs(order)),
        "squared_magnetization_per_spin": mean_estimate(order * order),
    }


def thermal_averages(data: Dataset) -> dict[str, Estimate]:
    """Energy, heat capacity, susceptibility of |m| and pseudo-entropy, per spin, in units of J and k_B.

    m is the order parameter. The dataset must have a Hamiltonian, or a lattice that stands for its
    ferromagnet, and a temperature.
    """
    energies, temperature, n_sites = total_energies(data), data.temperature, data.n_sites
    assert energies is not None
    assert temperature is not None
    energy = energy_averages(energies, temperature, n_sites)
    magnetic = magnetic_averages(order_parameters(data), temperature, n_sites)
    return {
        "energy_per_spin": energy.energy,
        "heat_capacity_per_spin": energy.heat_capacity,
        "susceptibility_per_spin": magnetic.susceptibility,
        "pseudo_entropy_per_spin": mean_estimate(pseudo_entropies(data) / n_sites),
    }


def exact_values(model: Hamiltonian | Lattice, temperature: float) -> ExactValues | None:
    """Exact values at one temperature where they are known, and their source.

    "kaufman": the same square torus. "transfer matrix": the same narrow lattice, whatever its H. "series":
    the infinite cubic lattice at T >= 5. "infinite": the infinite triangular, honeycomb or kagome lattice.
    """
    H = as_hamiltonian(model)
    if H.plain is not None and not H.frustrated:
        lattice, coupling = H.plain
        values = _of_neighbours(lattice, abs(coupling), temperature)
        if values is not None or coupling == 1:
            return values
    if exact.transfer_width(H) <= _MOST_KEPT:
        return _values("transfer matrix", exact.transfer_matrix(H, temperature))
    infinite = exact.bulk_thermodynamics(H, temperature)
    return None if infinite is None else _values("infinite", infinite)


def _of_neighbours(lattice: Lattice, coupling: float, temperature: float) -> ExactValues | None:
    """Of one coupling between neighbours, either all satisfied; energies are in units of `coupling`."""
    reduced = temperature / coupling
    if lattice.dimension == 2 and len(set(lattice.shape)) == 1:
        return _values("kaufman", exact.kaufman(lattice.shape[0], reduced), coupling)
    if lattice.dimension == 3 and reduced >= 5:
        return _values("series", exact.cubic_series(reduced), coupling)
    return None


def _values(source: str, truth: exact.Thermodynamics[float], unit: float = 1.0) -> ExactValues:
    numbers = (unit * truth.energy, truth.heat_capacity, truth.entropy, unit * truth.free_energy)
    return ExactValues(source, *(float(number) for number in numbers))
