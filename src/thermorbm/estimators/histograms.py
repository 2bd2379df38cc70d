"""Samples of a series of temperatures, reduced to what reweighting needs.

A sample enters a thermal average at any temperature through its energy E and its magnetisation m alone, and
its weight depends on E only. So all samples of equal energy are added up: their number, and the sums of |m|,
m^2 and m^4 over them. Nothing is lost by it, and 800 000 samples become some thousand energies.

Errors come from blocks. Sample i of n at each temperature belongs to block i B // n, the same number B of
blocks at every temperature, and blocks of one number are joined over temperatures. If samples are
independent, or correlated within less than a block, these B joint blocks are independent and alike, whatever
the temperatures have to do with one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError

Array = NDArray[np.float64]

MOST_ENERGIES = 8192  # more different energies than these are joined in cells of equal width
_MOST_BLOCKS = 128
_MOMENTS = 4  # sums of 1, |m|, m^2 and m^4


@dataclass(frozen=True, eq=False)
class Measurements:
    """Total energies E (n,) in units of J and magnetisations per spin m (n,) of samples at one temperature.

    The temperature may be infinite: spins that point up or down at random.
    """

    temperature: float
    energies: Array
    magnetizations: Array

    def __init__(self, temperature: float, energies: ArrayLike, magnetizations: ArrayLike) -> None:
        energy, magnetization = (np.asarray(x, dtype=np.float64) for x in (energies, magnetizations))
        if not temperature > 0:
            raise InputError("temperature", temperature, "a number > 0")
        if energy.ndim != 1 or energy.shape != magnetization.shape or len(energy) < 2:
            shapes = (energy.shape, magnetization.shape)
            raise InputError("energies and magnetisations", shapes, "two arrays (n,) of one length n >= 2")
        if not (np.isfinite(energy).all() and np.isfinite(magnetization).all()):
            raise InputError("energies and magnetisations", "nan or infinity", "finite numbers")
        object.__setattr__(self, "temperature", float(temperature))
        object.__setattr__(self, "energies", energy)
        object.__setattr__(self, "magnetizations", magnetization)


@dataclass(frozen=True, eq=False)
class Histograms:
    """Samples of K temperatures in B blocks over G energies.

    betas: (K,) 1/T. energies: (G,) ascending. occupation: (K, G) numbers of samples. block_counts: (B, K)
    numbers of samples. block_moments: (B, 4, G) sums of 1, |m|, m^2, m^4 over samples of all temperatures.
    """

    betas: Array
    energies: Array
    occupation: Array
    block_counts: Array
    block_moments: Array

    @property
    def n_blocks(self) -> int:
        """Number of blocks that samples are cut into."""
        return len(self.block_counts)


def histograms(series: Sequence[Measurements]) -> Histograms:
    """The samples of a series (temperatures in any order, none twice), added up by energy and block."""
    n_blocks = min(_MOST_BLOCKS, *(len(each.energies) for each in series))
    energies, indices = _energy_cells(series)
    occupation = np.zeros((len(series), len(energies)))
    block_counts = np.zeros((n_blocks, len(series)))
    moments = np.zeros((_MOMENTS, n_blocks * len(energies)))
    for k, (each, cell) in enumerate(zip(series, indices, strict=True)):
        n = len(each.energies)
        block = np.arange(n) * n_blocks // n
        occupation[k] = np.bincount(cell, minlength=len(energies))
        block_counts[:, k] = np.bincount(block, minlength=n_blocks)
        place, size = block * len(energies) + cell, np.abs(each.magnetizations)
        for row, weight in zip(moments, (None, size, size**2, size**4), strict=True):
            row += np.bincount(place, weight, minlength=len(row))
    block_moments = moments.reshape(_MOMENTS, n_blocks, len(energies)).transpose(1, 0, 2)
    betas = np.array([1 / each.temperature for each in series])
    return Histograms(betas, energies, occupation, block_counts, block_moments)


def _energy_cells(series: Sequence[Measurements]) -> tuple[Array, list[NDArray[np.intp]]]:
    """Energies (G,), and for each temperature the index (n,) of every sample's energy among them.

    Couplings that are not whole numbers make as many energies as samples. They are joined in cells, each at
    its mean energy; the width w of a cell changes weights by (w dbeta)^2 / 24, nearly the same in all cells.
    """
    everything = np.concatenate([each.energies for each in series])
    energies, index = np.unique(everything, return_inverse=True)
    if len(energies) > MOST_ENERGIES:
        width = np.ptp(energies) / MOST_ENERGIES
        _, index = np.unique(np.floor((everything - energies[0]) / width), return_inverse=True)
        energies = np.bincount(index, everything) / np.bincount(index)
    ends = np.cumsum([len(each.energies) for each in series])[:-1]
    return energies, np.split(index, ends)
