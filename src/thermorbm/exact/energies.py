"""The exact distribution of the energy: on a ring, and on a torus by Fourier transform of Z.

With w = e^{-2K} and energies counted from the ground state, Kaufman's Z is a polynomial in w^2 = e^{-4K},

    Z e^{-2NK} = sum_k g_k w^{2k} = 1/2 (O_+ + O_- + E_+ + E_-),      E = -2N + 4k,

so its values on the circle w^2 e^{i theta} are the Fourier transform of g_k w^{2k}, which is P(E) up to a
constant. On the L x M torus O and E are products over the modes l = 1, 3, ..., 2L-1 and l = 0, 2, ..., 2L-2.
The modes l and 2L-l together give p^M (1 +- (b/p)^M)^2 with

    p + b^2/p = 2a,    b = w (1 - w^2),    a = (1 + w^2)^2 / 2 - b cos(pi l/L),

the unpaired modes give (1-w)^M +- (w(1+w))^M for l = 0 and (1+w)^M +- (w(1-w))^M for l = L. Only whole powers
appear, so complex w meets no branch cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

from thermorbm.errors import InputError
from thermorbm.exact.thermodynamics import as_side, as_temperature, coupling_of

ComplexArray = NDArray[np.complex128]

LARGEST_SIDE = 512  # about 10 s; the time grows as L^3, and beyond L = 1000 products overflow


@dataclass(frozen=True, eq=False)
class EnergyDistribution:
    """P(E) of the total energy E, in units of J, from the ground state up; on a torus in steps of 4.

    energies: (n,), ascending. probabilities: float64 (n,), nonnegative, sum 1.
    """

    energies: NDArray[Any]
    probabilities: NDArray[np.float64]

    def __repr__(self) -> str:
        low, high = self.energies[0], self.energies[-1]
        return (
            f"EnergyDistribution({len(self.energies)} energies from {low:g} to {high:g}, mean {self.mean:g})"
        )

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

    def z_score(self, mean: float, n_samples: float) -> float:
        """How far the mean of n independent energies is from the expected one, in standard deviations.

        Cramér's bound on its probability, exp(-n I(mean)), written as the z of a bound exp(-z^2/2).
        For many samples that is the distance over the standard error; in the cold, where one rare excitation
        among all samples would be ten standard errors, it says how unlikely that really is.
        """
        excess = mean - float(self.energies[0])
        rate = _cramer_rate(self.energies - self.energies[0], self.probabilities, excess)
        return math.copysign(math.sqrt(2 * n_samples * rate), excess - self._mean_excess)


@dataclass(frozen=True, eq=False)
class EnergyMoments:
    """Mean and variance of the total energy, where no more is known exactly.

    allowance: how far the mean may be off, for one of the infinite lattice.
    """

    mean: float
    variance: float
    allowance: float = 0.0

    def z_score(self, mean: float, n_samples: float, variance: float | None = None) -> float:
        """How far the mean of n independent energies is from the expected one beyond the allowance.

        In standard errors, from the exact variance or that of a finite lattice.
        """
        spread = self.variance if variance is None else variance
        error = math.sqrt(max(spread, 0.0) / n_samples)
        distance = mean - self.mean
        beyond = math.copysign(max(0.0, abs(distance) - self.allowance), distance)
        return beyond / error if error > 0 else math.copysign(math.inf, beyond) if beyond else 0.0


@dataclass(frozen=True, eq=False)
class _Sector:
    """The two products over one set of modes, O_+- or E_+-: base^M plus and base^M minus, each (n,)."""

    base: ComplexArray
    plus: ComplexArray
    minus: ComplexArray

    def with_mode(self, base: ComplexArray, first: ComplexArray, second: ComplexArray) -> _Sector:
        """One more mode, of value base^M (first +- second)."""
        return _Sector(self.base * base, self.plus * (first + second), self.minus * (first - second))


def _cramer_rate(levels: NDArray[Any], probabilities: NDArray[np.float64], x: float) -> float:
    """I(x) = sup_t [t x - ln <e^{t E}>] of energies `levels` (n,) that rise from 0."""
    possible = probabilities > 0
    steps, logs = levels[possible].astype(np.float64), np.log(probabilities[possible])
    if x < steps[0] or x > steps[-1]:
        return math.inf
    if x in (steps[0], steps[-1]):
        return -float(logs[0] if x == steps[0] else logs[-1])

    def tilted_mean(t: float) -> float:
        weights = np.exp(logs + t * steps - (logs + t * steps).max())
        return float(weights @ steps / weights.sum())

    far = math.copysign(1e-3, x - tilted_mean(0.0))
    while (tilted_mean(far) - x) * far < 0:
        far *= 2
    t = brentq(lambda t: tilted_mean(t) - x, 0.0, far, xtol=1e-15)
    return max(0.0, float(t * x - logsumexp(logs + t * steps)))


def energy_distribution(L: int | tuple[int, int], T: float) -> EnergyDistribution:
    """Exact P(E) of the Ising model on the L x L torus, or that of sides L = (a, b), at temperature T.

    A side is at least 2, and the number of sites at most 512^2. energies runs over -2N, -2N + 4, ...,
    2N. The error of a probability is about 1e-12 of itself plus 1e-15 of the largest one, at T < 0.7 much
    less. Values that this error could explain are returned as 0.
    """
    sides, temperature = _as_sides(L), as_temperature(T)
    n_sites = math.prod(sides)
    coupling = float(coupling_of(np.asarray(temperature)))
    reference = min(coupling, _reference_coupling(*sides))
    weights = _transform(sides, reference) * np.exp(-(coupling - reference) * 4.0 * np.arange(n_sites + 1))
    return EnergyDistribution(ladder(2 * n_sites), weights / weights.sum())


def _reference_coupling(smaller: int, larger: int) -> float:
    """A coupling at which about one spin is flipped, or one wall runs across a narrow torus.

    In the cold all levels but the first are rare and would be lost in rounding; here many are common, and
    reweighting takes them to lower temperatures.
    """
    one_spin = math.log(smaller * larger) / 8  # N e^{-8K} = 1
    one_wall = math.log(larger) / (2 * smaller)  # larger e^{-2 smaller K} = 1
    return max(1.0, one_spin, one_wall)


def ring_energy_distribution(n_sites: int, T: float) -> EnergyDistribution:
    """Exact P(E) of a ring of n_sites >= 2 spins at temperature T: any even number of bonds may be broken.

    energies runs over -n, -n + 4, ... <= n.
    """
    n_bonds, temperature = as_side(n_sites), as_temperature(T)
    coupling = float(coupling_of(np.asarray(temperature)))
    n_broken = np.arange(0, n_bonds + 1, 2)
    log_counts = gammaln(n_bonds + 1) - gammaln(n_broken + 1) - gammaln(n_bonds - n_broken + 1)
    log_weights = log_counts - 2 * coupling * n_broken
    weights = np.exp(log_weights - log_weights.max())
    return EnergyDistribution(ladder(n_bonds), weights / weights.sum())


def _as_sides(L: int | tuple[int, int]) -> tuple[int, int]:
    """The smaller side, whose modes are summed one by one, and the larger."""
    pair = L if isinstance(L, tuple) and len(L) == 2 else (L, L)
    smaller, larger = sorted(as_side(side) for side in pair)  # type: ignore[arg-type]
    if smaller * larger > LARGEST_SIDE**2:
        raise InputError(
            "lattice side", L, f"at most {LARGEST_SIDE} (a x b: {LARGEST_SIDE**2} sites) for P(E)"
        )
    return smaller, larger


def ladder(n_bonds: int) -> NDArray[np.int64]:
    """Energies -n_bonds, -n_bonds + 4, ... <= n_bonds: a row that closes on itself breaks an even number."""
    return np.arange(-n_bonds, n_bonds + 1, 4, dtype=np.int64)


def _transform(sides: tuple[int, int], coupling: float) -> NDArray[np.float64]:
    """P(E) up to a constant, (N + 1,), by Fourier transform at the given coupling."""
    n_levels = math.prod(sides) + 1
    n_points = fft.next_fast_len(n_levels, real=True)
    half_angles = np.pi * np.arange(n_points // 2 + 1) / n_points
    spectrum = _partition_function(*sides, math.exp(-2 * coupling) * np.exp(1j * half_angles))
    return _without_rounding(fft.irfft(spectrum.conj(), n=n_points)[:n_levels])


def _without_rounding(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights with all that rounding can explain replaced by 0."""
    weights[1] = 0  # two broken bonds cannot close a domain wall
    # Impossible energies come out as noise of both signs, so the most negative value shows its size.
    floor = 4 * max(-weights.min(), float(np.finfo(float).eps) * weights.max())
    return np.where(weights > floor, weights, 0.0)


