"""Products of spins with their couplings, and what flipping single spins does to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError

MOST_SPINS_IN_A_PRODUCT = 4
LARGEST = 1e9  # of couplings and fields: energies of all lattices fit into 64 bits
FINITE = f"a finite number, at most {LARGEST:g}"


@dataclass(frozen=True, eq=False)
class Terms:
    """Products of `order` different spins each: -sum_t couplings_t prod_k s[sites_tk].

    sites: (n_terms, order) int64. couplings: (n_terms,) float64, finite. Both are read-only.
    """

    sites: NDArray[np.int64]
    couplings: NDArray[np.float64]

    def __post_init__(self) -> None:
        self.sites.flags.writeable = False
        self.couplings.flags.writeable = False

    def __len__(self) -> int:
        return len(self.couplings)

    @property
    def order(self) -> int:
        return int(self.sites.shape[1])

    @cached_property
    def _membership(self) -> Any:
        """(n_terms, n_sites) sparse: 1 where a site belongs to a term."""
        from scipy.sparse import csr_array  # a tenth of a second that few need

        rows = np.repeat(np.arange(len(self)), self.order)
        n_sites = int(self.sites.max(initial=-1)) + 1
        ones = np.ones(self.sites.size)
        return csr_array((ones, (rows, self.sites.ravel())), shape=(len(self), n_sites))

    def products(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """(n, n_sites) of +-1 -> (n, n_terms): the coupling times the product of spins of each term."""
        product = v[:, self.sites[:, 0]] * self.couplings
        for column in self.sites.T[1:]:
            product *= v[:, column]
        return np.asarray(product)

    def add_local(self, v: NDArray[Any], sums: NDArray[np.float64]) -> None:
        """Adds to sums (n, n_sites) the sum over the terms of each site of coupling times product."""
        local = self.products(v) @ self._membership
        sums[:, : local.shape[1]] += local


def are_finite(values: ArrayLike) -> bool:
    """Whether all couplings or fields are numbers whose sums and quotients stay finite, too."""
    return bool(np.all(np.abs(values) <= LARGEST))


def checked_terms(order: int, sites: ArrayLike, couplings: ArrayLike, n_sites: int) -> Terms:
    """Terms of sites (n, order) with finite couplings (n,), or InputError that says which one is wrong."""
    if not 2 <= order <= MOST_SPINS_IN_A_PRODUCT:
        raise InputError("order", order, f"a product of 2 to {MOST_SPINS_IN_A_PRODUCT} spins")
    places = np.asarray(sites).reshape(-1, order)
    values = np.array(couplings, dtype=np.float64).reshape(-1)
    if places.size and places.dtype.kind not in "iu":
        raise InputError("bond", places[0].tolist(), "site numbers, whole numbers from 0 up")
    outside = (places < 0) | (places >= n_sites)
    if outside.any():
        bad = places[outside.any(axis=1)][0].tolist()
        raise InputError("bond", bad, f"between sites 0 to {n_sites - 1}", "leave it out or add sites")
    repeated = _repeats(places)
    if repeated.any():
        raise InputError("bond", places[repeated][0].tolist(), "of different sites")
    if not are_finite(values):
        raise InputError("coupling", values[~(np.abs(values) <= LARGEST)][0].item(), FINITE)
    return Terms(places.astype(np.int64), values)


def _repeats(sites: NDArray[Any]) -> NDArray[np.bool_]:
    ordered = np.sort(sites, axis=1)
    return np.asarray((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))


def merged(parts: Iterable[Terms]) -> tuple[Terms, ...]:
    """One entry per order, ascending; terms without a coupling are left out."""
    by_order: dict[int, list[Terms]] = {}
    for part in parts:
        by_order.setdefault(part.order, []).append(part)
    joined = [_joined(by_order[order]) for order in sorted(by_order)]
    return tuple(terms for terms in joined if len(terms))


def _joined(parts: Sequence[Terms]) -> Terms:
    sites = np.concatenate([part.sites for part in parts])
    couplings = np.concatenate([part.couplings for part in parts])
    kept = couplings != 0
    return Terms(sites[kept], couplings[kept])
