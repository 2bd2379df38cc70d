"""Couplings from configurations alone, by the pseudo-likelihood (Besag 1975; Aurell & Ekeberg 2012).

Given all other spins, a spin of a Boltzmann distribution points up with probability 1 / (1 + exp(-2 x)),
where x is its local field over k_B T: a sum of couplings times products of other spins. The product of these
conditional probabilities over all sites and configurations is a concave function of the couplings; its
maximum is found by Newton's method without a partition function, and lies at the true couplings for many
configurations.

Errors: sites of one configuration are not independent, so that the curvature alone would understate them.
With the curvature A, and B the sum over configurations of g g^T for the gradient g of each, the covariance is
A^-1 B A^-1 (Godambe). Configurations are taken to be independent, as those of `sample` are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from thermorbm.dataset import Dataset, as_dataset
from thermorbm.errors import InputError
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.hamiltonians.cells import Grid, Product, bond
from thermorbm.hamiltonians.terms import Terms
from thermorbm.shown import Displayed
from thermorbm.stats import Estimate

Label = tuple[Any, ...]
FIELD: Label = ("field",)
MOST_PARAMETERS = 2048
# A Gaussian prior so wide that it matters only where data say nothing: configurations that are all alike.
PRECISION = 1e-3
_MOST_STEPS = 60
_MOST_SHOWN = 8  # couplings
_KNOWN = 0.01  # of the variance that the curvature gives; data that show all couplings have about all of it
_APART = 16.0  # chi-squared of couplings that differ
_SMALLEST_GAIN = 1e-6  # nats: a thousandth of an error away from the maximum


@dataclass(frozen=True, eq=False, repr=False)
class InferredCouplings(Displayed):
    """Couplings over k_B T, with errors from one dataset.

    labels: of each, FIELD first; a bond of a lattice is its displacement in cells, or (site, site,
    displacement) where cells have several sites; other terms are their site numbers. values: (k,).
    covariance: (k, k). curvature: (k, k), of the pseudo-likelihood at its maximum where that gave the values.
    """

    labels: tuple[Label, ...]
    values: NDArray[np.float64]
    covariance: NDArray[np.float64]
    curvature: NDArray[np.float64] | None = None

    def _facts(self) -> dict[str, Any]:
        """The field and the first couplings; every pair of sites may have its own."""
        told = {str(label): estimate for label, estimate in islice(self.couplings.items(), _MOST_SHOWN)}
        return {"field": self.field, **told, "couplings": len(self.labels) - 1}

    @property
    def errors(self) -> NDArray[np.float64]:
        """(k,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def field(self) -> Estimate:
        """h over k_B T."""
        return self.estimates[FIELD]

    @property
    def estimates(self) -> dict[Label, Estimate]:
        """Every coupling by its label."""
        pairs = zip(self.values.tolist(), self.errors.tolist(), strict=True)
        return {label: Estimate(*pair) for label, pair in zip(self.labels, pairs, strict=True)}

    @property
    def couplings(self) -> dict[Label, Estimate]:
        """All but the field."""
        return {label: estimate for label, estimate in self.estimates.items() if label != FIELD}


def infer_couplings(
    data: Dataset | ArrayLike,
    reach: int = 1,
    model: Hamiltonian | None = None,
    start: NDArray[np.float64] | None = None,
) -> InferredCouplings:
    """Field and couplings of the data's Hamiltonian over k_B T, at the maximum of the pseudo-likelihood.

    data: a Dataset, or an array of +-1, (n, n_sites) or (n, L, L) on a periodic lattice. There one coupling
    stands for every displacement of up to `reach` cells along each axis, whatever its direction. Without a
    lattice, every pair of sites has its own. model: take its products of spins instead, one coupling for each
    that its cells repeat, or for each term where they differ. start: values, the field first, near which the
    maximum is known to lie.
    """
    data = as_dataset("data", data)
    groups = _groups_of_model(model) if model is not None else _groups_of_data(data, reach)
    if len(groups) >= MOST_PARAMETERS:
        raise InputError(
            "couplings", len(groups), f"fewer than {MOST_PARAMETERS}", "give a lattice or a model"
        )
    if model is not None and model.n_sites != data.n_sites:
        raise InputError("model", f"{model.n_sites} sites", f"of the data's {data.n_sites} sites")
    table = _table([terms for _, terms in groups], data.n_sites)
    theta = np.zeros(1 + len(groups)) if start is None else np.asarray(start, np.float64)
    values, curvature, scores = _maximize(data, table, theta)
    inverse = np.linalg.inv(curvature)
    covariance = inverse @ scores @ inverse
    return InferredCouplings((FIELD, *(label for label, _ in groups)), values, covariance, curvature)


def tied_where_unknown(inferred: InferredCouplings, alike: NDArray[np.bool_]) -> InferredCouplings:
    """The same, or one value for all couplings that are `alike`, (k,), where data cannot tell them apart.

    Couplings show in spins that point against their local field. Cold data may have one such spin or none:
    then the gradients of configurations span fewer directions than there are couplings, along the others
    values are chance, and the errors of Godambe vanish. If the values agree within the errors of the
    curvature, the most likely common one takes their place, and these are the errors.
    """
    assert inferred.curvature is not None  # it comes from `infer_couplings`
    inverse = np.asarray(np.linalg.inv(inferred.curvature), np.float64)
    block, values = np.ix_(alike, alike), inferred.values[alike]
    if alike.sum() < 2 or eigh(inferred.covariance[block], inverse[block])[0].min() > _KNOWN:
        return inferred
    weights = np.linalg.inv(inverse[block])
    common = float(weights.sum(axis=0) @ values / weights.sum())
    if (values - common) @ weights @ (values - common) > _APART:
        return inferred
    return replace(inferred, values=np.where(alike, common, inferred.values), covariance=inverse)


def _groups_of_model(model: Hamiltonian) -> list[tuple[Label, list[Terms]]]:
    if model.products is not None and model.grid is not None and not any(model.grid.open):
        grid = model.grid
        return [(label_of(item, grid), grid.expand([item])) for item in model.products]
    rows = [(terms, k) for terms in model.terms for k in range(len(terms))]
    return [
        (tuple(terms.sites[k].tolist()), [Terms(terms.sites[k : k + 1].copy(), np.ones(1))])
        for terms, k in rows
    ]


def _groups_of_data(data: Dataset, reach: int) -> list[tuple[Label, list[Terms]]]:
    if isinstance(reach, bool) or not isinstance(reach, int) or reach < 1:
        raise InputError("reach", reach, "a whole number >= 1")
    grid = data.hamiltonian.grid if data.hamiltonian else None
    if grid is None and data.lattice is not None:
        grid = Grid(data.lattice.shape, 1, (False,) * data.lattice.dimension)
    if grid is not None:
        if min(grid.shape) <= 2 * reach:
            raise InputError("reach", reach, f"below half of the shortest side, {min(grid.shape)}")
        return [(label_of(item, grid), grid.expand([item])) for item in _bonds_within(grid, reach)]
    if data.n_sites * (data.n_sites - 1) // 2 >= MOST_PARAMETERS:
        raise InputError(
            "data", f"{data.n_sites} sites without a lattice", "on a lattice", "give it, or a model"
        )
    first, second = np.triu_indices(data.n_sites, 1)
    pairs = np.stack([first, second], axis=1).astype(np.int64)
    return [
        ((int(a), int(b)), [Terms(pairs[k : k + 1].copy(), np.ones(1))]) for k, (a, b) in enumerate(pairs)
    ]


def _bonds_within(grid: Grid, reach: int) -> list[Product]:
    """Every pair of sites of a cell and one up to `reach` cells away, once; nearest first."""
    bonds = []
    for offset in product(range(-reach, reach + 1), repeat=len(grid.shape)):
        for a, b in product(range(grid.n_cell), repeat=2):
            there, back = (a, b, offset), (b, a, tuple(-step for step in offset))
            if there > back or (a == b and not any(offset)):
                continue
            # Of the two ways along a bond the one that goes up.
            first, second, way = max(there, back, key=lambda row: row[2])
            bonds.append(bond(first, second, tuple(way), 1.0))
    return sorted(bonds, key=lambda item: sum(step * step for step in item.points[1][1]))


def label_of(item: Product, grid: Grid) -> Label:
    """The displacement of a bond; other products by all their points."""
    if len(item.points) == 2:
        (first, _), (second, offset) = item.points
        return offset if grid.n_cell == 1 else (first, second, offset)
    return tuple(offset if grid.n_cell == 1 else (site, offset) for site, offset in item.points)


@dataclass(frozen=True, eq=False)
class _Table:
    """For every site the terms that contain it: first (n_sites + 1,) into others (n, width) and slot (n,).

    A slot is one of the site's own parameters, numbered parameter[first_slot[i]:first_slot[i + 1]].
    """

    first: NDArray[np.int64]
    others: NDArray[np.int64]
    slot: NDArray[np.int64]
    first_slot: NDArray[np.int64]
    parameter: NDArray[np.int64]


def _table(groups: Sequence[Sequence[Terms]], n_sites: int) -> _Table:
    """Parameter 0 is the field; others are padded with n_sites, a spin that is always up."""
    width = max([1, *(terms.order - 1 for parts in groups for terms in parts)])
    owners, others = [np.arange(n_sites)], [np.full((n_sites, width), n_sites)]
    labels = [np.zeros(n_sites, np.int64)]
    for number, parts in enumerate(groups, start=1):
        for terms in parts:
            for place in range(terms.order):
                padded = np.full((len(terms), width), n_sites)
                padded[:, : terms.order - 1] = np.delete(terms.sites, place, axis=1)
                owners.append(terms.sites[:, place])
                others.append(padded)
                labels.append(np.full(len(terms), number))
    owner, label = np.concatenate(owners), np.concatenate(labels)
    order = np.lexsort((label, owner))
    owner, label = owner[order], label[order]
    starts = np.concatenate([[True], (owner[1:] != owner[:-1]) | (label[1:] != label[:-1])])
    slot_owner = owner[starts]
    first_slot = np.concatenate([[0], np.cumsum(np.bincount(slot_owner, minlength=n_sites))])
    slot = np.cumsum(starts) - 1 - first_slot[owner]
    first = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_sites))])
    return _Table(first, np.concatenate(others)[order].astype(np.int64), slot, first_slot, label[starts])


