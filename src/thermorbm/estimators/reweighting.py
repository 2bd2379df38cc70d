"""Thermal averages at any temperature between those that were sampled, with errors.

Samples of all temperatures give one density of states (see `density`), and that gives every average at every
temperature in between. The same is done for `n_draws` resamplings of the joint blocks (see `histograms`); the
spread of what they give is the error, for whatever is computed from the curves: maxima and crossings too.

Neighbouring temperatures must have energies in common. Where they share fewer than 50 samples, the series is
cut into groups, nothing is said of temperatures between two groups, and entropy and free energy, which need a
path from a known end, exist only in the group of that end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError
from thermorbm.estimators.density import free_energies, posterior, resampled_factors, shared_samples
from thermorbm.estimators.histograms import Histograms, Measurements, histograms
from thermorbm.shown import Displayed
from thermorbm.stats import Estimates

Array = NDArray[np.float64]

FEWEST_SHARED = 50.0
_FEWEST_GROUND_STATES = 25
QUANTITIES = (
    "energy",
    "heat_capacity",
    "abs_magnetization",
    "susceptibility",
    "binder",
    "entropy",
    "free_energy",
)


@dataclass(frozen=True)
class GroundStates:
    """The lowest total energy, in units of J, and how many states have it."""

    energy: float
    number: int


@dataclass(frozen=True)
class KnownEntropy:
    """Entropy per spin at a temperature within the series, from elsewhere; its own error is left out."""

    temperature: float
    value: float


@dataclass(frozen=True, eq=False, repr=False)
class ThermalCurves(Displayed):
    """Reweighted averages per spin at `temperatures` (m,): values and errors (m,) of each quantity.

    heat_capacity: (<E^2> - <E>^2) / (N T^2). susceptibility: of |m|, N (<m^2> - <|m|>^2) / T. binder:
    U4 = 1 - <m^4> / (3 <m^2>^2). nan where the series does not reach; notes say where and why.
    draws: for each quantity (n_draws, m), the curves of resampled data.
    """

    temperatures: Array
    energy: Estimates
    heat_capacity: Estimates
    abs_magnetization: Estimates
    susceptibility: Estimates
    binder: Estimates
    entropy: Estimates
    free_energy: Estimates
    notes: tuple[str, ...]
    draws: dict[str, Array]

    def _facts(self) -> dict[str, Any]:
        """The first and the last values; without the draws."""
        told = super()._facts() | {"notes": "; ".join(self.notes) or None}
        del told["draws"]
        ends = (float(self.temperatures[0]), float(self.temperatures[-1]))
        return told | {"temperatures": f"{len(self.temperatures)} from {ends[0]:g} to {ends[1]:g}"}


class Reweighting:
    """The density of states of one series of samples on n_sites spins, and of its resamplings."""

    def __init__(
        self,
        series: Sequence[Measurements],
        n_sites: int,
        ground: GroundStates | None = None,
        known: KnownEntropy | None = None,
        n_draws: int = 200,
        seed: int = 0,
    ) -> None:
        """ground, known, or samples at infinite temperature in the series fix the constant of S and F."""
        _check(series, n_sites, n_draws)
        ordered = sorted(series, key=lambda each: each.temperature)
        self.temperatures = np.array([each.temperature for each in ordered if np.isfinite(each.temperature)])
        parts = [part for part in _overlapping(ordered) if np.isfinite(part[0].temperature)]
        seeds = np.random.SeedSequence(seed).spawn(len(parts))
        self.groups = [_Group(part, n_draws, child) for part, child in zip(parts, seeds, strict=True)]
        self.n_sites, self.n_draws = n_sites, n_draws
        self._ground, self._known = ground, known

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """Pairs of neighbouring temperatures that share too few energies."""
        return [(a.hottest, b.coldest) for a, b in zip(self.groups, self.groups[1:], strict=False)]

    def curves(self, temperatures: ArrayLike) -> ThermalCurves:
        """Every quantity at temperatures (m,) from the coldest to the hottest of the series."""
        wanted = self._checked(temperatures)
        draws = {name: np.full((self.groups[0].n_rows, len(wanted)), np.nan) for name in QUANTITIES}
        for group in self.groups:
            inside = (wanted >= group.coldest) & (wanted <= group.hottest)
            if inside.any():
                for name, rows in self._group_curves(group, wanted[inside]).items():
                    draws[name][:, inside] = rows
        estimates = {name: self._estimates(rows) for name, rows in draws.items()}
        rest = {name: rows[1:] for name, rows in draws.items()}
        return ThermalCurves(wanted, **estimates, notes=self._notes(wanted, draws["entropy"][0]), draws=rest)

    def _group_curves(self, group: _Group, temperatures: Array) -> dict[str, Array]:
        """Rows of all quantities per spin, (n_draws + 1, m) each; the first row is of the data themselves."""
        log_z, energy, square, m1, m2, m4 = group.averages(1 / temperatures)
        n, t = self.n_sites, temperatures
        log_z = log_z + self._constant(group)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "energy": energy / n,
                "heat_capacity": square / (n * t**2),
                "abs_magnetization": m1,
                "susceptibility": n * (m2 - m1**2) / t,
                "binder": 1 - m4 / (3 * m2**2),
                "entropy": (log_z + energy / t) / n,
                "free_energy": -t * log_z / n,
            }

    def _constant(self, group: _Group) -> Array:
        """What to add to the group's ln Z, (n_draws + 1,): of several, the one with the smallest error."""
        candidates = [c for c in (self._from_known(group), self._from_ends(group)) if c is not None]
        return candidates[0] if candidates else np.full(group.n_rows, np.nan)

    def _from_known(self, group: _Group) -> Array | None:
        known = self._known
        if known is None or not group.coldest <= known.temperature <= group.hottest:
            return None
        log_z, energy, *_ = group.averages(np.array([1 / known.temperature]))
        return np.asarray(known.value * self.n_sites - energy[:, 0] / known.temperature - log_z[:, 0])

    def _from_ends(self, group: _Group) -> Array | None:
        ends = []
        if np.isinf(group.hottest):
            ends.append(self.n_sites * np.log(2) - group.averages(np.zeros(1))[0][:, 0])
        if self._ground is not None:
            states = group.log_states(self._ground.energy)
            ends += [] if states is None else [np.log(self._ground.number) - states]
        return min(ends, key=lambda constant: float(constant.std()), default=None)

    def _estimates(self, rows: Array) -> Estimates:
        blocks = self.groups[0].n_blocks
        return Estimates(rows[0], rows[1:].std(axis=0) * np.sqrt(blocks / (blocks - 1)))

    def _notes(self, wanted: Array, entropy: Array) -> tuple[str, ...]:
        inside = [(low, high) for low, high in self.gaps if ((wanted > low) & (wanted < high)).any()]
        notes = [
            f"T = {low:g} and {high:g} have too few energies in common: nothing is known between them, "
            "sample temperatures in between"
            for low, high in inside
        ]
        if np.isnan(entropy).all():
            notes.append(
                "entropy and free energy need a known end: sample up to temperatures whose energies are "
                "those of random spins, or down to ground states of known number, or give an entropy"
            )
        return tuple(notes)

    def _checked(self, temperatures: ArrayLike) -> Array:
        wanted = np.atleast_1d(np.asarray(temperatures, dtype=np.float64))
        low, high = self.temperatures[0], self.temperatures[-1]
        outside = ~((wanted >= low) & (wanted <= high))
        if wanted.ndim != 1 or outside.any():
            got = wanted[outside][0].item() if outside.any() else wanted.shape
            raise InputError("temperature", got, f"between {low:g} and {high:g}, the sampled ones")
        return wanted


