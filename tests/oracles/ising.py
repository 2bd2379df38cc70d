"""Slow, obvious Ising energies: one bond at a time."""

import itertools

import numpy as np


def energy(shape, configuration):
    """H = -sum over sites and axes of s_i s_(i + one step up), of one configuration (n_sites,)."""
    grid = np.asarray(configuration).reshape(shape)
    total = 0
    for site in itertools.product(*(range(side) for side in shape)):
        for axis in range(len(shape)):
            neighbour = list(site)
            neighbour[axis] = (neighbour[axis] + 1) % shape[axis]
            total -= int(grid[site]) * int(grid[tuple(neighbour)])
    return total


def magnetization(configuration):
    """Sum of the spins of one configuration (n_sites,), per spin."""
    total = 0
    for spin in configuration:
        total += int(spin)
    return total / len(configuration)
