"""Chains that are carried along a path of machines, and the work it takes: annealed importance sampling.

Of a chain that starts in equilibrium at the first rung, exp(ln w) has the mean Z_last / Z_first (Jarzynski
1997, Neal 2001), whatever the number of rungs. The step v -> h -> v at each rung obeys detailed balance, so
that the way back is the reverse process of the way there. The works of both directions give one value
(Bennett 1976), and those of a first run say where along the path the rungs should stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from thermorbm.model.path import Path
from thermorbm.stats import Estimate

Tick = Callable[[], None]  # called after every rung
N_DRAWS = 200
_BISECTIONS = 60
WINDOWS = 32
_QUARTILES = 1.349  # distance of a normal distribution's quartiles in standard deviations
_LEAST_SHARE = 0.1  # of the mean density of rungs, where the works hardly vary


@dataclass(frozen=True, eq=False)
class Anneal:
    """works: (n_rungs, n), what each rung added to ln w of each chain."""

    works: NDArray[np.float64]

    @property
    def log_weights(self) -> NDArray[np.float64]:
        """ln w, (n,)."""
        return np.asarray(self.works.sum(axis=0))


def anneal(
    path: Path,
    betas: NDArray[np.float64],
    v: NDArray[Any],
    state: NDArray[np.uint64],
    tick: Tick = lambda: None,
) -> Anneal:
    """Carries the chains v, (n, n_visible) in the machine's type, from betas[0] to betas[-1], in place."""
    works = np.empty((len(betas) - 1, len(v)))
    for rung, work in enumerate(_carried(path, betas, v, state)):
        works[rung] = work
        tick()
    return Anneal(works)


def population(
    path: Path,
    betas: NDArray[np.float64],
    v: NDArray[Any],
    state: NDArray[np.uint64],
    generator: np.random.Generator,
    tick: Tick = lambda: None,
) -> NDArray[np.intp]:
    """The same with resampling: whenever few chains carry most of the weight, chains are copied by weight.

    At the end the chains, all of equal weight, stand for the distribution at betas[-1], modes in their right
    proportion as far as the chains found them. Returns the first ancestor of each chain, (n,).
    """
    families = np.arange(len(v))
    log_weights = np.zeros(len(v))
    for rung, work in enumerate(_carried(path, betas, v, state), start=2):
        log_weights += work
        if effective_number(log_weights) < len(v) / 2 or rung == len(betas):
            kept = _systematic(log_weights, generator)
            v[:], families = v[kept], families[kept]
            log_weights[:] = 0
        tick()
    return families


def relax(
    path: Path, v: NDArray[Any], n_steps: int, state: NDArray[np.uint64], tick: Tick = lambda: None
) -> None:
    """Gibbs steps of the machine itself, in place."""
    ones = np.ones(len(v))
    for _ in range(n_steps):
        path.gibbs(v, path.machine.hidden_inputs(v), ones, state)
        tick()


def effective_number(log_weights: NDArray[np.float64]) -> float:
    """(sum w)^2 / sum w^2: how many equally weighted chains these are worth."""
    return float(np.exp(2 * logsumexp(log_weights) - logsumexp(2 * log_weights)))


def _carried(
    path: Path, betas: NDArray[np.float64], v: NDArray[Any], state: NDArray[np.uint64]
) -> Iterator[NDArray[np.float64]]:
    """The work of each rung in turn, after the chains have moved there."""
    for beta, to_beta in pairwise(betas):
        here, there = np.full(len(v), beta), np.full(len(v), to_beta)
        x = path.machine.hidden_inputs(v)
        work = path.work(v, x, here, there)
        path.gibbs(v, x, there, state)
        yield work


def _systematic(log_weights: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.intp]:
    """n places, each as often as its weight says, to within one copy."""
    n = len(log_weights)
    shares = np.cumsum(np.exp(log_weights - logsumexp(log_weights)))
    marks = (np.arange(n) + generator.random()) / n
    return np.minimum(np.searchsorted(shares, marks), n - 1)


@dataclass(frozen=True)
class Crossing:
    """What forward and reverse chains say of d = ln Z_last - ln Z_first, in nats.

    value: Bennett's estimate. forward: ln of the mean weight, at most d in expectation. reverse: the same of
    the way back, at least d in expectation if its chains started in equilibrium. Errors of both by
    bootstrap over chains. overlap: between 0 and 1, the share of chains of either direction that the other
    one could have made too.
    """

    value: Estimate
    forward: Estimate
    reverse: Estimate
    overlap: float


