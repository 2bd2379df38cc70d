"""Slow single-spin heat bath for any couplings on a periodic lattice, one site after the other.

Couplings by product: the places of its spins, the first at 0, for example ((0, 0), (0, 1)) for neighbours.
"""

import math

import numpy as np


def _moved(spins, r):
    return np.roll(spins, [-x for x in r], tuple(range(1, spins.ndim)))


def energy_over_t(spins, couplings):
    """-sum over products g and sites i of K(g) prod_{r in g} s_{i+r}, for grids (n, *shape)."""
    total = np.zeros(len(spins))
    for product, k in couplings.items():
        factors = [_moved(spins, r) for r in product]
        total -= k * np.prod(factors, axis=0).reshape(len(spins), -1).sum(axis=1)
    return total


def heat_bath(shape, couplings, n_chains, n_sweeps, seed):
    """(n_chains, *shape) after n_sweeps sweeps from random spins; all chains of one site move at once."""
    rng = np.random.default_rng(seed)
    spins = rng.choice([-1, 1], (n_chains, *shape)).astype(np.int8)
    for _ in range(n_sweeps):
        for site in np.ndindex(shape):
            up = rng.random(n_chains) < 1 / (1 + np.exp(-2 * _field(spins, site, couplings)))
            spins[(slice(None), *site)] = np.where(up, 1, -1)
    return spins


def _field(spins, site, couplings):
    """What the spin at a site is multiplied by in -E/T, (n_chains,): it may be any one of a product."""
    field = np.zeros(len(spins))
    for product, k in couplings.items():
        for own in product:
            term = np.full(len(spins), k)
            for other in product:
                if other != own:
                    there = [
                        (x + r - o) % n for x, r, o, n in zip(site, other, own, spins.shape[1:], strict=True)
                    ]
                    term *= spins[(slice(None), *there)]
            field += term
    return field


def exact_average(shape, couplings, product):
    """<prod_{r in product} s_{i+r}> by summing over all states."""
    n = math.prod(shape)
    states = 1 - 2 * (np.arange(1 << n)[:, None] >> np.arange(n) & 1)
    grids = states.reshape(-1, *shape)
    weights = np.exp(-energy_over_t(grids, couplings))
    factors = [_moved(grids, r) for r in product]
    products = np.prod(factors, axis=0).reshape(len(grids), -1).mean(axis=1)
    return float(products @ weights / weights.sum())
