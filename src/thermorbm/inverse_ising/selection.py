"""Which products of spins data ask for, out of all that fit into a window.

One product after the other enters a Hamiltonian at the maximum of its pseudo-likelihood: of those whose
slope there is significant the one that promises the largest gain. Pairs come first, products of three and
four spins after them, because in ordered data they do much the same as pairs and a field. In the end products
that the others have made superfluous leave.

A slope is judged with the couplings that are there already fitted anew (Rao's score test): with the
curvature A of the pseudo-likelihood, the gradient g_c of a product and g_a of those that are there, it is the
sum over configurations of g_c - A_ca A_aa^-1 g_a. This holds also for couplings so strong that data give them
no upper limit, where value over error would call nothing significant. Its variance is known in two ways, and
the larger one counts:

- the scatter over configurations, which knows that sites of one configuration are not independent;
- the curvature A_cc - A_ca A_aa^-1 A_ac, which the model itself expects of independent sites. In cold data
  spins that point against their neighbours are events so rare that none may be there at all: then all
  configurations have the same slope, without scatter, however little it means.

A slope is significant if, by that variance, chance makes one as large in one search of ten thousand, all
products that were looked through counted (Bonferroni).

Where a product is missing, what it would explain comes as a surprise, and surprises scatter: in a cold
antiferromagnet in a field a few spins turned along the field made a slope of 250 scatter by 65. So where no
slope is significant the product with the largest one enters for a trial, and stays if the pseudo-likelihood
rises by more than chance makes it. That rise is judged by scatter over curvature of the larger model, which
is the true one whether or not the product belongs to it (the adjusted ratio of composite likelihoods).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from thermorbm.dataset import Dataset
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.hamiltonians.cells import Grid, Offset, Product
from thermorbm.inverse_ising.likelihood import in_cells, products_around
from thermorbm.inverse_ising.pseudo_likelihood import infer_couplings

CHANCE = 1e-4  # of a search that finds a product where there is none
MAGNETIZED = 4.0  # standard errors: a smaller mean magnetisation is chance
# Spins that are looked at, at most: a coupling of 0.01 shows in as many.
MOST_SPINS = 1 << 19
MOST_PRODUCTS = 24
# Sites of a window, at most, for products of three and four spins to be looked for.
_MOST_SITES = 10


def grid_of(data: Dataset) -> Grid | None:
    """The periodic grid that the configurations lie on, None where there is none."""
    if data.hamiltonian is not None:
        return data.hamiltonian.grid
    return None if data.lattice is None else Grid(data.lattice.shape, 1, (False,) * data.lattice.dimension)


def is_magnetized(data: Dataset) -> bool:
    """Whether one sign of the magnetisation is the rule: a field, or one of two phases, chose it."""
    sums = np.concatenate([block.sum(axis=1, dtype=np.int64) for block in data.blocks()])
    return bool(abs(sums.mean()) > MAGNETIZED * sums.std() / math.sqrt(len(sums)))


def asked_products(data: Dataset, grid: Grid, window: Offset) -> tuple[Product, ...]:
    """Products of two to four spins, each as coupling 1, that a Hamiltonian of the data needs. window: cells.

    Fewer than MOST_PRODUCTS: where as many are asked for, the data have no Hamiltonian of few products.
    """
    data = thinned(data)
    searched = list(_candidates(grid, window))
    significant = least_errors(sum(map(len, searched)))
    chosen: list[Product] = []
    for candidates in searched:
        chosen = _extended(data, grid, chosen, candidates, significant)
    return tuple(_without_superfluous(data, grid, chosen, significant))


def least_errors(n_candidates: int) -> float:
    """How many standard errors one of so many slopes has by chance in one search of ten thousand."""
    return float(-ndtri(CHANCE / (2 * max(1, n_candidates))))


def thinned(data: Dataset) -> Dataset:
    """Evenly spaced configurations, as many as are looked at."""
    rows = max(64, MOST_SPINS // data.n_sites)
    if len(data) <= rows:
        return data
    return data.select(np.linspace(0, len(data) - 1, rows).astype(np.int64))


def _candidates(grid: Grid, window: Offset) -> Iterator[list[Product]]:
    """Pairs, and where the window is small products of three and four spins."""
    yield _products(grid, window, 2)
    if grid.n_cell * math.prod(window) <= _MOST_SITES:
        yield _products(grid, window, 3) + _products(grid, window, 4)


def _products(grid: Grid, window: Offset, order: int) -> list[Product]:
    """All products of so many sites of a window, those that differ by a shift once; the nearest first."""
    reach = tuple(min(width, (side + 1) // 2) for width, side in zip(window, grid.shape, strict=True))
    sites = [(site, cell) for cell in np.ndindex(*reach) for site in range(grid.n_cell)]
    products = {_shifted(points) for points in combinations(sites, order)}
    return [Product(points, 1.0) for points in sorted(products, key=_extent)]


def _shifted(points: Sequence[tuple[int, Offset]]) -> tuple[tuple[int, Offset], ...]:
    """The same with the first cell, in C order, at 0, as bonds of Hamiltonians have it."""
    first = min(cell for _, cell in points)
    moved = [(site, tuple(x - o for x, o in zip(cell, first, strict=True))) for site, cell in points]
    return tuple(sorted(moved, key=lambda point: (point[1], point[0])))


def _extent(points: tuple[tuple[int, Offset], ...]) -> tuple[int, tuple[tuple[int, Offset], ...]]:
    return sum(step * step for _, cell in points for step in cell), points


def _extended(
    data: Dataset, grid: Grid, chosen: list[Product], candidates: list[Product], significant: float
) -> list[Product]:
    """With the candidates that are asked for, the one of the largest gain first."""
    fit = _Fit.of(data, grid, chosen)
    while candidates and len(chosen) < MOST_PRODUCTS:
        slopes = [fit.slope(candidate) for candidate in candidates]
        clear = [number for number, slope in enumerate(slopes) if slope.is_clear(significant)]
        best = max(clear or range(len(slopes)), key=lambda number: slopes[number].gain)
        if not clear and not slopes[best].is_worth_a_trial(significant):
            break
        larger = _Fit.of(data, grid, [*chosen, candidates[best]], np.append(fit.values, 0.0))
        if not clear and not larger.is_better(fit, significant):
            break
        chosen, fit = [*chosen, candidates[best]], larger
        candidates = [item for item in candidates if item not in chosen]
    return chosen


def _without_superfluous(
    data: Dataset, grid: Grid, chosen: list[Product], significant: float
) -> list[Product]:
    """Without what the others have made superfluous, the least significant first."""
    if len(chosen) < 2:
        return chosen
    inferred = infer_couplings(data, model=Hamiltonian.of_cells("asked", grid, chosen))
    sizes = np.abs(inferred.values[1:]) / inferred.errors[1:]
    for number in np.argsort(sizes):
        if sizes[number] > significant:  # nan where the data give no upper limit: looked at below
            break
        others = [item for item in chosen if item is not chosen[number]]
        if not _is_asked(data, grid, others, chosen[number], significant):
            return _without_superfluous(data, grid, others, significant)
    return chosen


def _is_asked(data: Dataset, grid: Grid, others: list[Product], product: Product, significant: float) -> bool:
    """Whether the data ask for a product beside the others."""
    fit = _Fit.of(data, grid, others)
    slope = fit.slope(product)
    if slope.is_clear(significant) or not slope.is_worth_a_trial(significant):
        return slope.is_clear(significant)
    return _Fit.of(data, grid, [*others, product], np.append(fit.values, 0.0)).is_better(fit, significant)


@dataclass(frozen=True)
class _Slope:
    """Of the pseudo-likelihood along one product more: with its two variances, from the curvature and from
    the scatter over configurations.
    """

    total: float
    curvature: float
    scatter: float

    @property
    def gain(self) -> float:
        """By how much the pseudo-likelihood would rise, nats."""
        return self.total**2 / (2 * self.curvature) if self.curvature > 0 else 0.0

    def is_clear(self, significant: float) -> bool:
        """Whether it is no chance. significant: the slope that is none, in standard errors."""
        return self.curvature > 0 and self.total**2 > significant**2 * max(self.scatter, self.curvature)

    def is_worth_a_trial(self, significant: float) -> bool:
        """Whether it would be no chance if nothing but the curvature counted."""
        return self.gain > significant**2 / 2


@dataclass(frozen=True, eq=False)
class _Fit:
    """A Hamiltonian at the maximum of its pseudo-likelihood, to be tested against one product more.

    wrong: (n, n_sites), the probability that a spin points the other way. own: (n, n_sites) for the field and
    each product, the spin times what multiplies its coupling. values: of the couplings, field first, (k,).
    gradients: (n, k). curvature: (k, k).
    """

    values: NDArray[np.float64]
    cells: NDArray[np.int8]
    wrong: NDArray[np.float32]
    own: list[NDArray[np.int8]]
    gradients: NDArray[np.float64]
    curvature: NDArray[np.float64]

    @classmethod
    def of(
        cls, data: Dataset, grid: Grid, products: Sequence[Product], start: NDArray[np.float64] | None = None
    ) -> _Fit:
        model = Hamiltonian.of_cells("asked", grid, products)
        values = infer_couplings(data, model=model, start=start).values
        v = data.spins()
        cells = in_cells(v, grid)
        own = [v, *(products_around(cells, product) for product in products)]
        x = sum(np.float32(value) * part for value, part in zip(values, own, strict=True))
        wrong = 1 / (1 + np.exp(np.clip(2 * x, -80, 80, dtype=np.float32)))
        gradients = np.stack([_rows(wrong, part) for part in own], axis=1)
        weights = [4 * wrong * (1 - wrong) * part for part in own]
        curvature = np.array([[_total(weight, part) for part in own] for weight in weights])
        return cls(values, cells, wrong, own, gradients, curvature)

    @property
    def log_likelihood(self) -> float:
        """The pseudo-likelihood of all configurations, nats."""
        return float(np.log1p(-np.minimum(self.wrong, 1 - 1e-7), dtype=np.float64).sum())

    def is_better(self, smaller: _Fit, significant: float) -> bool:
        """Whether the last product raises the pseudo-likelihood by more than chance does."""
        inverse = np.linalg.pinv(self.curvature)
        scattered = inverse @ (self.gradients.T @ self.gradients) @ inverse
        excess = max(1.0, scattered[-1, -1] / inverse[-1, -1]) if inverse[-1, -1] > 0 else np.inf
        return self.log_likelihood - smaller.log_likelihood > significant**2 / 2 * excess

    def slope(self, product: Product) -> _Slope:
        """Along one product more, with the couplings that are there fitted anew."""
        part = products_around(self.cells, product)
        weight = 4 * self.wrong * (1 - self.wrong) * part
        mixed = np.array([_total(weight, other) for other in self.own])
        share = np.linalg.lstsq(self.curvature, mixed, rcond=1e-10)[0]
        gradient = _rows(self.wrong, part) - self.gradients @ share
        curvature = _total(weight, part) - float(mixed @ share)
        return _Slope(float(gradient.sum()), curvature, float(gradient @ gradient))


def _rows(wrong: NDArray[np.float32], part: NDArray[np.int8]) -> NDArray[np.float64]:
    """The gradient of each configuration by one coupling, (n,)."""
    return np.asarray(2 * np.einsum("ij,ij->i", wrong, part.astype(np.float32)), np.float64)


def _total(weight: NDArray[np.float32], part: NDArray[np.int8]) -> float:
    return float(np.einsum("ij,ij->i", weight, part.astype(np.float32)).sum(dtype=np.float64))