class _Group:
    """Temperatures that overlap, with one density of states for the data and one for each resampling."""

    def __init__(self, series: Sequence[Measurements], n_draws: int, seed: np.random.SeedSequence) -> None:
        self.coldest, self.hottest = series[0].temperature, series[-1].temperature
        self._histograms = histograms(series)
        self.n_rows = n_draws + 1
        self._seed = seed

    @property
    def n_blocks(self) -> int:
        return self._histograms.n_blocks

    @cached_property
    def _rows(self) -> _Rows:
        rng = np.random.default_rng(self._seed)
        even = np.full(self.n_blocks, 1 / self.n_blocks)
        drawn = rng.multinomial(self.n_blocks, even, size=self.n_rows - 1)
        return _solve_rows(self._histograms, np.vstack([np.ones(self.n_blocks), drawn]))

    def averages(self, betas: Array) -> Array:
        """(6, n_draws + 1, m): ln Z + const, <E>, Var E, <|m|>, <m^2>, <m^4> at 1/T = betas (m,)."""
        energies, rows = self._histograms.energies, self._rows
        centre = energies.mean()
        log_weight = rows.log_density - betas[:, None] * (energies - centre)
        largest = log_weight.max(axis=1)
        weight = np.exp(log_weight - largest[:, None])
        z, m1, m2, m4 = (moment @ weight.T for moment in rows.moments)
        shifted = energies - centre
        e1, e2 = ((rows.moments[0] * x) @ weight.T / z for x in (shifted, shifted**2))
        log_z = np.log(z) + largest - betas * centre
        return np.stack([log_z, e1 + centre, e2 - e1**2, m1 / z, m2 / z, m4 / z])

    def log_states(self, energy: float) -> Array | None:
        """ln Omega (n_draws + 1,) at the energy of ground states; None where too few samples have it."""
        found = np.flatnonzero(self._histograms.energies == energy)
        if not len(found) or self._histograms.occupation[:, found[0]].sum() < _FEWEST_GROUND_STATES:
            return None
        rows = self._rows
        return np.asarray(rows.log_density[found[0]] + np.log(rows.moments[0][:, found[0]]))


