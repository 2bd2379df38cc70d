"""The start of a symmetric machine: the pair model that the pseudo-likelihood of the data prefers.

A hidden unit with weights w on one spin and +-w on another adds ln 2cosh(w (s +- s')), a coupling of size
J = ln cosh(2 w) / 2 between them. The strongest couplings that the pseudo-likelihood finds get one filter
each, and the field is the visible bias: the machine starts as a Hamiltonian of pairs at the maximum of its
own pseudo-likelihood, which takes no chains, and the likelihood is left to refine it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.inverse_ising import InferredCouplings, infer_couplings, is_magnetized
from thermorbm.stats import Estimate
from thermorbm.training.start import Arrays, small_filters

# Spins that the couplings of the start are inferred from, at most; the likelihood sees all.
_MOST_SPINS = 1 << 21
# In standard errors: weaker couplings are left to the likelihood.
_SIGNIFICANT = 4.0
_LARGEST = 2.0  # couplings of cold data are not known, and larger ones would only freeze the chains
# Cells: a start is given to a few couplings, and those of a large window are many and slow to infer.
_FARTHEST = 2
_NOISE = 0.1  # of the random filters of `small_filters`, so that no two filters stay alike


def pair_start(data: Dataset, n_filters: int, window: tuple[int, ...], seed: SeedSequence) -> Arrays:
    """Filters, visible and hidden biases of a machine with one coupling per filter, float32."""
    arrays = small_filters(n_filters, 1, window, seed)
    found = _inferred(data, window, seed)
    if found is None:
        return arrays
    strongest = sorted(_significant(found).items(), key=lambda item: -abs(item[1].value))
    if not strongest:
        return arrays
    filters = _NOISE * arrays["filters"]
    for filter_, (offset, coupling) in zip(filters, strongest, strict=False):
        filter_ += _two_taps(window, offset, coupling.value)
    bias = found.field.value if is_magnetized(data) else 0.0
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
