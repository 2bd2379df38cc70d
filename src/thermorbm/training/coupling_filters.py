"""Filters that are a Hamiltonian: each product of spins becomes hidden units that add nothing else.

Two spins: weights w and +-w add ln 2cosh(w (s +- s')), a coupling of size J = ln cosh(2 w) / 2.

Four spins: the four units with weights w times signs whose product is -1, one for each pair of opposite sign
patterns, add a function that no flip of two spins changes: the product of all four and a constant. Its size
is J = (4 ln cosh(2 w) - ln cosh(4 w)) / 2. Signs whose product is 1 make it negative. Three spins are four of
which one is always up: its weight is the hidden bias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product as all_of

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from thermorbm.hamiltonians.cells import Offset, Product
from thermorbm.training.start import Arrays

_STRONGEST = 40.0  # nats: weights of stronger couplings have no float32


def n_filters_of(products: Sequence[Product]) -> int:
    """Filters that these products take."""
    return sum(1 if len(product.points) == 2 else 4 for product in products)


def coupling_filters(products: Sequence[Product], field: float, window: Offset, n_filters: int) -> Arrays:
    """Filters (n_filters, *window), the last of them 0 where there are more than the products take.

    window: in cells; where cells have several sites with their number as one side more. float32.
    """
    filters, biases = np.zeros((n_filters, *window)), np.zeros(n_filters)
    first = 0
    for product in products:
        weights, own = _units(len(product.points), product.coupling)
        for place, column in zip(_places(product, window), weights.T, strict=True):
            for row, weight in enumerate(column.tolist(), start=first):
                filters[(row, *place)] = weight
        biases[first : first + len(own)], first = own, first + len(own)
    return {
        "filters": filters.astype(np.float32),
        "visible_bias": np.array(field, np.float32),
        "hidden_bias": biases.astype(np.float32),
    }


def _units(order: int, coupling: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights (n_units, order) and hidden biases (n_units,) of a product of two, three or four spins."""
    size, sign = min(abs(coupling), _STRONGEST), math.copysign(1.0, coupling)
    if order == 2:
        weight = math.acosh(math.exp(2 * size)) / 2
        return np.array([[weight, sign * weight]]), np.zeros(1)
    weight = float(brentq(lambda w: _product_size(w) - size, 0.0, 2 * size + 2, xtol=1e-13))
    signs = np.array([(1, a, b, -sign * a * b) for a, b in all_of((1, -1), repeat=2)])
    weights = weight * signs
    return (weights, np.zeros(4)) if order == 4 else (weights[:, :3], weights[:, 3])


def _product_size(weight: float) -> float:
    """J of the product that four units with weights of that size make."""
    return (4 * _log_cosh(2 * weight) - _log_cosh(4 * weight)) / 2


def _log_cosh(x: float) -> float:
    return abs(x) + math.log1p(math.exp(-2 * abs(x))) - math.log(2)


def _places(product: Product, window: Offset) -> list[tuple[int, ...]]:
    """Elements of the window for the spins of a product, as near to its middle as they fit."""
    cells = np.array([offset for _, offset in product.points])
    low, high = cells.min(axis=0), cells.max(axis=0)
    start = (np.array(window[: cells.shape[1]]) - 1 - (high - low)) // 2 - low
    places = [tuple((cell + start).tolist()) for cell in cells]
    if len(window) == cells.shape[1]:
        return places
    return [(*place, site) for place, (site, _) in zip(places, product.points, strict=True)]
