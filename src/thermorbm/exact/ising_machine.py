"""The machine that is the Ising model: one hidden unit per bond."""

from __future__ import annotations

import math

import numpy as np

from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model.dense import RBM


def ising_rbm(lattice: Lattice, temperature: float) -> RBM:
    """The dense RBM whose p(v) is the Boltzmann distribution of the lattice's Ising model at `temperature`.

    Hidden unit axis * n_sites + i is the bond from site i one step up that axis; it carries weight w on both
    ends, cosh 2w = e^(2K), K = 1/T, and b = c = 0. Summed over h a bond contributes
    2cosh(w (s + s')) = 2 e^K e^(K s s'), so that visible energy = H/T - n_bonds (ln 2 + K), exactly. Two
    sites joined by two bonds (side 2) have two hidden units.

    W is dense float64, n_bonds x n_sites: 268 MB for 64 x 64.
    """
    coupling = 1 / _checked(temperature)
    # arccosh(e^(2K)) without overflow at low and without cancellation at high temperature
    w = 0.5 * (2 * coupling + math.log1p(math.sqrt(-math.expm1(-4 * coupling))))
    W = np.zeros((lattice.n_bonds, lattice.n_sites))
    bonds, sites = np.arange(lattice.n_bonds), np.arange(lattice.n_sites)
    up = lattice.neighbours[:, ::2].T  # (d, n_sites)
    W[bonds, np.tile(sites, lattice.dimension)] = w
    W[bonds, up.ravel()] = w
    provenance = {"made_by": "ising_rbm", "shape": list(lattice.shape), "temperature": float(temperature)}
    return RBM(W, np.zeros(lattice.n_sites), np.zeros(lattice.n_bonds), provenance)


def _checked(temperature: float) -> float:
    number = isinstance(temperature, int | float | np.integer | np.floating) and not isinstance(
        temperature, bool
    )
    if not number or not math.isfinite(temperature) or not temperature > 0:
        raise InputError("temperature", temperature, "a finite number > 0")
    return float(temperature)
