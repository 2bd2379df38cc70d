"""Do parallel chains agree with one another?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri  # scipy.stats takes half a second to import

from thermorbm.errors import InputError


def split_r_hat(series: ArrayLike) -> float:
    """Split R-hat (Gelman & Rubin, each chain cut in half) of (n_steps >= 4, n_chains); 1 when all agree."""
    x = np.asarray(series, dtype=np.float64)
    if x.ndim != 2 or len(x) < 4:
        raise InputError("series", x.shape, "an array (n_steps >= 4, n_chains)")
    half = len(x) // 2
    halves = np.concatenate([x[:half], x[-half:]], axis=1)
    within = float(halves.var(axis=0, ddof=1).mean())
    between = float(halves.mean(axis=0).var(ddof=1))
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def split_r_hat_limit(n_steps: int, n_chains: int, probability: float) -> float:
    """The split R-hat that independent normal values (n_steps, n_chains) exceed with that probability.

    n B / W, with the variances between and within half-chains of n steps, then follows the F distribution.
    """
    half, n_halves = n_steps // 2, 2 * n_chains
    largest = float(fdtri(n_halves - 1, n_halves * (half - 1), 1 - probability))
    return float(np.sqrt((half - 1 + largest) / half))


def difference_z_score(first: ArrayLike, second: ArrayLike) -> float:
    """Difference of the means of two sets of independent values, in standard errors."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(a) < 2 or len(b) < 2:
        raise InputError("sample sizes", (len(a), len(b)), "two or more each")
    distance = a.mean() - b.mean()
    error = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    if distance == 0:
        return 0.0
    return float(distance / error) if error > 0 else float(np.copysign(np.inf, distance))
