"""The exact distribution of the energy on the L x L torus, by Fourier transform of the partition function.

With w = e^{-2K} and energies counted from the ground state, Kaufman's Z is a polynomial in w^2 = e^{-4K},

    Z e^{-2NK} = sum_k g_k w^{2k} = 1/2 (O_+ + O_- + E_+ + E_-),      E = -2N + 4k,

so its values on the circle w^2 e^{i theta} are the Fourier transform of g_k w^{2k}, which is P(E) up to a
constant. O and E are products over the modes l = 1, 3, ..., 2L-1 and l = 0, 2, ..., 2L-2. The modes l and
2L-l together give p^L (1 +- (b/p)^L)^2 with

    p + b^2/p = 2a,    b = w (1 - w^2),    a = (1 + w^2)^2 / 2 - b cos(pi l/L),

the unpaired modes give (1-w)^L +- (w(1+w))^L for l = 0 and (1+w)^L +- (w(1-w))^L for l = L. Only whole powers
appear, so complex w meets no branch cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from thermorbm.errors import InputError
from thermorbm.exact.thermodynamics import as_side, as_temperature, coupling_of

ComplexArray = NDArray[np.complex128]

LARGEST_SIDE = 512  # about 10 s; the time grows as L^3, and beyond L = 1000 products overflow


@dataclass(frozen=True, eq=False)
class EnergyDistribution:
    """P(E) of the total energy E, in units of J, on a ladder of steps 4 from the ground state up.

    energies: int64 (n,), ascending. probabilities: float64 (n,), nonnegative, sum 1.
    """

    energies: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean total energy, in units of J."""
        return float(self.energies[0]) + self._mean_excess

    @property
    def variance(self) -> float:
        """Variance of the total energy, in units of J^2: N T^2 times the heat capacity per spin."""
        return float(self.probabilities @ (self.energies - self.energies[0] - self._mean_excess) ** 2)

    @property
    def _mean_excess(self) -> float:
        return float(self.probabilities @ (self.energies - self.energies[0]))


@dataclass(frozen=True, eq=False)
class _Sector:
    """The two products over one set of modes, O_+- or E_+-: base^L plus and base^L minus, each (n,)."""

    base: ComplexArray
    plus: ComplexArray
    minus: ComplexArray

    def with_mode(self, base: ComplexArray, first: ComplexArray, second: ComplexArray) -> _Sector:
        """One more mode, of value base^L (first +- second)."""
        return _Sector(self.base * base, self.plus * (first + second), self.minus * (first - second))


def energy_distribution(L: int, T: float) -> EnergyDistribution:
    """Exact P(E) of the Ising model on the L x L torus, 2 <= L <= 512, at temperature T.

    energies runs over -2N, -2N + 4, ..., 2N. The error of a probability is about 1e-12 of itself plus 1e-15
    of the largest one, at T < 0.7 much less. Values that this error could explain are returned as 0.
    """
    side, temperature = as_side(L), as_temperature(T)
    if side > LARGEST_SIDE:
        raise InputError("lattice side", L, f"at most {LARGEST_SIDE} for an energy distribution")
    n_sites = side * side
    coupling = float(coupling_of(np.asarray(temperature)))
    # In the cold all levels but the first are rare and would be lost in rounding: transform where
    # N e^{-8K} is about 1, so that many are common, and reweight.
    reference = min(coupling, max(1.0, math.log(n_sites) / 8))
    weights = _transform(side, reference) * np.exp(-(coupling - reference) * 4.0 * np.arange(n_sites + 1))
    return EnergyDistribution(ladder(2 * n_sites), weights / weights.sum())


def ladder(n_bonds: int) -> NDArray[np.int64]:
    """Energies -n_bonds, -n_bonds + 4, ... <= n_bonds: a row that closes on itself breaks an even number."""
    return np.arange(-n_bonds, n_bonds + 1, 4, dtype=np.int64)


def _transform(side: int, coupling: float) -> NDArray[np.float64]:
    """P(E) up to a constant, (N + 1,), by Fourier transform at the given coupling."""
    n_levels = side * side + 1
    n_points = fft.next_fast_len(n_levels, real=True)
    half_angles = np.pi * np.arange(n_points // 2 + 1) / n_points
    spectrum = _partition_function(side, math.exp(-2 * coupling) * np.exp(1j * half_angles))
    return _without_rounding(fft.irfft(spectrum.conj(), n=n_points)[:n_levels])


def _without_rounding(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights with all that rounding can explain replaced by 0."""
    weights[1] = 0  # two broken bonds cannot close a domain wall
    # Impossible energies come out as noise of both signs, so the most negative value shows its size.
    floor = 4 * max(-weights.min(), float(np.finfo(float).eps) * weights.max())
    return np.where(weights > floor, weights, 0.0)


def _partition_function(side: int, w: ComplexArray) -> ComplexArray:
    """Z e^{-2NK}, up to one real factor, at each w (n,) with Re w >= 0 and |w| <= 1."""
    one = np.ones_like(w)
    odd, even = _paired_modes(side, w, range(1, side, 2)), _paired_modes(side, w, range(2, side, 2))
    last = (w * (1 - w) / (1 + w)) ** side
    if side % 2:
        odd = odd.with_mode(1 + w, one, last)
    else:
        even = even.with_mode(1 + w, one, last)
    even = even.with_mode(1 + w, ((1 - w) / (1 + w)) ** side, w**side)
    odd_log, even_log = side * np.log(odd.base), side * np.log(even.base)
    shift = max(odd_log.real.max(), even_log.real.max())
    odd_part = np.exp(odd_log - shift) * (odd.plus + odd.minus)
    return np.asarray(odd_part + np.exp(even_log - shift) * (even.plus + even.minus))


def _paired_modes(side: int, w: ComplexArray, modes: range) -> _Sector:
    one = np.ones_like(w)
    sector = _Sector(one, one, one)
    b = w * (1 - w * w)
    critical = (1 - 2 * w - w * w) ** 2 / 2  # vanishes at T_c
    for mode in modes:
        gap = critical + 2 * math.sin(math.pi * mode / (2 * side)) ** 2 * b  # a - b without cancellation
        a = gap + b
        root = np.sqrt(gap * (a + b))
        p = a + np.where((a.conj() * root).real < 0, -root, root)  # the larger of two roots
        ratio = (b / p) ** side
        sector = _Sector(sector.base * p, sector.plus * (1 + ratio) ** 2, sector.minus * (1 - ratio) ** 2)
    return sector
