"""ln of a ratio of partition functions from the works of both directions (Bennett 1976)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from thermorbm.stats import Estimate

N_DRAWS = 200
_BISECTIONS = 60


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
    return _minus(log_mean(log_weights, generator))


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


def _minus(estimate: Estimate) -> Estimate:
    return Estimate(-estimate.value, estimate.error)
