"""The Hamiltonian that a symmetric machine has learned: its visible energy as a sum over products of spins.

Each hidden unit contributes -ln 2cosh(c + w.s), a function of the spins s in its window. Every function of n
spins is a sum of 2^n products of them, and a Walsh-Hadamard transform gives all coefficients exactly.
Products that differ by a shift belong together, because the filters are the same at every site:

    visible energy = -N constant - sum over products g and sites i of coupling_g prod_{r in g} s_{i + r}.

For a machine that is the Ising model at T, the couplings of neighbours are 1/T and all others vanish. What is
found for data is the inverse Ising problem's answer.

Errors come from the machine's own training data. Parameters at the maximum of the likelihood scatter, over
datasets, by the inverse of the Fisher information: n times the covariance over configurations of -dE/dtheta.
What this means for couplings follows from their slopes by the parameters. Directions that change no coupling,
as the two weights of a filter of two sites at fixed product, drop out. The noise of a machine's own chains
comes on top.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.inverse_ising import FIELD, InferredCouplings, Label
from thermorbm.model import SymmetricRBM
from thermorbm.model.windows import Offset, Product, products_of, window_products, window_states
from thermorbm.stats import Estimate

MOST_SPINS = 16  # of a window: 2^16 states
LARGEST_PRODUCT = 4
Floats = NDArray[np.float64]
_SMALLEST = 1e-10  # of the eigenvalues of the scaled covariance, over the largest: less is rounding


@dataclass(frozen=True)
class Interactions:
    """The learned Hamiltonian over k_B T. shape: sides of the lattice.

    couplings: by the places of the spins that are multiplied, sorted, the first at 0; that of one spin is the
    field. constant: the energy per cell that belongs to no spin, with the sign of a coupling. n_cell: sites
    of a cell; where there are several, a place is (*cell, site) and `pairs` and `nearest` have no meaning.
    """

    shape: tuple[int, ...]
    couplings: dict[Product, float]
    constant: float
    n_cell: int = 1

    def of_order(self, n_spins: int) -> dict[Product, float]:
        """Products of that many spins."""
        return {product: value for product, value in self.couplings.items() if len(product) == n_spins}

    @property
    def pairs(self) -> dict[Offset, float]:
        """J(r) by the displacement r, the shorter way round, averaged over what differs by axes and signs."""
        if self.n_cell > 1:
            raise InputError("pairs", f"cells of {self.n_cell} sites", "cells of one site", "use `vectors`")
        groups: dict[Offset, list[float]] = {}
        for (_, second), value in self.of_order(2).items():
            steps = (min(r, side - r) for r, side in zip(second, self.shape, strict=True))
            groups.setdefault(tuple(sorted(steps)), []).append(value)
        ordered = sorted(groups.items(), key=lambda item: (sum(r * r for r in item[0]), item[0]))
        return {r: float(np.mean(values)) for r, values in ordered}

    @property
    def vectors(self) -> dict[Label, float]:
        """J(r) for every displacement r, the shorter way round, of which r and -r are one; not averaged.

        Where cells have several sites, by (site, site, displacement in cells), as of `infer_couplings`.
        """
        couplings = {self.label(*product): value for product, value in self.of_order(2).items()}
        return dict(sorted(couplings.items(), key=lambda item: (_length(item[0]), item[0])))

    def label(self, first: Offset, second: Offset) -> Label:
        """The label of a bond; of its two ways the one that goes up."""
        d = len(self.shape)
        places = zip(first, second, self.shape, strict=False)
        steps = tuple((b - a) % side for a, b, side in places)
        way = tuple(r - side if 2 * r > side else r for r, side in zip(steps, self.shape, strict=True))
        back = tuple(-r for r in way)
        if self.n_cell == 1:
            return max(way, back)
        there, here = (first[d], second[d], way), (second[d], first[d], back)
        return max(there, here, key=lambda label: (label[2], -label[0]))

    @property
    def field(self) -> float:
        """The coupling of single spins, h over k_B T, the mean over the sites of a cell."""
        return float(np.mean(list(self.of_order(1).values())))

    @property
    def nearest(self) -> float:
        """The coupling of neighbours, averaged over axes: 1/T of the Ising model."""
        step = (*[0] * (len(self.shape) - 1), 1)
        if step not in self.pairs:
            raise InputError("window", "one site", "two or more sites wide for a coupling of neighbours")
        return self.pairs[step]


def interactions(machine: SymmetricRBM) -> Interactions:
    """All products of up to four spins, exactly. Windows of at most 16 sites."""
    if not isinstance(machine, SymmetricRBM):
        raise InputError("machine", type(machine).__name__, "a symmetric machine")
    origin, bias = (0,) * len(machine.shape), float(machine.visible_bias)
    places = [origin] if machine.n_cell == 1 else [(*origin, site) for site in range(machine.n_cell)]
    couplings: dict[Product, float] = {(place,): bias for place in places}
    constant = 0.0
    for elements, coefficients in _expansions(machine):
        constant += float(coefficients[0])
        products = products_of(elements, machine.shape, LARGEST_PRODUCT)
        for number, product in products.items():
            couplings[product] = couplings.get(product, 0.0) + float(coefficients[number])
    return Interactions(machine.shape, couplings, constant, machine.n_cell)


def temperature_estimate(machines: Sequence[SymmetricRBM]) -> Estimate:
    """T = 1 / J of neighbours, the mean over machines of several seeds and its error, nan for one."""
    return _mean([1 / interactions(machine).nearest for machine in machines])


def pair_estimates(machines: Sequence[SymmetricRBM]) -> dict[Offset, Estimate]:
    """J(r) over machines of several seeds, with the error of their mean, nan for one."""
    several = [interactions(machine).pairs for machine in machines]
    return {r: _mean([pairs[r] for pairs in several]) for r in several[0]}


def hamiltonian_energy(machine: SymmetricRBM, v: ArrayLike) -> NDArray[np.float64]:
    """H of configurations in units of the coupling of neighbours, from the machine alone. -> (n,)."""
    learned = interactions(machine)
    return (machine.visible_energy(v) + machine.n_visible * learned.constant) / learned.nearest


def _expansions(machine: SymmetricRBM) -> Iterator[tuple[list[Offset], NDArray[np.float64]]]:
    """Places of spins, and (2^n,) the coefficient of the product of those whose bits are set.

    Filters that see the same places are summed up first; a filter of a large window may see few of them.
    """
    filters = machine.filters.reshape(machine.n_filters, -1).astype(np.float64)
    elements = list(np.ndindex(machine.filters.shape[1:]))
    whole = filters.shape[1] <= MOST_SPINS
    seen = np.ones_like(filters, dtype=np.bool_) if whole else filters != 0
    for support in np.unique(seen, axis=0)[::-1]:
        if support.sum() > MOST_SPINS:
            wanted = f"of at most {MOST_SPINS} sites"
            raise InputError("window", machine.window, wanted, "train a smaller kernel")
        alike = (seen == support).all(axis=1)
        states, weights = window_states(int(support.sum())), filters[alike][:, support]
        inputs = states @ weights.T + machine.hidden_bias[alike].astype(np.float64)
        energies = np.logaddexp(inputs, -inputs).sum(axis=1)
        yield [elements[k] for k in np.flatnonzero(support)], _walsh_hadamard(energies) / len(states)


def _length(label: Label) -> int:
    offset = label[2] if isinstance(label[-1], tuple) else label
    return int(sum(step * step for step in offset))


def _walsh_hadamard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """sum_s values[s] (-1)^(bits that s and S have in common), for every S."""
    half = 1
    while half < len(values):
        pairs = values.reshape(-1, 2, half)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return values


def _mean(values: Sequence[float]) -> Estimate:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Estimate(float(np.mean(values)), float(error))


def coupling_estimates(machine: SymmetricRBM, data: Dataset | None = None) -> InferredCouplings:
    """Field and couplings over k_B T with their covariance. data: what the machine was trained on.

    A machine of few couplings, as in a field, has the errors of its training with it; others need `data`, and
    give pairs by their displacement.
    """
    recorded = machine.provenance.get("couplings")
    if recorded is not None:
        labels = tuple(_tupled(label) for label in recorded["labels"])
        return InferredCouplings(labels, np.array(recorded["values"]), np.array(recorded["covariance"]))
    if data is None:
        raise InputError("data", None, "the configurations that the machine was trained on")
    return _by_fisher(machine, data)


def _tupled(label: Any) -> Any:
    return tuple(_tupled(part) for part in label) if isinstance(label, list) else label


def _by_fisher(machine: SymmetricRBM, data: Dataset) -> InferredCouplings:
    if machine.n_cell > 1 or int(np.prod(machine.window)) > MOST_SPINS:
        raise InputError("machine", machine, f"one whose window has at most {MOST_SPINS} sites")
    learned = interactions(machine)
    labels: tuple[Label, ...] = (FIELD, *learned.vectors)
    values = np.array([learned.field, *learned.vectors.values()])
    moving = np.append(machine.filters.ravel() != 0, [bool(machine.visible_bias != 0)])
    slopes = _slopes(machine, learned, labels)[:, moving]
    covariance = np.cov(_statistics(machine, data)[:, moving], rowvar=False).reshape(slopes.shape[1], -1)
    return InferredCouplings(labels, values, slopes @ _inverse(covariance) @ slopes.T / len(data))


def _statistics(machine: SymmetricRBM, data: Dataset) -> Floats:
    """-dE/dtheta of each configuration: filters, then the visible bias. -> (n, n_weights + 1)."""
    rows = []
    for block in data.blocks():
        v = block.astype(machine.dtype)
        sums = machine.filter_statistics(v, np.tanh(machine.hidden_inputs(v))).reshape(len(v), -1)
        rows.append(np.hstack([sums, v.sum(axis=1, dtype=np.float64)[:, None]]))
    return np.concatenate(rows)


def _slopes(machine: SymmetricRBM, learned: Interactions, labels: tuple[Label, ...]) -> Floats:
    """Of the field and of pairs by filters and visible bias. -> (k, n_weights + 1)."""
    filters = machine.filters.reshape(machine.n_filters, -1).astype(np.float64)
    states = window_states(filters.shape[1])
    means = np.tanh(states @ filters.T + machine.hidden_bias.astype(np.float64))
    own = (means[:, :, None] * states[:, None, :]).reshape(len(states), -1)
    slopes, rows = np.zeros((len(labels), own.shape[1] + 1)), {label: k for k, label in enumerate(labels)}
    slopes[0, -1] = 1.0
    for number, product in window_products(machine.window, machine.shape, 2).items():
        signs = 1.0 - 2.0 * (np.bitwise_count(np.arange(len(states)) & number) & 1)
        row = 0 if len(product) == 1 else rows[learned.label(*product)]
        slopes[row, :-1] += signs @ own / len(states)
    return slopes


def _inverse(covariance: Floats) -> Floats:
    """Pseudo-inverse, in units in which every parameter scatters alike."""
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0] = 1.0
    scaled = covariance / np.outer(scale, scale)
    return np.asarray(np.linalg.pinv(scaled, rcond=_SMALLEST, hermitian=True) / np.outer(scale, scale))
