"""Finite-size scaling: T_c and exponents of the infinite lattice from reweighted curves on several lattices.

Near T_c a lattice of side L knows the temperature through x = (T - T_c) L^(1/nu) alone, up to corrections
that fall as L^(-omega) (Binder 1981):

    U4 = u(x (1 + d L^(-omega))) + c L^(-omega),   <|m|> = L^(-beta/nu) f(x),   N <m^2> = L^(gamma/nu) g(x).

`scaling_fit` fits all three with polynomials u, ln f, ln g of degree 3, first Binder's U4 for T_c and nu by
scipy's least squares, then the other two, which are linear. Each fit is repeated for every resampling of
the data (see `reweighting`), and the spread is the error, since values of one lattice at neighbouring
temperatures share their noise. The next corrections to <|m|> and N <m^2>, 1 + e L^(-2 omega), are not fitted,
because few sides cannot tell them from the exponent: e is 0 for the data and drawn from its prior for each
resampling, so that the errors of beta/nu and gamma/nu hold them. `binder_crossing` is where the curves of two
lattices cross, without any fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from thermorbm.errors import InputError
from thermorbm.estimators.reweighting import Reweighting
from thermorbm.shown import Displayed
from thermorbm.stats import Estimate

Array = NDArray[np.float64]

_DEGREE = 3
_POINTS = 9  # temperatures per lattice in a fit
_SCAN = 401
_FEWEST_SIDES = 3
_REACH = 0.1  # of U4 around its value at the crossing, within which points are fitted
_ROUNDING = 1e-12  # of U4: curves that differ by less do not cross, they are the same
_PRIOR = 0.5  # width of the priors of d and e: corrections are smaller than what they correct


@dataclass(frozen=True)
class BinderCrossing:
    """Where U4 of two lattices is the same: its temperature and its value there."""

    sides: tuple[int, int]
    temperature: Estimate
    binder: Estimate


@dataclass(frozen=True, repr=False)
class ScalingFit(Displayed):
    """T_c, U4 at T_c and exponents of the infinite lattice. beta and gamma are the products with nu.

    chi_squared: of U4 about its fit, as if its values were independent, with n_degrees degrees of freedom.
    crossings: of neighbouring sides.
    """

    temperature: Estimate
    nu: Estimate
    binder: Estimate
    beta_over_nu: Estimate
    gamma_over_nu: Estimate
    beta: Estimate
    gamma: Estimate
    chi_squared: float
    n_degrees: int
    crossings: tuple[BinderCrossing, ...]


def binder_crossing(small: tuple[int, Reweighting], large: tuple[int, Reweighting]) -> BinderCrossing:
    """The crossing of U4 of two lattices, each its side and its samples, within their common temperatures."""
    (side, first), (other, second) = small, large
    low = max(first.temperatures[0], second.temperatures[0])
    high = min(first.temperatures[-1], second.temperatures[-1])
    if side == other or not low < high:
        raise InputError("lattices", (side, other), "two sides with temperatures in common")
    _check_draws((first, second))
    grid = np.linspace(low, high, _SCAN)
    a, b = (_rows(each, grid)["binder"] for each in (first, second))
    found = np.array([_first_crossing(grid, x, y) for x, y in zip(a, b, strict=True)])
    if np.isnan(found[0]).any() or np.isnan(found[1:, 0]).mean() > 0.1:
        got = f"no crossing of L = {side} and {other} from {low:g} to {high:g}"
        raise InputError("Binder's U4", got, "curves that cross", "sample temperatures around T_c")
    temperature, binder = (_estimate(column) for column in found.T)
    return BinderCrossing((side, other), temperature, binder)


def scaling_fit(lattices: Mapping[int, Reweighting], omega: float) -> ScalingFit:
    """From three or more sides, each with samples around T_c, and the exponent omega of corrections.

    omega is about 0.83 in the 3d Ising model. In 2d the leading analytic corrections fall as L^(-7/4).
    Samples should reach over the same |T - T_c| L^(1/nu). They are fitted where U4 is within 0.1 of its value
    at the crossing of the two largest lattices; temperatures beyond serve peaks alone.
    """
    if len(lattices) < _FEWEST_SIDES or not omega > 0:
        raise InputError("lattices", sorted(lattices), "three or more sides, with omega > 0")
    _check_draws(tuple(lattices.values()))
    sides = sorted(lattices)
    crossings = tuple(binder_crossing((a, lattices[a]), (b, lattices[b])) for a, b in pairwise(sides))
    points = _points(lattices, crossings[-1].binder.value)
    start = np.array([crossings[-1].temperature.value, 1.0, crossings[-1].binder.value, -1e-3, 0, 0, 0, 0])
    start = _fit_binder(points, points.binder[0], omega, 0.0, _scaled_start(start, points))
    centres, further = _PRIOR * np.random.default_rng(0).standard_normal((2, len(points.binder)))
    centres[0] = further[0] = 0.0
    pairs = zip(points.binder, centres, strict=True)
    fits = np.array([_fit_binder(points, row, omega, centre, start) for row, centre in pairs])
    t_c, inverse_nu = fits[:, 0], fits[:, 1]
    order, square = (
        np.array([_power(points, *draw, omega) for draw in zip(rows, t_c, inverse_nu, further, strict=True)])
        for rows in (points.log_order, points.log_square)
    )
    misfit = _binder_residuals(fits[0], points, points.binder[0], omega, 0.0)[:-1]
    return ScalingFit(
        _estimate(t_c),
        _estimate(1 / inverse_nu),
        _estimate(fits[:, 2]),
        _estimate(-order),
        _estimate(square),
        _estimate(-order / inverse_nu),
        _estimate(square / inverse_nu),
        float(misfit @ misfit),
        len(misfit) - fits.shape[1],
        crossings,
    )


@dataclass(frozen=True, eq=False)
class _Points:
    """Side and temperature of every point (n,); rows (n_draws + 1, n) of U4, ln <|m|> and ln N <m^2>.

    errors: (n,) of U4.
    """

    sides: Array
    temperatures: Array
    binder: Array
    errors: Array
    log_order: Array
    log_square: Array


def _points(lattices: Mapping[int, Reweighting], level: float) -> _Points:
    sides, temperatures, columns = [], [], []
    for side, reweighting in sorted(lattices.items()):
        grid = _fitted_temperatures(reweighting, side, level)
        rows = _rows(reweighting, grid)
        order = rows["abs_magnetization"]
        square = rows["susceptibility"] * grid + reweighting.n_sites * order**2
        if not np.isfinite(square).all():
            raise InputError("samples", f"temperatures of L = {side} that do not overlap", "ones that do")
        sides.append(np.full(_POINTS, float(side)))
        temperatures.append(grid)
        columns.append((rows["binder"], np.log(order), np.log(square)))
    binder, order, square = (np.hstack(parts) for parts in zip(*columns, strict=True))
    errors = binder[1:].std(axis=0, ddof=1)
    return _Points(np.concatenate(sides), np.concatenate(temperatures), binder, errors, order, square)


def _fitted_temperatures(reweighting: Reweighting, side: int, level: float) -> Array:
    """Evenly spaced ones (9,) between the coldest and the hottest at which U4 is near the level."""
    scan = np.linspace(reweighting.temperatures[0], reweighting.temperatures[-1], _SCAN)
    near = scan[np.abs(reweighting.curves(scan).binder.values - level) <= _REACH]
    if len(near) < _POINTS:
        got = f"temperatures of L = {side} that leave U4 = {level:.3f} at once"
        raise InputError("samples", got, "ones around T_c, less than half of L^(-1/nu) apart")
    return np.linspace(near[0], near[-1], _POINTS)


def _check_draws(lattices: Sequence[Reweighting]) -> None:
    numbers = sorted({each.n_draws for each in lattices})
    if len(numbers) > 1:
        raise InputError("n_draws", numbers, "resamplings of one number for all lattices")


def _rows(reweighting: Reweighting, grid: Array) -> dict[str, Array]:
    """(n_draws + 1, m) of each magnetic quantity; the first row is of the data themselves."""
    curves = reweighting.curves(grid)
    names = ("binder", "abs_magnetization", "susceptibility")
    return {name: np.vstack([getattr(curves, name).values, curves.draws[name]]) for name in names}


def _first_crossing(grid: Array, a: Array, b: Array) -> tuple[float, float]:
    """Temperature and value where a - b changes its sign, nearest to where both are steepest."""
    difference = np.where(np.abs(a - b) > _ROUNDING, a - b, 0.0)
    places = np.flatnonzero(np.sign(difference[:-1]) != np.sign(difference[1:]))
    if not len(places):
        return np.nan, np.nan
    slope = np.abs(np.diff(difference))
    place = places[np.argmax(slope[places])]
    share = difference[place] / (difference[place] - difference[place + 1])
    return tuple(float((1 - share) * x[place] + share * x[place + 1]) for x in (grid, a))  # type: ignore[return-value]


def _scaled_start(start: Array, points: _Points) -> Array:
    """The slope of U4 in x from its values on the largest lattice, for 1/nu = 1."""
    largest = points.sides == points.sides.max()
    slope = np.polyfit(points.temperatures[largest], points.binder[0, largest], 1)[0]
    return np.concatenate([start[:3], [slope / points.sides.max()], start[4:]])


def _binder_residuals(
    parameters: Array, points: _Points, values: Array, omega: float, centre: float
) -> Array:
    """Parameters: T_c, 1/nu, U4 at T_c, coefficients of x, x^2, x^3, those of L^(-omega) in U4 and in x.

    The last element is the prior of the correction of x, around a centre that is 0 for the data and drawn
    from the prior for each resampling, so that the spread of the fits holds the prior's width too.
    """
    t_c, inverse_nu, constant, *coefficients, correction, stretch = parameters
    x = (points.temperatures - t_c) * points.sides**inverse_nu * (1 + stretch * points.sides**-omega)
    model = constant + sum(c * x ** (k + 1) for k, c in enumerate(coefficients))
    residuals = (model + correction * points.sides**-omega - values) / points.errors
    return np.append(residuals, (stretch - centre) / _PRIOR)


def _fit_binder(points: _Points, values: Array, omega: float, centre: float, start: Array) -> Array:
    result = least_squares(_binder_residuals, start, args=(points, values, omega, centre), x_scale="jac")
    return np.asarray(result.x)


def _power(
    points: _Points, log_values: Array, t_c: float, inverse_nu: float, further: float, omega: float
) -> float:
    """The exponent p of Y = L^p f(x) (1 + c L^(-omega)) (1 + e L^(-2 omega)), from ln Y (n,), e being given.

    By linear least squares, in which the corrections' logarithms are taken to first order.
    """
    log_values = log_values - further * points.sides ** (-2 * omega)
    x = (points.temperatures - t_c) * points.sides**inverse_nu
    x = x / np.abs(x).max()
    columns = [np.log(points.sides), points.sides**-omega, *(x**k for k in range(_DEGREE + 1))]
    return float(np.linalg.lstsq(np.stack(columns, axis=1), log_values, rcond=None)[0][0])


def _estimate(rows: Array) -> Estimate:
    return Estimate(float(rows[0]), float(np.nanstd(rows[1:], ddof=1)))
