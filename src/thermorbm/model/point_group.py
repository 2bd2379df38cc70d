"""Turns and reflections of a window: 8 in a square, 48 in a cube."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray


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