def crossing(
    forward: NDArray[np.float64], reverse: NDArray[np.float64], generator: np.random.Generator
) -> Crossing:
    """From ln w of chains that went from first to last, (n,), and of chains that went back, (m,)."""
    value = bennett(forward, reverse)
    return Crossing(
        value,
        log_mean(forward, generator),
        reverse_bound(reverse, generator),
        _overlap(forward - value.value, reverse + value.value),
    )


def bennett(forward: NDArray[np.float64], reverse: NDArray[np.float64]) -> Estimate:
    """The root d of sum expit(f - d - m) = sum expit(r + d + m), m = ln of n_f / n_r, by bisection.

    Its error is that of the difference of the two sums over the slope of it, the first order of a bootstrap.
    """
    m = np.log(len(forward) / len(reverse))
    low = min(forward.min(), -reverse.max()) - abs(m) - 1
    high = max(forward.max(), -reverse.min()) + abs(m) + 1
    for _ in range(_BISECTIONS):
        d = (low + high) / 2
        log_p, log_q = log_expit(forward - d - m), log_expit(reverse + d + m)
        low, high = (d, high) if logsumexp(log_p) > logsumexp(log_q) else (low, d)
    largest = max(log_p.max(), log_q.max())  # works far apart must not underflow
    p, q = np.exp(log_p - largest), np.exp(log_q - largest)
    slope = (p * -np.expm1(log_p)).sum() + (q * -np.expm1(log_q)).sum()
    noise = np.sqrt(len(p) * p.var(ddof=1) + len(q) * q.var(ddof=1))
    return Estimate(float(d), float(noise / slope))


def reverse_bound(log_weights: NDArray[np.float64], generator: np.random.Generator) -> Estimate:
    """Minus ln of the mean weight of chains that went back, (n,), with its error."""
    bound = log_mean(log_weights, generator)
    return Estimate(-bound.value, bound.error)


def _overlap(forward: NDArray[np.float64], reverse: NDArray[np.float64]) -> float:
    """1 where both directions need the same work, 0 where no chain of one could be of the other."""
    return float(expit(forward).mean() + expit(reverse).mean())


def log_mean(log_weights: NDArray[np.float64], generator: np.random.Generator) -> Estimate:
    """ln of the mean weight, with its error over resampled chains."""
    largest = log_weights.max()
    weights = np.exp(log_weights - largest)
    counts = generator.multinomial(len(weights), np.full(len(weights), 1 / len(weights)), size=N_DRAWS)
    draws = np.log(counts @ weights + np.finfo(float).tiny)  # the rest may underflow
    return Estimate(float(np.log(weights.mean()) + largest), float(np.std(draws, ddof=1)))


def work_lengths(works: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Ends of windows, (n_windows + 1,) rung numbers, and the length of each window, (n_windows,).

    The variance over chains of the work in a window falls as one over its number of rungs, and includes how
    slowly chains forget: length^2 = variance * number of rungs is what remains. With n rungs evenly spaced in
    length the variance of ln w is about (total length)^2 / n, the least possible (Crooks 2007). They come
    from quartiles, because a few chains may be caught in metastable states, and more rungs do not mend that.
    """
    n_rungs = len(works)
    ends = np.unique(np.linspace(0, n_rungs, min(WINDOWS, n_rungs) + 1).round().astype(np.intp))
    sums = np.add.reduceat(works, ends[:-1], axis=0)
    low, high = np.quantile(sums, [0.25, 0.75], axis=1)
    lengths = (high - low) / _QUARTILES * np.sqrt(np.diff(ends))
    if len(lengths) > 2:  # smooth over neighbouring windows, because each length alone is noisy
        padded = np.concatenate([lengths[:1], lengths, lengths[-1:]])
        lengths = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    return ends, lengths


def placed(betas: NDArray[np.float64], works: NDArray[np.float64], n_rungs: int) -> NDArray[np.float64]:
    """n_rungs + 1 inverse temperatures from betas[0] to betas[-1], evenly spaced in length."""
    ends, lengths = work_lengths(works)
    steps = lengths + _LEAST_SHARE * lengths.mean() + np.finfo(float).tiny
    along = np.concatenate([[0.0], np.cumsum(steps)])
    new = np.interp(np.linspace(0, along[-1], n_rungs + 1), along, betas[ends])
    new[0], new[-1] = betas[0], betas[-1]
    return new
