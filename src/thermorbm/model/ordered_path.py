"""A path on which the order of a machine is there from the start, and its correlations grow.

Dense machines of ordered data have a few collective units, whose weights all follow one pattern, and many
others that see what differs from it. Near T_c several collective units share the order: thresholds divide
modes of weak and of strong magnetisation (see `training.carriers`), among which chains move in hundreds of
steps. On a path that switches all units on together chains order too strongly on the way, and arrive in modes
that are not the machine's. Here collective units keep their strength throughout, and the others grow from 0.
With them the weights of the modes would shift by tens of nats, and thresholds that follow take that back. So
every chain stays in the mode that it was drawn in, and modes are as likely at the start as at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from thermorbm.errors import InputError
from thermorbm.model.energy import log_2cosh
from thermorbm.model.layers import Layers
from thermorbm.model.path import Path, hidden_work, preferred_pattern
from thermorbm.model.random_units import sample_units, skip_units

Array = NDArray[np.float64]

COLLECTIVE = 10.0  # times the median overlap with the pattern
_CHAINS, _RUNGS, _RELAXATION = 128, 512, 60
_TERMS = 4  # of a polynomial in the squared magnetisation


@dataclass(frozen=True, eq=False)
class OrderedPath(Path):
    """With M = u.v at beta the visible energy is

    -(beta b + (1 - beta) B u).v - sum over others of ln 2cosh(beta x_i)
    - sum over collective units of ln 2cosh(beta (x_i - c_i) + (1 - beta) w_i M + t_i(beta)),

    x = W v + c. At beta = 0 it depends on M alone, so that all M can be summed over; t_i(1) = c_i.

    units: (k,) of the collective ones, thresholds from low to high. pattern: u, (n_visible,) of +-1. weights:
    w, (k,). field: B. rest: b - B u, (n_visible,). betas, thresholds: (p,) from 0 to 1 and (p, k), between
    which t is linear.
    """

    machine: Layers
    units: NDArray[np.intp]
    pattern: NDArray[Any]
    weights: Array
    field: float
    rest: NDArray[Any]
    betas: Array
    thresholds: Array

    def at(self, beta: Array) -> Array:
        """Thresholds t at each beta. (n,) -> (n, k)."""
        return np.stack([np.interp(beta, self.betas, column) for column in self.thresholds.T], axis=1)

    @cached_property
    def _log_shares(self) -> tuple[Array, Array]:
        """M from -n_visible to n_visible, and ln of the weight of all configurations with it, at beta = 0."""
        n = self.machine.n_visible
        up = np.arange(n + 1.0)
        M = 2 * up - n
        number = gammaln(n + 1) - gammaln(up + 1) - gammaln(n - up + 1)
        hidden = log_2cosh(self.weights * M[:, None] + self.thresholds[0]).sum(axis=1)
        return M, number + self.field * M + hidden

    @property
    def log_start(self) -> float:
        n_others = self.machine.n_hidden - len(self.units)
        return n_others * math.log(2) + float(logsumexp(self._log_shares[1]))

    def start(self, n: int, state: NDArray[np.uint64]) -> NDArray[Any]:
        log_shares, rng = self._log_shares[1], _generator(state)
        shares = np.exp(log_shares - logsumexp(log_shares))
        return self._scattered(rng.choice(len(shares), n, p=shares / shares.sum()), rng)

    def start_in_all_modes(self, n: int, state: NDArray[np.uint64]) -> NDArray[Any]:
        """As `start`, but as many in each mode, which are divided by thresholds, as in every other."""
        (M, log_shares), rng = self._log_shares, _generator(state)
        modes = np.searchsorted(np.sort(self._turns(self.thresholds[0])), M)
        ups = np.empty(n, np.intp)
        for row, mode in enumerate(np.resize(np.unique(modes), n)):
            inside = np.flatnonzero(modes == mode)
            shares = np.exp(log_shares[inside] - logsumexp(log_shares[inside]))
            ups[row] = rng.choice(inside, p=shares / shares.sum())
        return self._scattered(ups, rng)

    def _scattered(self, ups: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """Configurations in which so many units follow the pattern, any of them. (n,) -> (n, n_visible)."""
        along = np.arange(self.machine.n_visible) < ups[:, None]
        return np.where(rng.permuted(along, axis=1), self.pattern, -self.pattern).astype(self.machine.dtype)

    def _turns(self, thresholds: Array) -> Array:
        """M at which each collective unit turns. (k,) -> (k,)."""
        return np.asarray(-thresholds / self.weights)

    def magnetisation(self, v: NDArray[Any]) -> Array:
        """M / n_visible of each row."""
        return np.asarray(v @ self.pattern, np.float64) / self.machine.n_visible

    def work(self, v: NDArray[Any], x: NDArray[Any], beta: Array, to_beta: Array) -> Array:
        others = x.copy()
        others[:, self.units] = 0
        before, after = (self._collective(v, x, at) for at in (beta, to_beta))
        work = hidden_work(others, beta, to_beta) + (log_2cosh(after) - log_2cosh(before)).sum(axis=1)
        return np.asarray(work + (to_beta - beta) * (v @ self.rest))

    def gibbs(self, v: NDArray[Any], x: NDArray[Any], beta: Array, state: NDArray[np.uint64]) -> None:
        collective, scale = self._collective(v, x, beta), beta.astype(x.dtype)[:, None]
        x *= scale
        x[:, self.units] = collective
        h = sample_units(x, state, x)
        y = self.machine.visible_inputs(h)
        y *= scale
        pull = (1 - beta) * (self.field + h[:, self.units] @ self.weights)
        y += pull.astype(y.dtype)[:, None] * self.pattern
        sample_units(y, state, v)

    def _collective(self, v: NDArray[Any], x: NDArray[Any], beta: Array) -> Array:
        """Inputs of the collective units at beta. -> (n, k)."""
        M, share = self.magnetisation(v)[:, None] * self.machine.n_visible, beta[:, None]
        own = x[:, self.units].astype(np.float64) - self.thresholds[-1]
        return np.asarray(share * own + (1 - share) * self.weights * M + self.at(beta))

    def recorded(self, betas: Array) -> dict[str, Any]:
        return {"betas": betas, "thresholds": self.at(betas)}

    def levelled(self, gains: _Gains, beta: float) -> Array:
        """How thresholds are to change after a rung at beta, so that no mode gains on others, (k,)."""
        turns = self._turns(self.at(np.array([beta]))[0]) / self.machine.n_visible
        return -np.sign(self.weights) * np.diff(gains.at(gains.places(turns))) / 2


@dataclass(frozen=True, eq=False)
class _Gains:
    """Work of chains from one rung to the next, a polynomial in m^2. m: M / n_visible of the chains, (n,)."""

    coefficients: Array
    m: Array

    def places(self, turns: Array) -> Array:
        """|m| of each mode: the mean of its chains, or half way between thresholds. (k,) -> (k + 1,)."""
        modes, sizes = np.searchsorted(np.sort(turns), self.m), np.abs(self.m)
        numbers = np.bincount(modes, minlength=len(turns) + 1)
        sums = np.bincount(modes, sizes, minlength=len(turns) + 1)
        between = np.clip(np.abs(_middles(turns)), sizes.min(), sizes.max())
        return np.where(numbers > 0, sums / np.maximum(numbers, 1), between)

    def at(self, sizes: Array) -> Array:
        return np.asarray(np.polyval(self.coefficients, sizes**2), np.float64)


def ordered_path(machine: Layers, state: NDArray[np.uint64]) -> OrderedPath | None:
    """The path of this machine; None where it is not dense, or fewer than two of its units are collective."""
    path = _bare(machine)
    return None if path is None else _there(_back(path, state), state)


def path_along(machine: Layers, betas: Array, thresholds: Array) -> OrderedPath:
    """The path of a machine that has been recorded as `LogPartition` does."""
    path = _bare(machine)
    n_units = 0 if path is None else len(path.units)
    if path is None or thresholds.shape != (len(betas), n_units):
        wanted = f"({len(betas)}, {n_units}), one per rung and collective unit of this machine"
        raise InputError("shape of thresholds", thresholds.shape, wanted)
    if not np.allclose(thresholds[-1], path.thresholds[-1]):
        raise InputError("thresholds of the last rung", thresholds[-1], "the machine's own")
    return replace(path, betas=betas, thresholds=thresholds)


def _bare(machine: Layers) -> OrderedPath | None:
    """With thresholds that do not change. Where all sites have alike units, none is collective; a single one
    has no modes to choose from, and a guide does as well.
    """
    n = machine.n_visible
    if machine.kind != "rbm" or n < 2:
        return None
    pattern = preferred_pattern(machine)
    c = machine.hidden_inputs(np.zeros((1, n), machine.dtype))[0]
    b = machine.visible_inputs(np.zeros((1, machine.n_hidden), machine.dtype))[0]
    overlaps = (machine.hidden_inputs(pattern[None])[0] - c) / n
    units = np.flatnonzero(np.abs(overlaps) > COLLECTIVE * np.median(np.abs(overlaps)))
    if not 1 < len(units) < machine.n_hidden:
        return None
    weights, own = (part[units].astype(np.float64) for part in (overlaps, c))
    order = np.argsort(-own / weights)
    field = float(np.mean(b.astype(np.float64) * pattern))
    rest = (b - field * pattern).astype(machine.dtype)
    ends, both = np.array([0.0, 1.0]), np.tile(own[order], (2, 1))
    return OrderedPath(machine, units[order], pattern, weights[order], field, rest, ends, both)


def _back(path: OrderedPath, state: NDArray[np.uint64]) -> OrderedPath:
    """With thresholds that level the work of chains from 1 to 0, one rung after the other."""
    v, ones = path.start_in_all_modes(_CHAINS, state), np.ones(_CHAINS)
    for _ in range(_RELAXATION):
        path.gibbs(v, path.machine.hidden_inputs(v), ones, state)
    betas = np.linspace(0, 1, _RUNGS + 1)
    now = replace(path, betas=betas, thresholds=np.tile(path.thresholds[-1], (len(betas), 1)))
    for rung in range(_RUNGS, 0, -1):
        x = path.machine.hidden_inputs(v)
        gains = _gains(now, v, x, betas[rung], betas[rung - 1])
        now.thresholds[:rung] += now.levelled(gains, betas[rung])
        now.gibbs(v, x, np.full(_CHAINS, betas[rung - 1]), state)
    return now


def _there(path: OrderedPath, state: NDArray[np.uint64]) -> OrderedPath:
    """With thresholds that level the mean of the work from 0 to 1 and of that from 1 to 0.

    Work is lost either way, in some modes more than in others; the mean is free of it to first order. On the
    way back it is level already.
    """
    v, betas = path.start_in_all_modes(_CHAINS, state), path.betas
    changes = np.zeros((len(betas), len(path.units)))
    for rung in range(len(betas) - 1):
        x = path.machine.hidden_inputs(v)
        gains = _gains(path, v, x, betas[rung], betas[rung + 1])
        changes[rung] = -path.levelled(gains, betas[rung]) / 2
        path.gibbs(v, x, np.full(_CHAINS, betas[rung + 1]), state)
    return replace(path, thresholds=path.thresholds + np.cumsum(changes[::-1], axis=0)[::-1])


def _gains(path: OrderedPath, v: NDArray[Any], x: NDArray[Any], beta: float, to_beta: float) -> _Gains:
    """Of the chains v, with hidden inputs x, from one rung to the next."""
    m, here, there = path.magnetisation(v), np.full(len(v), beta), np.full(len(v), to_beta)
    coefficients = np.linalg.lstsq(np.vander(m**2, _TERMS), path.work(v, x, here, there), rcond=None)[0]
    return _Gains(coefficients.astype(np.float64), m)


def _middles(turns: Array) -> Array:
    """Places of the modes: half way between thresholds, as far beyond the outer ones. (k,) -> (k + 1,)."""
    between = (turns[1:] + turns[:-1]) / 2
    return np.concatenate([[2 * turns[0] - between[0]], between, [2 * turns[-1] - between[-1]]])


def _generator(state: NDArray[np.uint64]) -> np.random.Generator:
    """A generator of NumPy's that goes on from this state, which is advanced."""
    rng = np.random.default_rng([int(word) for word in state[:, 0]])
    skip_units(state, 1)
    return rng
