"""What tells an ordered phase from a disordered one: the magnetisation, or what takes its place.

Of the ferromagnet it is m. Where H has another configuration that satisfies every term, such as the two
sublattices of an antiferromagnet, it is the overlap with that; of several, as Baxter-Wu has them, with the
nearest. Where terms compete nothing is known
beforehand, and it is the component of configurations along their leading principal component.

Mere order is the simplest model of a broken symmetry: independent spins of mean +mu or -mu, the sign common
to all of them and random, p(v) = 1/2 prod_j (1 + mu v_j)/2 + 1/2 prod_j (1 - mu v_j)/2. Its entropy exceeds
that of the configurations by what is in their correlations. A machine below a transition that has learnt the
magnetisation and nothing else is as good as this model and no better.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from thermorbm.dataset import Dataset
from thermorbm.hamiltonians import Hamiltonian, order_overlaps

MAGNETIZATION = "magnetisation"
OVERLAP = "overlap with the ground state"
COMPONENT = "leading principal component"
DIRECTION_ROWS = 1024  # configurations from which a direction is found


def order_kind(hamiltonian: Hamiltonian | None) -> str:
    """Which of the three it is; of configurations without a Hamiltonian it is the magnetisation."""
    if hamiltonian is None:
        return MAGNETIZATION
    if hamiltonian.ground_state is None:
        return COMPONENT
    return MAGNETIZATION if abs(int(hamiltonian.ground_state.sum())) == hamiltonian.n_sites else OVERLAP


def order_pattern(data: Dataset) -> NDArray[np.int8] | None:
    """(n_sites,) of +-1, the order that is known beforehand; None where that is uniform, or not known."""
    if data.hamiltonian is None or order_kind(data.hamiltonian) != OVERLAP:
        return None
    return data.hamiltonian.ground_state


def order_parameters(data: Dataset) -> NDArray[np.float64]:
    """The order parameter of every configuration, signed, per spin, between -1 and 1. -> (n,)."""
    kind = order_kind(data.hamiltonian)
    if kind == COMPONENT and len(data) >= 4:
        return _components(data)
    return known_order(data)


def known_order(data: Dataset) -> NDArray[np.float64]:
    """The same where it is known beforehand, the magnetisation elsewhere. -> (n,)."""
    return overlaps(data, None) if data.hamiltonian is None else order_overlaps(data.hamiltonian, data.packed)


def overlaps(data: Dataset, pattern: NDArray[np.int8] | None) -> NDArray[np.float64]:
    """Mean over sites of v times the pattern, of all up where that is None. -> (n,)."""
    packed = data.packed
    if pattern is not None:
        packed = packed ^ np.packbits(pattern < 0, bitorder="little")
    n_up = np.bitwise_count(packed).sum(axis=1, dtype=np.int64)
    return np.asarray((2 * n_up - data.n_sites) / data.n_sites)


def _components(data: Dataset) -> NDArray[np.float64]:
    """Along the leading principal component of the other half of the data: on its own half it would seem
    larger than it is.
    """
    half = len(data) // 2
    first, second = _direction(data[:half]), _direction(data[half:])
    if first @ second < 0:
        second = -second
    parts = ((data[:half], second), (data[half:], first))
    along = np.concatenate([block @ u for part, u in parts for block in part.blocks()])
    return np.asarray(along / np.sqrt(data.n_sites))


def _direction(data: Dataset) -> NDArray[np.float64]:
    """(n_sites,): of unit length, along which configurations vary most; its sum is not negative."""
    from scipy.linalg import eigh

    rows = data.spins(0, DIRECTION_ROWS).astype(np.float64)
    rows -= rows.mean(axis=0)
    last = len(rows) - 1
    weights = eigh(rows @ rows.T, subset_by_index=[last, last])[1][:, 0]
    along = weights @ rows
    along *= np.sign(along.sum()) or 1.0
    length = float(np.linalg.norm(along))
    return np.asarray(along / length if length > 0 else along)


def mere_order(data: Dataset) -> NDArray[np.float64]:
    """-ln p(v) of mere order for each configuration, totals in nats, at the mu that describes all best.

    Where another order than all up is known, such as that of two sublattices, spins count along it. -> (n,).
    Its mean is the least negative log-likelihood of any mu; well below a transition it is N h(<|m|>) + ln 2
    with h the entropy of one spin of that mean.
    """
    n_up = np.rint((overlaps(data, order_pattern(data)) + 1) * data.n_sites / 2).astype(np.int64)
    most = 1 - 1 / (data.n_sites * len(data) + 1)  # where no spin is turned, one of all may have been
    best = minimize_scalar(
        lambda mu: float(_minus_log(n_up, data.n_sites, mu).mean()), bounds=(0.0, most), method="bounded"
    )
    at_ends = min((0.0, float(best.x), most), key=lambda mu: float(_minus_log(n_up, data.n_sites, mu).mean()))
    return _minus_log(n_up, data.n_sites, at_ends)


def _minus_log(n_up: NDArray[np.int64], n_sites: int, mu: float) -> NDArray[np.float64]:
    likely, unlikely = math.log((1 + mu) / 2), math.log((1 - mu) / 2)
    up, down = n_up * likely + (n_sites - n_up) * unlikely, n_up * unlikely + (n_sites - n_up) * likely
    return np.asarray(math.log(2) - np.logaddexp(up, down))
