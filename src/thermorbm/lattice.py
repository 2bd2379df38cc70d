"""Periodic hypercubic lattice; the only home of the Ising Hamiltonian H = -sum_<ij> s_i s_j."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError


@dataclass(frozen=True)
class Lattice:
    """Periodic hypercubic lattice with sides `shape`, any dimension >= 1, every side >= 2.

    Sites are numbered in C order. Each site has 2 d bonds; at side 2 both bonds between a pair count, so that
    there are always d N of them.
    """

    shape: tuple[int, ...]

    def __init__(self, shape: Sequence[int] | int) -> None:
        sides = (shape,) if isinstance(shape, int) else tuple(shape)
        if not sides:
            raise InputError("lattice shape", sides, "one or more sides", "for example (64, 64)")
        for side in sides:
            if isinstance(side, bool) or not isinstance(side, int | np.integer) or side < 2:
                raise InputError("lattice side", side, "a whole number >= 2")
        object.__setattr__(self, "shape", tuple(int(side) for side in sides))

    @property
    def dimension(self) -> int:
        return len(self.shape)

    @property
    def n_sites(self) -> int:
        return math.prod(self.shape)

    @property
    def n_bonds(self) -> int:
        return self.dimension * self.n_sites

    @cached_property
    def neighbours(self) -> NDArray[np.int32]:
        """(n_sites, 2 d): the site one step up, then one step down, along each axis in turn."""
        sites = np.arange(self.n_sites, dtype=np.int32).reshape(self.shape)
        steps = [np.roll(sites, -step, axis) for axis in range(self.dimension) for step in (1, -1)]
        return np.stack([moved.ravel() for moved in steps], axis=1)

    def energy(self, v: ArrayLike) -> NDArray[np.int64]:
        """Total energy H of each configuration, in units of J. v: (n, n_sites) of +-1 -> (n,)."""
        grid = self._as_grid(v)
        aligned = np.zeros(len(grid), dtype=np.int64)
        lattice_axes = tuple(range(1, grid.ndim))
        for axis in lattice_axes:
            aligned += (grid * np.roll(grid, -1, axis)).sum(axis=lattice_axes, dtype=np.int64)
        return -aligned

    def magnetization(self, v: ArrayLike) -> NDArray[np.float64]:
        """Magnetisation per spin of each configuration. v: (n, n_sites) of +-1 -> (n,)."""
        grid = self._as_grid(v)
        return np.asarray(grid.reshape(len(grid), -1).mean(axis=1, dtype=np.float64))

    def energy_of_broken_bonds(self, n_broken: ArrayLike) -> NDArray[np.int64]:
        """Total energy of a configuration with that many antiparallel bonds: each costs 2 J."""
        return 2 * np.asarray(n_broken, dtype=np.int64) - self.n_bonds

    @property
    def flip_costs(self) -> NDArray[np.int64]:
        """(2 d + 1,): energy to flip one spin, indexed by how many of its own bonds are broken."""
        n_broken = np.arange(2 * self.dimension + 1)
        return 4 * (self.dimension - n_broken)

    def _as_grid(self, v: ArrayLike) -> NDArray[np.int8]:
        spins = np.asarray(v)
        if spins.ndim == 0 or spins.shape[-1] != self.n_sites or spins.ndim > 2:
            raise InputError("configurations", spins.shape, f"an array of shape (n, {self.n_sites})")
        spins = spins.reshape(-1, self.n_sites)
        wrong = (spins != 1) & (spins != -1)
        if wrong.any():
            raise InputError("spins", spins[wrong][0].item(), "+1 or -1")
        return spins.astype(np.int8, copy=False).reshape(-1, *self.shape)