def _partition_function(n_modes: int, power: int, w: ComplexArray) -> ComplexArray:
    """Z e^{-2NK} of sides L = n_modes, M = power, up to a real factor, at w (n,) with Re w >= 0, |w| <= 1."""
    one = np.ones_like(w)
    odd = _paired_modes(range(1, n_modes, 2), n_modes, power, w)
    even = _paired_modes(range(2, n_modes, 2), n_modes, power, w)
    last = (w * (1 - w) / (1 + w)) ** power
    if n_modes % 2:
        odd = odd.with_mode(1 + w, one, last)
    else:
        even = even.with_mode(1 + w, one, last)
    # The mode l = 0, whose two terms change places at T_c; its base is the larger, lest powers underflow.
    base = np.where(np.abs(1 - w) > np.abs(w * (1 + w)), 1 - w, w * (1 + w))
    even = even.with_mode(base, ((1 - w) / base) ** power, (w * (1 + w) / base) ** power)
    odd_log, even_log = power * np.log(odd.base), power * np.log(even.base)
    shift = max(odd_log.real.max(), even_log.real.max())
    odd_part = np.exp(odd_log - shift) * (odd.plus + odd.minus)
    return np.asarray(odd_part + np.exp(even_log - shift) * (even.plus + even.minus))


def _paired_modes(modes: range, n_modes: int, power: int, w: ComplexArray) -> _Sector:
    one = np.ones_like(w)
    sector = _Sector(one, one, one)
    b = w * (1 - w * w)
    critical = (1 - 2 * w - w * w) ** 2 / 2  # vanishes at T_c
    for mode in modes:
        gap = critical + 2 * math.sin(math.pi * mode / (2 * n_modes)) ** 2 * b  # a - b without cancellation
        a = gap + b
        root = np.sqrt(gap * (a + b))
        p = a + np.where((a.conj() * root).real < 0, -root, root)  # the larger of two roots
        ratio = (b / p) ** power
        sector = _Sector(sector.base * p, sector.plus * (1 + ratio) ** 2, sector.minus * (1 - ratio) ** 2)
    return sector
