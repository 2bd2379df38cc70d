"""The machine that is the Ising model: one filter per axis, one hidden unit per bond."""

from __future__ import annotations

import math

import numpy as np

from thermorbm.checks import positive_temperature
from thermorbm.lattice import Lattice
from thermorbm.model import SymmetricRBM


def ising_rbm(lattice: Lattice, temperature: float) -> SymmetricRBM:
    """The machine whose p(v) is the Boltzmann distribution of the lattice's Ising model at `temperature`.

    One filter per axis, with weight w on a site and on the next one up that axis, cosh 2w = e^(2K), K = 1/T,
    and no biases: hidden unit axis * n_sites + i is the bond from site i one step up that axis. Summed over h
    a bond contributes 2cosh(w (s + s')) = 2 e^K e^(K s s'), so that exactly
    visible energy = H/T - n_bonds (ln 2 + K). Two sites joined by two bonds (side 2) have two hidden units.
    """
    coupling = 1 / positive_temperature(temperature)
    # arccosh(e^(2K)) without overflow at low and without cancellation at high temperature
    w = 0.5 * (2 * coupling + math.log1p(math.sqrt(-math.expm1(-4 * coupling))))
    filters = np.zeros((lattice.dimension, *[2] * lattice.dimension))
    filters.reshape(lattice.dimension, -1)[:, 0] = w
    for axis in range(lattice.dimension):
        filters[(axis, *np.eye(lattice.dimension, dtype=int)[axis])] = w
    provenance = {"made_by": "ising_rbm", "shape": list(lattice.shape), "temperature": float(temperature)}
    return SymmetricRBM(filters, lattice.shape, provenance=provenance)
