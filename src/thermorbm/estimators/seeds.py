"""Curves of several machines that differ in their seed alone: mean and error at each temperature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_NEIGHBOURS = 2  # on either side


def mean_over_seeds(
    values: Sequence[ArrayLike], stated: Sequence[ArrayLike], *, shared: bool = False
) -> tuple[Array, Array]:
    """Means and their errors, (n,) each. values, stated: for each of n temperatures one number per seed.

    The error is the largest of three: what the seeds state; what their scatter at this temperature shows; and
    what it shows around this temperature, in the mean of five. A few seeds may lie together by chance, and an
    error that is much too small at one point would pull a curve through it. nan where one seed alone states
    none. shared: the stated errors come from data that all seeds share, such as held-out configurations:
    the mean has them in full, and the scatter of the trainings beside them.
    """
    columns = [np.asarray(column, dtype=np.float64) for column in values]
    counts = np.array([len(column) for column in columns])
    variance = np.array([column.var(ddof=1) if len(column) > 1 else np.nan for column in columns])
    own = np.nan_to_num(variance)
    around = np.array([_mean_around(variance, place) for place in range(len(columns))])
    scatter = np.where(counts > 1, np.sqrt(np.maximum(own, around) / counts), np.nan)
    squares = np.array([np.sum(np.square(column)) for column in stated])
    means = np.array([column.mean() for column in columns])
    if shared:
        claimed = np.sqrt(squares / counts)
        return means, np.where(counts > 1, np.hypot(np.nan_to_num(claimed), scatter), claimed)
    return means, np.fmax(np.sqrt(squares) / counts, scatter)


def _mean_around(variance: Array, place: int) -> float:
    near = variance[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS + 1]
    known = near[np.isfinite(near)]
    return float(known.mean()) if len(known) else 0.0
