"""Entropy and free energy by thermodynamic integration, from the energies of all temperatures of a family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from thermorbm import exact
from thermorbm.estimators import (
    HotEnd,
    exact_hot_end,
    infinite_temperature,
    integrate_entropy,
    ordered_ground_state,
)
from thermorbm.lattice import Lattice
from thermorbm.stats import Estimates
from thermorbm.study.results import Curve, IntegratedEntropy

LEAST_SIDE = 3  # shorter sides have double bonds
SERIES_FROM = 6.0  # in 3d the series is used for all temperatures above the grid's end, if that is so hot


def integrated(
    curves: Mapping[str, Curve], wanted: Sequence[float], shape: Sequence[int], seed: int
) -> IntegratedEntropy:
    """Entropy per spin at the wanted temperatures: from T = 0, from T = infinity, and both combined.

    curves: energy and heat capacity per spin over one grid. Also the free energy per spin, E - T S.
    """
    lattice = Lattice(shape)
    energy, heat = curves["energy_per_spin"], curves["heat_capacity_per_spin"]
    grid = np.array(energy.x)
    at = [value for value in wanted if grid[0] <= value <= grid[-1]]
    hot = _hot_end(lattice, float(grid[-1]))
    cold = ordered_ground_state(lattice.dimension, lattice.n_sites)
    entropy = integrate_entropy(grid, _estimates(energy), _estimates(heat), hot, cold, at=at, seed=seed)
    return IntegratedEntropy(
        from_infinity=_curve(at, entropy.from_infinity),
        from_zero=_curve(at, entropy.from_zero),
        combined=_curve(at, entropy.combined),
        free_energy_per_spin=_free_energy(energy, at, entropy.combined),
        mismatch=entropy.mismatch,
        n_points=len(grid),
        hot_end="series" if hot.beta > 0 else "infinite temperature",
    )


def can_integrate(hamiltonian: str, shape: Sequence[int] | None, n_points: int) -> bool:
    """Whether the energies of a grid can be integrated on that lattice."""
    return hamiltonian == "ising" and shape is not None and min(shape) >= LEAST_SIDE and n_points >= 4


def _hot_end(lattice: Lattice, hottest: float) -> HotEnd:
    if lattice.dimension == 3 and hottest >= SERIES_FROM:
        temperature = 1.1 * hottest
        series = exact.cubic_series(temperature)
        return exact_hot_end(temperature, series.energy, series.heat_capacity, series.entropy)
    return infinite_temperature(lattice.dimension)


def _estimates(curve: Curve) -> Estimates:
    return Estimates(np.array(curve.values), np.array(curve.errors))


def _free_energy(energy: Curve, at: Sequence[float], entropy: Estimates) -> Curve:
    """E - T S; the errors of the two are added as if independent, which is on the safe side."""
    place = [energy.x.index(value) for value in at]
    T = np.array(at)
    values = np.array(energy.values)[place] - T * entropy.values
    errors = np.hypot(np.array(energy.errors)[place], T * entropy.errors)
    return _curve(at, Estimates(values, errors))


def _curve(x: Sequence[float], estimates: Estimates) -> Curve:
    return Curve(tuple(x), tuple(estimates.values.tolist()), tuple(estimates.errors.tolist()))
