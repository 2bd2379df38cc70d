"""Where machines start."""

from __future__ import annotations

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.float32]]

# Height of a bump, its width over the distance to the next one, and the noise on it over Glorot's.
_HEIGHT, _WIDTH, _NOISE = 0.5, 0.47, 0.15
_LEAST_WIDTH = 0.5  # sites


def glorot_normal(n_hidden: int, n_visible: int, seed: SeedSequence) -> Arrays:
    """W of variance 2 / (n_hidden + n_visible), b = c = 0 (Glorot & Bengio 2010), float32."""
    scale = np.sqrt(2 / (n_hidden + n_visible))
    return _dense(default_rng(seed).normal(0, scale, (n_hidden, n_visible)))


def local_bumps(n_hidden: int, shape: tuple[int, ...], seed: SeedSequence) -> Arrays:
    """Each hidden unit sees the spins around a site of a periodic lattice, with a random sign; b = c = 0.

    Glorot's weights have first to find out which spins are near each other.
    """
    generator, n_visible = default_rng(seed), int(np.prod(shape))
    noise = _NOISE * np.sqrt(2 / (n_hidden + n_visible))
    spacing = (n_visible / n_hidden) ** (1 / len(shape))
    width = max(_LEAST_WIDTH, _WIDTH * spacing)
    squares = np.zeros((n_hidden, *shape))
    for axis, (side, centres) in enumerate(zip(shape, spread_points(n_hidden, len(shape)).T, strict=True)):
        away = (np.arange(side) - side * centres[:, None] + side / 2) % side - side / 2
        squares += np.expand_dims(away**2, [1 + a for a in range(len(shape)) if a != axis])
    signs = generator.choice([-1.0, 1.0], n_hidden)[:, None]
    bumps = _HEIGHT * signs * np.exp(-squares.reshape(n_hidden, -1) / (2 * width**2))
    return _dense(bumps + generator.normal(0, noise, bumps.shape))


def spread_points(n: int, dimension: int) -> NDArray[np.float64]:
    """(n, dimension) in [0, 1): multiples of powers of 1/g, g^(dimension + 1) = g + 1, evenly spread."""
    g = 2.0
    for _ in range(50):
        g = (1 + g) ** (1 / (dimension + 1))
    return np.outer(np.arange(n), g ** -np.arange(1.0, dimension + 1)) % 1


def small_filters(n_filters: int, n_images: int, window: tuple[int, ...], seed: SeedSequence) -> Arrays:
    """Random filters; a hidden unit sees n_taps spins, a spin as many per filter and image (as Glorot)."""
    scale = np.sqrt(2 / (np.prod(window) * (1 + n_filters * n_images)))
    filters = default_rng(seed).normal(0, scale, (n_filters, *window))
    return {
        "filters": filters.astype(np.float32),
        "visible_bias": np.zeros((), np.float32),
        "hidden_bias": np.zeros(n_filters, np.float32),
    }


def _dense(W: NDArray[np.float64]) -> Arrays:
    n_hidden, n_visible = W.shape
    return {
        "W": W.astype(np.float32),
        "b": np.zeros(n_visible, np.float32),
        "c": np.zeros(n_hidden, np.float32),
    }
