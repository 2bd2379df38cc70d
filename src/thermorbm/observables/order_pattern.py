"""The pattern whose overlap is the order parameter: all up, or what Hamiltonian or data say instead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset

_MOST_ROWS = 1024
# Of the variance of all spins: a component that holds less is no order. Of few spins every one holds much.
_LEAST_SHARE, _LEAST_SPINS = 0.1, 4


def order_pattern(data: Dataset) -> NDArray[np.int8]:
    """(n_sites,) of +-1, the first one up.

    The ground state where the Hamiltonian has one that satisfies every term: all up for a ferromagnet, the
    sublattices of an antiferromagnet. Else the signs of the leading principal component of the data, if it
    holds a tenth of their variance; all up if it does not.
    """
    H = data.hamiltonian
    if H is not None and H.plain is not None and H.plain[1] > 0:
        return np.ones(data.n_sites, np.int8)
    pattern = H.ground_state if H is not None else None
    if pattern is None:
        pattern = _leading(data)
    return np.asarray(pattern * pattern[0], np.int8)


def _leading(data: Dataset) -> NDArray[np.int8]:
    chosen = np.linspace(0, len(data) - 1, min(len(data), _MOST_ROWS)).astype(np.int64)
    rows = data.select(chosen).spins().astype(np.float64)
    values, vectors = np.linalg.eigh(rows @ rows.T / len(rows))
    if values[-1] < max(_LEAST_SHARE * data.n_sites, _LEAST_SPINS):
        return np.ones(data.n_sites, np.int8)
    return np.where(rows.T @ vectors[:, -1] < 0, -1, 1).astype(np.int8)
