"""Partition functions spin by spin: exact results for strips and narrow tori with any Hamiltonian.

Spins are added one after the other and summed out as soon as all their terms are there. What is kept are sums
over those left behind, for every configuration of the spins that still have terms to come: of the Boltzmann
weights w, and of w E, w E^2 and w M. Each step is linear in these, so that mean and variance of the energy
come without any derivative. The cost is 2^width, width being the largest number of spins kept at once: the
width of a strip, twice that of a torus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.exact.energies import EnergyMoments
from thermorbm.exact.thermodynamics import MagneticThermodynamics, as_temperature
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.lattice import Lattice

MOST_KEPT = 25  # 2^25 sums of four kinds: 1 GB


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of w, w E, w E^2, w M for each configuration of the kept spins, (4, 2^k), over e^log_scale."""

    log_scale: float
    values: NDArray[np.float64]


def transfer_matrix(model: Hamiltonian | Lattice, T: float) -> MagneticThermodynamics[float]:
    """Exact thermodynamics per spin of any Hamiltonian of width <= 25; magnetization is the mean of m."""
    H, temperature = as_hamiltonian(model), as_temperature(T)
    log_z, energy, variance, magnetization = _totals(H, temperature)
    n = H.n_sites
    return MagneticThermodynamics(
        energy=energy / n,
        heat_capacity=variance / temperature**2 / n,
        entropy=(log_z + energy / temperature) / n,
        free_energy=-temperature * log_z / n,
        magnetization=magnetization / n,
    )


def transfer_energies(model: Hamiltonian | Lattice, T: float) -> EnergyMoments:
    """Mean and variance of the total energy."""
    _, energy, variance, _ = _totals(as_hamiltonian(model), as_temperature(T))
    return EnergyMoments(energy, variance)


def transfer_width(model: Hamiltonian | Lattice) -> int:
    """How many spins are kept at once, in the best of the orders that are tried."""
    return _best_order(as_hamiltonian(model))[1]


def _totals(H: Hamiltonian, temperature: float) -> tuple[float, float, float, float]:
    """ln Z, mean and variance of the energy, mean of the sum of spins."""
    order, width = _best_order(H)
    if width > MOST_KEPT:
        remedy = "a strip of width w has w spins to keep, a torus 2 w"
        wanted = f"one with at most {MOST_KEPT} spins to keep at once"
        raise InputError("hamiltonian", f"one with {width}", wanted, remedy)
    complete, finished = _schedule(H, order)
    kept: list[int] = []
    sums = _Sums(0.0, np.array([[1.0], [0.0], [0.0], [0.0]]))
    for step, site in enumerate(order):
        sums, kept = _add_spin(sums, float(H.field[site]), temperature), [*kept, int(site)]
        terms = [(_mask(sites, kept), coupling) for sites, coupling in complete[step]]
        sums = _add_terms(sums, terms, temperature)
        for done in finished[step]:
            sums = _sum_out(sums, kept.index(done))
            kept.remove(done)
    energy, square, magnetization = sums.values[1:, 0] / sums.values[0, 0]
    log_z = sums.log_scale + float(np.log(sums.values[0, 0]))
    return log_z, float(energy), float(square - energy**2), float(magnetization)


def _add_spin(sums: _Sums, field: float, temperature: float) -> _Sums:
    """One more kept spin, the highest bit: first down, then up."""
    down = _weighted(sums.values, np.array([field]), temperature, -1)
    up = _weighted(sums.values, np.array([-field]), temperature, 1)
    return _normalized(sums.log_scale, np.concatenate([down, up], axis=1))


def _add_terms(sums: _Sums, terms: list[tuple[int, float]], temperature: float) -> _Sums:
    """terms: which kept spins are in a product, as bits of a number, and its coupling."""
    numbers = np.arange(sums.values.shape[1])
    energy = np.zeros(len(numbers))
    for mask, coupling in terms:
        n_down = np.bitwise_count(~numbers & mask)
        energy -= coupling * (1.0 - 2.0 * (n_down & 1))
    return _normalized(sums.log_scale, _weighted(sums.values, energy, temperature, 0))


def _weighted(
    values: NDArray[np.float64], energy: NDArray[np.float64], temperature: float, spin: int
) -> NDArray[np.float64]:
    """The sums after an energy (2^k,) and a spin were added to all configurations."""
    w, we, wee, wm = values
    factor = np.exp(-energy / temperature)
    shifted = [w, we + energy * w, wee + 2 * energy * we + energy**2 * w, wm + spin * w]
    return np.stack([part * factor for part in shifted])


def _sum_out(sums: _Sums, place: int) -> _Sums:
    """Over the kept spin whose bit is `place`."""
    apart = sums.values.reshape(4, -1, 2, 1 << place)
    return _Sums(sums.log_scale, apart.sum(axis=2).reshape(4, -1))


def _normalized(log_scale: float, values: NDArray[np.float64]) -> _Sums:
    largest = float(values[0].max())
    return _Sums(log_scale + float(np.log(largest)), values / largest)


def _mask(sites: list[int], kept: list[int]) -> int:
    return sum(1 << kept.index(site) for site in sites)


def _schedule(
    H: Hamiltonian, order: NDArray[np.int64]
) -> tuple[list[list[tuple[list[int], float]]], list[list[int]]]:
    """For each step the terms that its spin completes, and the spins that have all their terms after it."""
    when = np.empty(H.n_sites, np.int64)
    when[order] = np.arange(H.n_sites)
    complete: list[list[tuple[list[int], float]]] = [[] for _ in order]
    last = when.copy()
    for terms in H.terms:
        times = when[terms.sites].max(axis=1)
        for sites, coupling, time in zip(terms.sites.tolist(), terms.couplings.tolist(), times, strict=True):
            complete[time].append((sites, coupling))
        np.maximum.at(last, terms.sites, times[:, None])
    finished: list[list[int]] = [[] for _ in order]
    for site, time in enumerate(last):
        finished[time].append(site)
    return complete, finished


def _best_order(H: Hamiltonian) -> tuple[NDArray[np.int64], int]:
    """Sites as they are numbered, or plane by plane along each axis: whichever keeps fewest at once."""
    orders = [np.arange(H.n_sites)]
    if H.grid is not None:
        places = np.repeat(np.indices(H.grid.shape).reshape(len(H.grid.shape), -1), H.grid.n_cell, axis=1)
        orders = [np.lexsort((np.arange(H.n_sites), place)) for place in places]
    return min(((order, _width(H, order)) for order in orders), key=lambda pair: pair[1])


def _width(H: Hamiltonian, order: NDArray[np.int64]) -> int:
    when = np.empty(H.n_sites, np.int64)
    when[order] = np.arange(H.n_sites)
    last = when.copy()
    for terms in H.terms:
        np.maximum.at(last, terms.sites, when[terms.sites].max(axis=1)[:, None])
    changes = np.zeros(H.n_sites + 1, np.int64)
    np.add.at(changes, when, 1)
    np.add.at(changes, last + 1, -1)
    return int(np.cumsum(changes).max())