def _maximize(
    data: Dataset, table: _Table, theta: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Parameters at the maximum, the curvature there, and the summed squares of configurations' gradients."""
    cost, gradient, curvature, scores = _derivatives(data, table, theta)
    for _ in range(_MOST_STEPS):
        step = np.linalg.solve(curvature, gradient)
        if float(gradient @ step) < _SMALLEST_GAIN:
            break
        length = 1.0
        while True:
            tried = _derivatives(data, table, theta + length * step)
            if tried[0] <= cost or length < 1e-3:
                break
            length /= 2
        theta = theta + length * step
        cost, gradient, curvature, scores = tried
    return theta, curvature, scores


def _derivatives(
    data: Dataset, table: _Table, theta: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Cost in nats, minus its gradient, its curvature, and the sum of squares of gradients."""
    n = len(theta)
    gradient, curvature, scores = -PRECISION * theta, PRECISION * np.eye(n), np.zeros((n, n))
    cost = PRECISION / 2 * float(theta @ theta)
    slots = int(np.diff(table.first_slot).max())
    for block in data.blocks():
        own = np.zeros((len(block), n))
        cost += _accumulate(
            block, theta, table.first, table.others, table.slot, table.first_slot, table.parameter, slots,
            own, curvature,
        )  # fmt: skip
        gradient += own.sum(axis=0)
        scores += own.T @ own
    if not math.isfinite(cost):
        raise InputError("data", "couplings that run away", "configurations that are not all alike")
    return cost, gradient, curvature, scores


@nb.njit(cache=True)
def _accumulate(
    v: Any, theta: Any, first: Any, others: Any, slot: Any, first_slot: Any, parameter: Any, slots: int,
    gradients: Any, curvature: Any,
) -> float:  # fmt: skip
    """Adds to gradients (n, k) and curvature (k, k); returns the cost of all rows of v (n, n_sites)."""
    n_sites, features, cost = v.shape[1], np.empty(slots), 0.0
    for row in range(v.shape[0]):
        for site in range(n_sites):
            n_slots, base = first_slot[site + 1] - first_slot[site], first_slot[site]
            features[:n_slots] = 0.0
            for entry in range(first[site], first[site + 1]):
                product = 1
                for column in range(others.shape[1]):
                    if others[entry, column] < n_sites:
                        product *= v[row, others[entry, column]]
                features[slot[entry]] += product
            field = 0.0
            for k in range(n_slots):
                field += theta[parameter[base + k]] * features[k]
            x = 2 * v[row, site] * field
            surprise = math.log1p(math.exp(-abs(x))) + max(-x, 0.0)
            wrong = 1 / (1 + math.exp(min(x, 700.0)))
            cost += surprise
            for k in range(n_slots):
                gradients[row, parameter[base + k]] += 2 * v[row, site] * features[k] * wrong
                weighted = 4 * features[k] * wrong * (1 - wrong)
                for m in range(n_slots):
                    curvature[parameter[base + k], parameter[base + m]] += weighted * features[m]
    return cost
