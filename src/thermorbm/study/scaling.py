"""Finite-size scaling of the configurations of a study: all samples of several lattices, joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.estimators import Reweighting, ScalingFit, scaling_fit
from thermorbm.exact import TC_2D, TC_3D
from thermorbm.records import as_plain
from thermorbm.runner.store import Product, Reduced
from thermorbm.runner.task import Task
from thermorbm.study.reweighted import measurements_of
from thermorbm.study.scaled import Crossing, Exponents, KnownExponents

Arrays = dict[str, NDArray[Any]]

N_DRAWS = 100
FINE_POINTS = 101
# Of the Ising model. 2d: exact, and Kamieniarz & Blöte 1993 for U4. 3d: K_c of Ferrenberg, Xu & Landau 2018,
# the conformal bootstrap (Kos et al. 2016) for the exponents, Blöte, Luijten & Heringa 1995 for U4.
KNOWN = {
    2: KnownExponents(TC_2D, 1.0, 0.61069, 0.125, 1.75),
    3: KnownExponents(TC_3D, 0.629971, 0.46548, 0.518149, 1.963702),
}


def scaling(task: Task, results: Sequence[Reduced]) -> Product:
    """T_c and exponents with the Binder crossings, and the curves of every lattice."""
    p = task.parameters
    lattices = {
        int(shape[0]): _reweighting([r for r in results if r.task.labels["family"] == name], shape, seed)
        for seed, (name, shape) in enumerate(p["families"].items(), p["seed"] % 2**32)
    }
    dimension = len(next(iter(p["families"].values())))
    values = {
        "families": list(p["families"]),
        "sides": sorted(lattices),
        "omega": p["omega"],
        "known": as_plain(KNOWN.get(dimension)),
    }
    try:
        values |= _fitted(scaling_fit(lattices, p["omega"]))
    except InputError as error:
        values["problem"] = str(error)
    return Product(values, _curves(lattices))


def _reweighting(results: Sequence[Reduced], shape: Sequence[int], seed: int) -> Reweighting:
    """Seeds differ between lattices, so that their resamplings have nothing in common."""
    n_sites = int(np.prod(shape))
    return Reweighting(measurements_of(results, n_sites), n_sites, n_draws=N_DRAWS, seed=seed)


def _fitted(fit: ScalingFit) -> dict[str, Any]:
    exponents = Exponents(
        fit.temperature,
        fit.nu,
        fit.binder,
        fit.beta_over_nu,
        fit.gamma_over_nu,
        fit.beta,
        fit.gamma,
        fit.chi_squared,
        fit.n_degrees,
    )
    crossings = [Crossing(each.sides, each.temperature, each.binder) for each in fit.crossings]
    return {"fit": as_plain(exponents), "crossings": as_plain(crossings)}


def _curves(lattices: Mapping[int, Reweighting]) -> Arrays:
    """Of every side: temperatures, U4, <|m|> and N <m^2>, and their errors, (m,) each."""
    arrays: Arrays = {}
    for side, reweighting in lattices.items():
        ends = reweighting.temperatures[0], reweighting.temperatures[-1]
        curves = reweighting.curves(np.linspace(*ends, FINE_POINTS))
        n, t = reweighting.n_sites, curves.temperatures
        squares = n * curves.draws["abs_magnetization"] ** 2 + t * curves.draws["susceptibility"]
        square = n * curves.abs_magnetization.values**2 + t * curves.susceptibility.values
        columns = {
            "temperature": t,
            "binder": curves.binder.values,
            "binder.errors": curves.binder.errors,
            "order": curves.abs_magnetization.values,
            "order.errors": curves.abs_magnetization.errors,
            "square": square,
            "square.errors": squares.std(axis=0),
        }
        arrays |= {f"L{side}.{name}": column for name, column in columns.items()}
    return arrays
