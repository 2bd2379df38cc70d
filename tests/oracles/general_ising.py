"""Slow single-spin heat bath for any pair couplings on a periodic lattice, one site after the other."""

import math

import numpy as np


def energy_over_t(spins, couplings):
    """-sum over displacements r and sites i of K(r) s_i s_{i+r}, for grids (n, *shape)."""
    axes = tuple(range(1, spins.ndim))
    total = np.zeros(len(spins))
    for r, k in couplings.items():
        moved = np.roll(spins, [-x for x in r], axes)
        total -= k * (spins * moved).reshape(len(spins), -1).sum(axis=1)
    return total


def heat_bath(shape, couplings, n_chains, n_sweeps, seed):
    """(n_chains, *shape) after n_sweeps sweeps from random spins; all chains of one site move at once."""
    rng = np.random.default_rng(seed)
    spins = rng.choice([-1, 1], (n_chains, *shape)).astype(np.int8)
    steps = [tuple(sign * x for x in r) for r in couplings for sign in (1, -1)]
    strength = [k for k in couplings.values() for _ in (1, -1)]
    for _ in range(n_sweeps):
        for site in np.ndindex(shape):
            field = np.zeros(n_chains)
            for step, k in zip(steps, strength, strict=True):
                there = tuple((x + s) % side for x, s, side in zip(site, step, shape, strict=True))
                field += k * spins[(slice(None), *there)]
            up = rng.random(n_chains) < 1 / (1 + np.exp(-2 * field))
            spins[(slice(None), *site)] = np.where(up, 1, -1)
    return spins


def exact_pair_average(shape, couplings, r):
    """<s_i s_{i+r}> by summing over all states."""
    n = math.prod(shape)
    states = 1 - 2 * (np.arange(1 << n)[:, None] >> np.arange(n) & 1)
    grids = states.reshape(-1, *shape)
    weights = np.exp(-energy_over_t(grids, couplings))
    moved = np.roll(grids, [-x for x in r], tuple(range(1, grids.ndim)))
    products = (grids * moved).reshape(len(grids), -1).mean(axis=1)
    return float(products @ weights / weights.sum())
