"""Entropy by thermodynamic integration of the energy, from infinite and from zero temperature (appendix A).

With ln Z the logarithm of the partition function per spin, d ln Z / d beta = -e, and S = ln Z + beta e:

    from T = inf:  ln Z(beta) = ln Z(beta_hot) - int_{beta_hot}^{beta} e dbeta'
    from T = 0:    ln Z(beta) = ln 2 / N - beta e_0 + int_{beta}^{inf} (e - e_0) dbeta'

Only energies are integrated, as cubics in beta that match value and slope at every grid point: the slope is
known, de/dbeta = -T^2 c_V. The two entropies differ by a constant, zero but for errors; together they give
one with a smaller error than either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline

from thermorbm.errors import InputError
from thermorbm.stats import Estimate, Estimates, normal_draws

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HotEnd:
    """A state above the grid where all is known, per spin; `infinite_temperature` is one.

    beta = 1/T. slope: de/dbeta = -T^2 c_V.
    """

    beta: float
    energy: float
    slope: float
    entropy: float


@dataclass(frozen=True)
class ColdEnd:
    """The ground state, per spin, and the energy `gap` in units of J of the cheapest excitation."""

    energy: float
    entropy: float
    gap: float


@dataclass(frozen=True, eq=False)
class IntegratedEntropy:
    """Entropy per spin at `temperatures` (m,).

    from_infinity, from_zero: by integration from one end. combined: the weighted mean with the smallest
    error. mismatch: from_zero minus from_infinity, the same at every temperature, zero within its error.
    """

    temperatures: Array
    from_infinity: Estimates
    from_zero: Estimates
    combined: Estimates
    mismatch: Estimate


def infinite_temperature(dimension: int) -> HotEnd:
    """Free spins on a hypercubic lattice with sides >= 3: e = 0, de/dbeta = -d (bonds per site), S = ln 2."""
    return HotEnd(beta=0.0, energy=0.0, slope=-float(dimension), entropy=math.log(2))


def exact_hot_end(temperature: float, energy: float, heat_capacity: float, entropy: float) -> HotEnd:
    """A hot end from known thermodynamics per spin, such as a high-temperature series."""
    return HotEnd(1 / temperature, energy, -(temperature**2) * heat_capacity, entropy)


def ordered_ground_state(dimension: int, n_sites: int) -> ColdEnd:
    """Two ordered states of a hypercubic lattice with sides >= 3; one flipped spin costs 4 d."""
    return ColdEnd(-float(dimension), math.log(2) / n_sites, 4.0 * dimension)


def integrate_entropy(
    temperatures: ArrayLike,
    energies: Estimates,
    heat_capacities: Estimates,
    hot: HotEnd,
    cold: ColdEnd,
    at: ArrayLike | None = None,
    n_draws: int = 400,
    seed: int = 0,
) -> IntegratedEntropy:
    """Entropy per spin from energies and heat capacities per spin on a grid of temperatures (n,), ascending.

    at: temperatures (m,) within the grid, by default the grid itself. The grid must be fine enough for cubics
    in beta (see `integration_grid`) and start where e - e_0 is small. Errors come from `n_draws` grids moved
    at random within the errors of the inputs; energy and heat capacity count as independent.
    """
    grid, wanted = _checked(temperatures, energies, heat_capacities, hot, at)
    order = np.argsort(-grid)  # beta ascending
    first, second = np.random.SeedSequence(seed).spawn(2)
    drawn_e = _with_draws(energies, n_draws, first)[:, order]
    drawn_c = _with_draws(heat_capacities, n_draws, second)[:, order]
    nodes = np.concatenate([[hot.beta], 1 / grid[order]])
    values = np.column_stack([np.full(len(drawn_e), hot.energy), drawn_e])
    slopes = np.column_stack([np.full(len(drawn_c), hot.slope), -(grid[order] ** 2) * drawn_c])
    curve = CubicHermiteSpline(nodes, _pooled(nodes, values, slopes), slopes, axis=1)
    from_hot = _from_hot(curve, 1 / wanted, hot)
    mismatch = _mismatch(curve, nodes[-1], values[:, -1], hot, cold)
    return _combined(wanted, from_hot, mismatch)


def integration_grid(
    coldest: float, hottest: float, critical: float, n_points: int, width: float = 0.02
) -> Array:
    """n_points temperatures from coldest to hottest, ascending, densest within `width` of beta_c around it.

    Equal steps of asinh((beta - beta_c) / (width beta_c)).
    """
    if not 0 < coldest < critical < hottest or n_points < 2 or not width > 0:
        raise InputError("grid", (coldest, critical, hottest), "0 < coldest < critical < hottest, 2 points")
    scale = width / critical
    first, last = (math.asinh((1 / end - 1 / critical) / scale) for end in (coldest, hottest))
    beta = 1 / critical + scale * np.sinh(np.linspace(first, last, n_points))
    return np.asarray(1 / beta)


def _pooled(nodes: Array, values: Array, slopes: Array) -> Array:
    """Energies averaged with what the cubic between their two neighbours predicts, by inverse variance.

    Near T_c the prediction is as good as the energy itself, so that the error shrinks by a third. Row 0 of
    values and slopes (n_draws + 1, n_nodes) holds the measurement.
    """
    h = nodes[2:] - nodes[:-2]
    t = (nodes[1:-1] - nodes[:-2]) / h
    left, right = values[:, :-2], values[:, 2:]
    predicted = left + (right - left) * t**2 * (3 - 2 * t)
    predicted += h * t * (1 - t) * ((1 - t) * slopes[:, :-2] - t * slopes[:, 2:])
    own_variance, variance = (draws[1:].var(axis=0) for draws in (values[:, 1:-1], predicted))
    doubt = _doubt((predicted - values[:, 1:-1])[0], own_variance + variance)
    weight = own_variance / np.maximum(own_variance + variance + doubt, np.finfo(np.float64).tiny)
    pooled = values.copy()
    pooled[:, 1:-1] += weight * (predicted - values[:, 1:-1])
    return pooled


def _doubt(misfit: Array, variance: Array) -> Array:
    """Variance to add to predictions that miss by more than noise would: the grid is too coarse there.

    Judged over seven neighbouring points, whose mean chi-squared exceeds 2.5 by chance once in 70.
    """
    excess = misfit**2 / np.maximum(variance, np.finfo(np.float64).tiny)
    window = np.ones(7)
    mean = np.convolve(excess, window, "same") / np.convolve(np.ones_like(excess), window, "same")
    return np.asarray(np.where(mean > 2.5, mean, 0.0) * variance)


def _from_hot(curve: CubicHermiteSpline, beta: Array, hot: HotEnd) -> Array:
    """Entropies from the hot end at beta (m,) -> (n_draws + 1, m)."""
    log_z = hot.entropy - hot.beta * hot.energy - curve.antiderivative()(beta)
    return np.asarray(log_z + beta * curve(beta))


def _mismatch(
    curve: CubicHermiteSpline, last: float, last_energy: Array, hot: HotEnd, cold: ColdEnd
) -> Array:
    """ln Z at the coldest point, beta = last, from the cold end minus that from the hot. (n_draws + 1,)."""
    # Beyond the coldest point e - e_0 falls as exp(-gap beta), to leading order.
    tail = (last_energy - cold.energy) / cold.gap
    from_cold = cold.entropy - last * cold.energy + tail
    from_hot = hot.entropy - hot.beta * hot.energy - curve.antiderivative()(last)
    return np.asarray(from_cold - from_hot)


def _combined(temperatures: Array, from_hot: Array, mismatch: Array) -> IntegratedEntropy:
    """The mean of both ends with the smallest variance over the draws."""
    spread = mismatch[1:] - mismatch[1:].mean()
    variance = float(np.mean(spread**2))
    covariance = np.mean(spread[:, None] * (from_hot[1:] - from_hot[1:].mean(axis=0)), axis=0)
    weight = -covariance / variance if variance > 0 else np.full(len(temperatures), 0.5)
    return IntegratedEntropy(
        temperatures,
        _estimates(from_hot),
        _estimates(from_hot + mismatch[:, None]),
        _estimates(from_hot + weight * mismatch[:, None]),
        Estimate(float(mismatch[0]), float(np.sqrt(variance))),
    )


def _estimates(draws: Array) -> Estimates:
    """The first row is the value, the others spread around it by the error."""
    return Estimates(draws[0], draws[1:].std(axis=0, ddof=1))


def _with_draws(measured: Estimates, n_draws: int, seed: np.random.SeedSequence) -> Array:
    """(n_draws + 1, n): the values themselves, then moved within their errors."""
    draws = normal_draws(measured.values, measured.errors, n_draws, seed)
    return np.vstack([measured.values, draws])


def _checked(
    temperatures: ArrayLike,
    energies: Estimates,
    heat_capacities: Estimates,
    hot: HotEnd,
    at: ArrayLike | None,
) -> tuple[Array, Array]:
    grid = np.asarray(temperatures, dtype=np.float64)
    if grid.ndim != 1 or len(grid) < 4 or not np.all(grid > 0) or not np.all(np.diff(grid) > 0):
        raise InputError("temperatures", temperatures, "four or more, > 0, ascending")
    for name, measured in (("energies", energies), ("heat capacities", heat_capacities)):
        if measured.values.shape != grid.shape:
            raise InputError(name, measured.values.shape, f"one per temperature, {len(grid)}")
    if not 0 <= hot.beta < 1 / grid[-1]:
        raise InputError("hot end", hot.beta, f"beta below {1 / grid[-1]}, that of the hottest point")
    wanted = grid if at is None else np.atleast_1d(np.asarray(at, dtype=np.float64))
    outside = (wanted < grid[0]) | (wanted * hot.beta > 1)
    if outside.any():
        raise InputError("temperature", wanted[outside][0].item(), f"from {grid[0]} up to the hot end")
    return grid, wanted