@dataclass(frozen=True, eq=False)
class _Rows:
    """ln Omega of the data, (G,), and for every row what multiplies it for the sums of 1, |m|, m^2, m^4.

    moments: (4, n_draws + 1, G).
    """

    log_density: Array
    moments: Array


def _solve_rows(h: Histograms, block_weights: Array) -> _Rows:
    """Solutions for all rows of weights of the blocks, (n_rows, B); the first row weighs all alike."""
    counts = block_weights @ h.block_counts
    moments = np.tensordot(block_weights, h.block_moments, axes=1).transpose(1, 0, 2)
    f = free_energies(h.betas, h.energies, h.occupation)
    p, normal = posterior(h.betas, counts[0], h.energies, f)
    factors = resampled_factors(p, counts[0], counts, moments[0])
    total = moments[0, 0].copy()
    return _Rows(np.log(total) - normal, moments / ((factors @ p) * total))


def _overlapping(series: Sequence[Measurements]) -> list[list[Measurements]]:
    """The series, ascending in temperature, cut wherever neighbours share too few samples."""
    whole = histograms(series)
    groups = [[series[0]]]
    for k in range(1, len(series)):
        pair = slice(k - 1, k + 1)
        shared = shared_samples(whole.betas[pair], whole.occupation[pair], whole.energies)
        if shared >= FEWEST_SHARED:
            groups[-1].append(series[k])
        else:
            groups.append([series[k]])
    return groups


def _check(series: Sequence[Measurements], n_sites: int, n_draws: int) -> None:
    temperatures = [each.temperature for each in series]
    if sum(np.isfinite(t) for t in temperatures) < 2:
        raise InputError("series", "one temperature", "two or more temperatures", "sample another one")
    twice = [t for t in set(temperatures) if temperatures.count(t) > 1]
    if twice:
        raise InputError(
            "temperatures", f"{twice[0]} twice", "different ones", "join its samples by Dataset.concatenate"
        )
    sampled = [each.energies for each in series if np.isfinite(each.temperature)]
    if len({float(end) for energies in sampled for end in (energies.min(), energies.max())}) == 1:
        raise InputError("energies", "one energy alone", "ones that vary", "sample higher temperatures")
    if n_sites < 1 or n_draws < 2:
        raise InputError("n_sites and n_draws", (n_sites, n_draws), ">= 1 and >= 2")
