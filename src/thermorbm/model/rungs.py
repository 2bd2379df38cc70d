"""Where along the path the rungs should stand, from the work that a first run needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WINDOWS = 32
_QUARTILES = 1.349  # distance of a normal distribution's quartiles in standard deviations
_LEAST_SHARE = 0.1  # of the mean density of rungs, where the works hardly vary


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
