"""Signs of spins: configurations that satisfy every term, and flips that leave all terms as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from thermorbm.hamiltonians.cells import Grid
from thermorbm.hamiltonians.terms import Terms

Spins = NDArray[np.int8]


def satisfying_spins(terms: Sequence[Terms], field: NDArray[np.float64], grid: Grid | None) -> Spins | None:
    """(n_sites,) of +-1 with J prod s >= 0 in every term and h s >= 0 at every site, or None.

    With pairs alone the answer is certain. For longer products all up, all down and sublattices are tried.
    """
    if all(part.order == 2 for part in terms):
        found = satisfying_pairs(terms, len(field))
        candidates = [] if found is None else _aligned(found, terms, field)
    else:
        up = np.ones(len(field), np.int8)
        candidates = [sign * rows for rows in (up, *_patterns(len(field), grid)) for sign in (up, -up)]
    return next((spins for spins in candidates if _satisfies(spins, terms, field)), None)


def satisfying_pairs(terms: Sequence[Terms], n_sites: int) -> Spins | None:
    """Spins that satisfy all pairs, the first of each connected part up, by a walk along bonds; or None."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    pairs = [part for part in terms if part.order == 2]
    if not pairs:
        return np.ones(n_sites, np.int8)
    sites = np.concatenate([part.sites for part in pairs])
    couplings = np.concatenate([part.couplings for part in pairs])
    # Two copies of each site, up and down: a bond joins copies that satisfy it together.
    twin = np.where(couplings > 0, 0, n_sites)
    first = np.concatenate([sites[:, 0], sites[:, 0] + n_sites])
    second = np.concatenate([sites[:, 1] + twin, sites[:, 1] + n_sites - twin])
    graph = csr_array((np.ones(len(first)), (first, second)), shape=(2 * n_sites, 2 * n_sites))
    _, label = connected_components(graph, directed=False)
    up, down = label[:n_sites], label[n_sites:]
    if (up == down).any():
        return None
    # Of the two labels of a part the lower one is that of its first site, up.
    return np.where(up < down, 1, -1).astype(np.int8)


def _aligned(spins: Spins, terms: Sequence[Terms], field: NDArray[np.float64]) -> list[Spins]:
    """The same with each connected part turned along the field in it."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if not field.any():
        return [spins]
    sites = np.concatenate([part.sites for part in terms]) if terms else np.empty((0, 2), np.int64)
    graph = csr_array((np.ones(len(sites)), (sites[:, 0], sites[:, 1])), shape=(len(spins), len(spins)))
    _, part = connected_components(graph, directed=False)
    pull = np.bincount(part, weights=field * spins)
    return [np.where(pull[part] < 0, -spins, spins).astype(np.int8)]


def _satisfies(spins: Spins, terms: Sequence[Terms], field: NDArray[np.float64]) -> bool:
    row = spins[None].astype(np.float64)
    pairs = all(bool((part.products(row) >= 0).all()) for part in terms)
    return pairs and bool((field * spins >= 0).all())


def flip_symmetries(terms: Sequence[Terms], field: NDArray[np.float64], grid: Grid | None) -> Spins:
    """(n, n_sites) of +-1: those of the patterns whose flip changes neither a term nor the field."""
    n_sites = len(field)
    candidates = [-np.ones(n_sites, np.int8), *_patterns(n_sites, grid)]
    kept = [flip for flip in candidates if _leaves(flip, terms, field)]
    for axis in range(len(grid.shape) if grid else 0):
        # Where one plane is none, no plane is: the others need not be looked at.
        planes = _planes(grid, axis)
        kept += takewhile(lambda flip: _leaves(flip, terms, field), planes)
    return np.array(kept, dtype=np.int8).reshape(-1, n_sites)


def _leaves(flip: Spins, terms: Sequence[Terms], field: NDArray[np.float64]) -> bool:
    row = flip[None].astype(np.float64)
    same = all(bool((part.products(row)[0] == part.couplings).all()) for part in terms)
    return same and not field[flip < 0].any()


def _patterns(n_sites: int, grid: Grid | None) -> Iterator[Spins]:
    """Flips of one of two sublattices, and of two of three: by the sum of a cell's coordinates."""
    if grid is None:
        return
    total = np.repeat(np.indices(grid.shape).sum(axis=0).ravel(), grid.n_cell)
    yield np.where(total % 2, -1, 1).astype(np.int8)
    for kept in (0, 1):
        yield np.where(total % 3 == kept, 1, -1).astype(np.int8)
    if grid.n_cell > 1:
        for site in range(grid.n_cell - 1):
            yield np.where(np.arange(n_sites) % grid.n_cell == site, -1, 1).astype(np.int8)


def _planes(grid: Grid | None, axis: int) -> Iterator[Spins]:
    """Flips of all cells with one coordinate, for every coordinate but the last (that is a product)."""
    if grid is None:
        return
    place = np.repeat(np.indices(grid.shape)[axis].ravel(), grid.n_cell)
    for coordinate in range(grid.shape[axis] - 1):
        yield np.where(place == coordinate, -1, 1).astype(np.int8)
