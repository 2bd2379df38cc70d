"""Windows of a lattice: their turns and reflections, and the products of their spins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

Offset = tuple[int, ...]
Product = tuple[Offset, ...]


def window_images(side: int, dimension: int) -> NDArray[np.intp]:
    """(2^dimension dimension!, side^dimension): the element that each element of an image comes from.

    The first image is the window itself.
    """
    window = np.arange(side**dimension).reshape((side,) * dimension)
    axes, steps = permutations(range(dimension)), (1, -1)
    return np.array(
        [
            window.transpose(order)[tuple(slice(None, None, step) for step in signs)].ravel()
            for order in axes
            for signs in product(steps, repeat=dimension)
        ]
    )


def window_states(n_taps: int) -> NDArray[np.float64]:
    """(2^n_taps, n_taps): all states of a window, spin a of state number s is -1 if bit a of s is set."""
    bits = np.arange(1 << n_taps)[:, None] >> np.arange(n_taps) & 1
    return np.where(bits, -1.0, 1.0)


def window_products(window: Offset, shape: Offset, largest: int) -> dict[int, Product]:
    """Products of 1 to `largest` spins of a window, by the number whose bits are theirs.

    Products that differ by a shift on the periodic lattice are equal.
    """
    return products_of(list(np.ndindex(window)), shape, largest)


def products_of(elements: Sequence[Offset], shape: Offset, largest: int) -> dict[int, Product]:
    """The same of any places; a coordinate beyond those of `shape` says which site of a cell it is."""
    numbers = (n for n in range(1, 1 << len(elements)) if n.bit_count() <= largest)
    return {n: _canonical([e for bit, e in enumerate(elements) if n >> bit & 1], shape) for n in numbers}


def _canonical(places: Sequence[Offset], shape: Offset) -> Product:
    """Of all shifts of one spin to 0 the first in order."""
    d = len(shape)
    shifted = (
        sorted(
            (*((x - o) % side for x, o, side in zip(place, origin, shape, strict=False)), *place[d:])
            for place in places
        )
        for origin in places
    )
    return tuple(min(shifted))
