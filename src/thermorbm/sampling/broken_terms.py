"""A Hamiltonian as the multispin kernel reads it: which terms a flip concerns, and what it costs.

A term is broken where J times the product of its spins is negative. With spins as bits, 1 for up, that is the
exclusive or of some rows of the state: those of its sites, and a row of ones if J < 0 or the product has an
odd number of spins. A field is a product of one spin. The two constant rows, zeros and ones, follow the
sites.

Terms of a site with the same |J| form a class. The flip of a spin with n_c of its z_c terms of class c broken
costs 2 sum_c |J_c| (z_c - 2 n_c): it is the counts n_c alone that decide, and few combinations of them cost
anything. Sites whose terms fall into classes in the same way are of one kind and share a table of costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from thermorbm.hamiltonians import Hamiltonian
from thermorbm.sampling.metropolis import threshold_bits

# Above it, one comparison per replica is faster than all combinations of counts.
MOST_COMBINATIONS = 40
_MOST_KINDS = 4096

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BrokenTerms:
    """Terms as rows of the state, padded with the row of zeros.

    sizes: (n_classes,), |J| ascending. counted: per class all its terms, (8 m, width), for the energy.
    first: (n_sites + 1,) into others (n_entries, width): the terms of each site, without the site itself, in
    the order of classes. kinds: (n_kinds, n_classes) how many terms of each class, kind: (n_sites,).
    """

    n_sites: int
    sizes: NDArray[np.float64]
    counted: tuple[Index, ...]
    n_terms: Index
    first: Index
    others: Index
    kinds: Index
    kind: Index

    @property
    def most_combinations(self) -> int:
        """Largest number of combinations of counts with a cost, over kinds; infinite where kinds abound."""
        if len(self.kinds) > _MOST_KINDS or np.prod(self.kinds + 1.0, axis=1).max() > 50 * MOST_COMBINATIONS:
            return np.iinfo(np.int64).max
        return max(len(_combinations(counts, self.sizes)[1]) for counts in self.kinds)


def broken_terms(hamiltonian: Hamiltonian) -> BrokenTerms:
    """The terms of a Hamiltonian by class and by site."""
    n_sites = hamiltonian.n_sites
    rows, values = _all_rows(hamiltonian)
    sizes, label = np.unique(np.abs(values), return_inverse=True)
    term, place = np.nonzero(rows < n_sites)
    site = rows[term, place]
    order = np.lexsort((term, label[term], site))
    term, place, site = term[order], place[order], site[order]
    # The site itself moves to the front, and is dropped.
    own = np.arange(rows.shape[1]) == place[:, None]
    others = rows[term][~own].reshape(len(term), rows.shape[1] - 1)
    counts = np.zeros((n_sites, len(sizes)), np.int64)
    np.add.at(counts, (site, label[term]), 1)
    kinds, kind = np.unique(counts, axis=0, return_inverse=True)
    counted = tuple(_padded(rows[label == c], n_sites) for c in range(len(sizes)))
    return BrokenTerms(
        n_sites,
        sizes,
        counted,
        np.bincount(label, minlength=len(sizes)),
        np.concatenate([[0], np.cumsum(counts.sum(axis=1))]),
        np.ascontiguousarray(_narrowed(others, n_sites)),
        kinds,
        kind.reshape(-1),
    )


def _all_rows(hamiltonian: Hamiltonian) -> tuple[Index, NDArray[np.float64]]:
    """Rows of every term, (n_terms, largest order + 1), and couplings (n_terms,); the field comes last."""
    n_sites, width = hamiltonian.n_sites, hamiltonian.largest_order + 1
    in_field = np.flatnonzero(hamiltonian.field)
    parts = [(terms.sites, terms.couplings) for terms in hamiltonian.terms]
    parts.append((in_field[:, None], hamiltonian.field[in_field]))
    rows, values = [], []
    for sites, couplings in parts:
        padded = np.full((len(sites), width), n_sites, np.int64)
        padded[:, : sites.shape[1]] = sites
        odd = (couplings < 0) ^ (sites.shape[1] % 2 == 1)
        padded[:, -1] = n_sites + odd
        rows.append(padded)
        values.append(couplings)
    return np.concatenate(rows), np.concatenate(values)


def _narrowed(others: Index, n_sites: int) -> Index:
    """Without the column of constants where it says nothing."""
    return others[:, :-1] if others.shape[1] > 1 and (others[:, -1] == n_sites).all() else others


def _padded(rows: Index, n_sites: int) -> Index:
    """Filled up to a multiple of eight with rows of zeros, which count nothing."""
    narrow = _narrowed(rows, n_sites)
    return np.pad(narrow, ((0, -len(rows) % 8), (0, 0)), constant_values=n_sites)


def _combinations(counts: Index, sizes: NDArray[np.float64]) -> tuple[Index, Index, NDArray[np.float64]]:
    """Where to stop counting, (n_used,); counts with a cost, (n, n_used); and the costs, (n,).

    Counting class c stops where the flip costs nothing even if all other terms are satisfied.
    """
    used = np.flatnonzero(counts)
    z, J = counts[used], sizes[used]
    all_satisfied = float(z @ J)
    stops = np.minimum(z, np.ceil(all_satisfied / (2 * J) - 1e-9)).astype(np.int64)
    every = list(product(*(range(stop + 1) for stop in stops)))
    tried = np.array(every, np.int64).reshape(len(every), len(used))
    costs = 2 * (all_satisfied - 2 * (tried * J).sum(axis=1))
    # A class that stops early counts "at least so many": by then nothing costs anything.
    stopped = ((tried == stops) & (stops < z)).any(axis=1)
    paid = (costs > 0) & ~stopped
    return stops, tried[paid], costs[paid]


@dataclass(frozen=True, eq=False)
class CostTable:
    """What the kernel looks up for each kind of site.

    classes: (n_kinds, n_used, 2), terms of each class and where counting stops; 0 terms end the list.
    combinations: (n_kinds, n_combinations, n_used), the scratch rows whose intersection is the combination;
    its own row is first_row[kind] + its number. n_combinations: (n_kinds,). bits, bit_first: the rows whose
    threshold has that bit, at bits[bit_first[kind, bit] : bit_first[kind, bit + 1]].
    """

    classes: Index
    combinations: Index
    first_row: Index
    n_combinations: Index
    bits: Index
    bit_first: Index
    n_rows: int


def cost_table(terms: BrokenTerms, temperature: float) -> CostTable:
    """Thresholds of all kinds of sites at a temperature."""
    by_kind = [_combinations(counts, terms.sizes) for counts in terms.kinds]
    n_used = max(1, max(len(stops) for stops, _, _ in by_kind))
    most = max(1, max(len(costs) for _, _, costs in by_kind))
    n_kinds = len(by_kind)
    classes = np.zeros((n_kinds, n_used, 2), np.int64)
    combinations = np.zeros((n_kinds, most, n_used), np.int64)
    first_row, lists, starts = np.zeros(n_kinds, np.int64), [], np.zeros((n_kinds, 65), np.int64)
    total = 0
    for kind, (stops, tried, costs) in enumerate(by_kind):
        z = terms.kinds[kind][terms.kinds[kind] > 0]
        classes[kind, : len(z)] = np.stack([z, stops], axis=1)
        bases = np.concatenate([[0], np.cumsum(stops + 1)])
        combinations[kind, : len(costs), : len(z)] = tried + bases[:-1]
        # One class alone has its combinations where it counts.
        first_row[kind] = bases[-1] if len(z) > 1 else 0
        bits = threshold_bits(costs.tolist(), temperature)
        for bit in range(64):
            chosen = first_row[kind] + np.flatnonzero(bits[:, bit])
            lists.append(chosen)
            starts[kind, bit] = total
            total += len(chosen)
        starts[kind, 64] = total
    n_combinations = np.array([len(costs) for _, _, costs in by_kind], np.int64)
    n_rows = int((first_row + n_combinations).max() + classes[:, :, 1].sum(axis=1).max() + n_used + 1)
    return CostTable(classes, combinations, first_row, n_combinations, np.concatenate(lists), starts, n_rows)
