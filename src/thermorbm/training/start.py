"""Where machines start.

Trained on ordered data of both signs from random weights, all hidden units take up the order: their inputs
are then N m atanh(m) / n_h, 14 at T = 2 on 64 x 64 with 400 units, tanh is flat there, and no gradient is
left for anything else. So one hidden unit carries the order from the start, W_0j = atanh(mu_j), or several
do where its strength differs from configuration to configuration (see training.carriers), and the other
filters see what differs from it.

How a filter w sees excitations: in the pattern its input is x_0 = sum_j w_j mu_j, and each spin of its bump
that is turned takes 2 w off. With x_0 = 0 a pair of turned spins is at most twice as likely as two single
ones, however large w is: ln cosh 4w - 2 ln cosh 2w <= ln 2. With x_0 of about 2 w, as in the two-spin unit
that is an Ising bond, there is no such limit. The field of the carriers makes up for what all others add to
a single turned spin, so that the machine starts with as many of them as the data have.

A symmetric machine starts at the pair model that the pseudo-likelihood of the data prefers. A hidden unit
with weights w on one spin and +-w on another adds ln 2cosh(w (s +- s')), a coupling of size
J = ln cosh(2 w) / 2 between them. The strongest couplings get one filter each, and the field is the visible
bias: the likelihood is left to refine a Hamiltonian of pairs that took no chains.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.inverse_ising import InferredCouplings, infer_couplings, is_magnetized
from thermorbm.stats import Estimate
from thermorbm.training.carriers import carriers
from thermorbm.training.order import Order

Arrays = dict[str, NDArray[np.float32]]
# Height of a bump, its width over the distance to the next one, and the noise on it over Glorot's.
_HEIGHT, _WIDTH, _NOISE = 0.9, 0.47, 0.27
# Input of a bump in the pattern of perfect order, over its height.
_BACKGROUND = 2.0
_LEAST_WIDTH = 0.5  # sites
# Spins that a bump sees at least, times the square of the order: narrower ones do not see that turned spins
# are neighbours, which is all there is to learn in the cold (64 x 64, T = 1.5, 2500 units, a bump of 2 spins:
# a share of 0.39). In the heat couplings are weaker, and wide bumps overshoot.
_LEAST_SPINS = 5.0
# Spins that the couplings of the start are inferred from, at most; the likelihood sees all.
_MOST_SPINS = 1 << 21
# In standard errors: weaker couplings are left to the likelihood.
_SIGNIFICANT = 4.0
_LARGEST = 2.0  # couplings of cold data are not known, and larger ones would only freeze the chains
# Cells: a start is given to a few couplings, and those of a large window are many and slow to infer.
_FARTHEST = 2
_FILTER_NOISE = 0.1  # of the random filters of `small_filters`, so that no two filters stay alike


def glorot_normal(n_hidden: int, n_visible: int, seed: SeedSequence) -> Arrays:
    """W of variance 2 / (n_hidden + n_visible), b = c = 0 (Glorot & Bengio 2010), float32."""
    scale = np.sqrt(2 / (n_hidden + n_visible))
    return _dense(default_rng(seed).normal(0, scale, (n_hidden, n_visible)))


def ordered_units(n_hidden: int, order: Order, shape: tuple[int, ...] | None, seed: SeedSequence) -> Arrays:
    """The first hidden units carry the patterns of the order, the others see what differs.

    b = 0, and so is c but where several units carry the first pattern.

    shape: of the lattice; without one the other units start at Glorot's weights instead of bumps.
    """
    n_others, n_visible = max(0, n_hidden - order.n_carriers), order.strengths.shape[1]
    if shape is None:
        others = glorot_normal(n_others, n_visible, seed)["W"].astype(np.float64)
        background = np.zeros(n_others)
    else:
        # A bump of one sign adds up nothing where neighbours oppose each other.
        others = local_bumps(n_others, shape, seed, _LEAST_SPINS * (1 - order.spread)) * order.gauge
        # Of the sign that a bump has in the pattern, which may be all down: turned spins are to weaken it.
        background = _BACKGROUND * _HEIGHT * np.sign(others @ order.strengths[0])
    directions = order.directions.astype(np.float64)
    others -= (others @ directions.T) @ directions
    others += np.outer(background, order.strengths[0]) / n_visible
    first, c = carriers(order.strengths[0], order.amplitudes, others)
    arrays = _dense(np.concatenate([first, np.arctanh(order.strengths[1:]), others])[:n_hidden])
    arrays["c"][: len(c)] = c[:n_hidden]
    return arrays


def local_bumps(
    n_hidden: int, shape: tuple[int, ...], seed: SeedSequence, least_spins: float = 0.0
) -> NDArray[np.float64]:
    """W of units that each see the spins around a site of a periodic lattice, with a random sign.

    Glorot's weights have first to find out which spins are near each other. least_spins: as many of the
    weights of a bump, over its height, add up to at least. -> (n_hidden, n_visible).
    """
    generator, n_visible = default_rng(seed), int(np.prod(shape))
    noise = _NOISE * np.sqrt(2 / (n_hidden + n_visible))
    spacing = (n_visible / max(1, n_hidden)) ** (1 / len(shape))
    width = max(_LEAST_WIDTH, _WIDTH * spacing, least_spins ** (1 / len(shape)) / math.sqrt(2 * math.pi))
    squares = np.zeros((n_hidden, *shape))
    for axis, (side, centres) in enumerate(zip(shape, spread_points(n_hidden, len(shape)).T, strict=True)):
        away = (np.arange(side) - side * centres[:, None] + side / 2) % side - side / 2
        squares += np.expand_dims(away**2, [1 + a for a in range(len(shape)) if a != axis])
    signs = generator.choice([-1.0, 1.0], n_hidden)[:, None]
    bumps = _HEIGHT * signs * np.exp(-squares.reshape(n_hidden, n_visible) / (2 * width**2))
    return np.asarray(bumps + generator.normal(0, noise, bumps.shape))


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


def pair_start(data: Dataset, n_filters: int, window: tuple[int, ...], seed: SeedSequence) -> Arrays:
    """Filters, visible and hidden biases of a machine with one coupling per filter, float32."""
    arrays = small_filters(n_filters, 1, window, seed)
    couplings = _inferred(data, window, seed)
    if couplings is None:
        return arrays
    strongest = sorted(_significant(couplings).items(), key=lambda item: -abs(item[1].value))
    if not strongest:
        return arrays
    filters = _FILTER_NOISE * arrays["filters"]
    for filter_, (offset, coupling) in zip(filters, strongest, strict=False):
        filter_ += _two_taps(window, offset, coupling.value)
    bias = couplings.field.value if is_magnetized(data) else 0.0
    return {**arrays, "filters": filters.astype(np.float32), "visible_bias": np.array(bias, np.float32)}


def _inferred(data: Dataset, window: tuple[int, ...], seed: SeedSequence) -> InferredCouplings | None:
    """Couplings as far as the window reaches, two cells at most; None where the lattice is too small."""
    assert data.lattice is not None  # no design is made without one
    reach = min(max(window) - 1, (min(data.lattice.shape) - 1) // 2, _FARTHEST)
    if reach < 1:
        return None
    most = max(16, _MOST_SPINS // data.n_sites)
    if len(data) > most:
        rows = default_rng(seed).choice(len(data), most, replace=False)
        data = data.select(np.sort(rows))
    return infer_couplings(data, reach)


def _significant(found: InferredCouplings) -> dict[tuple[int, ...], Estimate]:
    return {
        label: estimate
        for label, estimate in found.couplings.items()
        if abs(estimate.value) > _SIGNIFICANT * estimate.error
    }


def _two_taps(window: tuple[int, ...], offset: tuple[int, ...], coupling: float) -> NDArray[np.float64]:
    """A filter of two weights, `offset` apart and as near to the middle of the window as they fit."""
    size = min(abs(coupling), _LARGEST)
    weight = math.acosh(math.exp(2 * size)) / 2
    first = tuple(
        (width - 1 - abs(step)) // 2 + max(0, -step) for width, step in zip(window, offset, strict=True)
    )
    second = tuple(place + step for place, step in zip(first, offset, strict=True))
    taps = np.zeros(window)
    taps[first], taps[second] = weight, math.copysign(weight, coupling)
    return taps
