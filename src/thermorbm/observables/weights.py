"""The weight matrix: filters, their sums, and how inverse filters correlate (section III A).

Row i of W is the filter of hidden unit i, column j the inverse filter of visible unit j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.observables.configurations import RadialCurve, shells, translation_average
from thermorbm.stats import Estimate, jackknife_many, variance_estimate

_UNITS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class UnitSums:
    """Sums of the weights of each unit. totals: (n_units,); n_terms: how many weights each sums."""

    totals: NDArray[np.float64]
    n_terms: int

    @property
    def normalised(self) -> NDArray[np.float64]:
        """(n_units,): the mean weight of each unit."""
        return self.totals / self.n_terms

    @property
    def abs_variance(self) -> Estimate:
        """<|sum|^2> - <|sum|>^2 over the units, not normalised (inset of figure 3b), error over units."""
        return variance_estimate(np.abs(self.totals))


def couplings(machine: Machine) -> NDArray[Any]:
    """W of any machine as a dense matrix, (n_hidden, n_visible)."""
    weights = machine.parameters.get("W")
    shape = (machine.n_hidden, machine.n_visible)
    if weights is not None and weights.shape == shape:
        return weights
    columns = machine.hidden_inputs(np.eye(machine.n_visible, dtype=machine.dtype)).T
    return np.asarray(columns - hidden_bias(machine)[:, None])


def hidden_bias(machine: Machine) -> NDArray[np.float64]:
    """c of every hidden unit, (n_hidden,), however the machine shares it."""
    return np.asarray(machine.hidden_inputs(np.zeros((1, machine.n_visible)))[0])


def visible_bias(machine: Machine) -> NDArray[np.float64]:
    """b of every visible unit, (n_visible,)."""
    return np.asarray(machine.visible_inputs(np.zeros((1, machine.n_hidden)))[0])


def filter_sums(machine: Machine) -> UnitSums:
    """sum_j W_ij of each hidden unit i."""
    all_up = machine.hidden_inputs(np.ones((1, machine.n_visible)))[0]
    return UnitSums(all_up - hidden_bias(machine), machine.n_visible)


def majority_shares(machine: Machine) -> NDArray[np.float64]:
    """Share of the sign that most weights of each filter have, from 1/2 to 1. -> (n_hidden,).

    A filter of n_v independent weights of random sign has 1/2 + 1 / sqrt(2 pi n_v).
    """
    up = (couplings(machine) > 0).mean(axis=1)
    return np.asarray(np.maximum(up, 1 - up), np.float64)


def inverse_filter_sums(machine: Machine) -> UnitSums:
    """sum_i W_ij of each visible unit j."""
    all_up = machine.visible_inputs(np.ones((1, machine.n_hidden)))[0]
    return UnitSums(all_up - visible_bias(machine), machine.n_hidden)


def wrap_filters(machine: Machine, lattice: Lattice, units: Sequence[int]) -> NDArray[np.float64]:
    """The filters of some hidden units laid out on the lattice, (len(units), *lattice.shape)."""
    _same_sites(machine, lattice)
    wrong = [unit for unit in units if not 0 <= unit < machine.n_hidden]
    if wrong:
        raise InputError("units", wrong[0], f"hidden units from 0 to {machine.n_hidden - 1}")
    chosen = couplings(machine)[np.asarray(units, dtype=np.intp)]
    return chosen.astype(np.float64).reshape(-1, *lattice.shape)


def inverse_filter_correlation(machine: Machine, lattice: Lattice) -> RadialCurve:
    """<w_:j . w_:j'> / <w_:j . w_:j> against the distance of j and j', averaged over all pairs of sites.

    The inner products are elements of W^T W. Averaged over translations they are the autocorrelations of the
    filters, one Fourier transform each. Errors are jackknifed over hidden units.
    """
    _same_sites(machine, lattice)
    weights, bins = couplings(machine), shells(lattice)
    starts = range(0, machine.n_hidden, _UNITS_AT_ONCE)
    parts = [weights[start : start + _UNITS_AT_ONCE].astype(np.float64) for start in starts]
    per_unit = np.concatenate([bins.average(translation_average(lattice, part)) for part in parts])
    values = _normalised(per_unit.mean(axis=0))
    if machine.n_hidden < 2:
        return RadialCurve(bins.distances, values, np.full(len(values), np.nan), bins.n_pairs)
    errors = jackknife_many(per_unit, _normalised).errors
    return RadialCurve(bins.distances, values, errors, bins.n_pairs)


def _normalised(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divided by the product at distance 0; all zero where there are no weights."""
    return products / products[0] if products[0] > 0 else np.zeros_like(products)


def _same_sites(machine: Machine, lattice: Lattice) -> None:
    if machine.n_visible != lattice.n_sites:
        raise InputError(
            "lattice", str(lattice), f"one of {machine.n_visible} sites, as many as visible units"
        )


def largest_domains(machine: Machine, lattice: Lattice) -> NDArray[np.float64]:
    """(n_hidden,): the share of the sites that lie in the largest domain of each filter."""
    if machine.n_visible != lattice.n_sites:
        raise InputError("lattice", str(lattice), f"one of {machine.n_visible} sites")
    sites = np.repeat(np.arange(lattice.n_sites), lattice.dimension)
    upper = lattice.neighbours[:, ::2].ravel()  # one end of every bond, in the order of `sites`
    signs = couplings(machine) > 0
    return np.array([_largest(sign, sites, upper) for sign in signs]) / lattice.n_sites


def _largest(sign: NDArray[np.bool_], first: NDArray[np.int_], second: NDArray[np.int32]) -> int:
    """Sites in the largest domain of one filter; bonds join first to second."""
    alike = sign[first] == sign[second]
    bonds = coo_array((alike[alike], (first[alike], second[alike])), shape=(len(sign), len(sign)))
    return int(np.bincount(connected_components(bonds, directed=False)[1]).max())
