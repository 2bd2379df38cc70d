"""Stiff directions of the data, and a gradient that does not overshoot along them.

Spins that order move together: near and below T_c the covariance of the data has one eigenvalue of order
N m^2 (the magnetisation) and a few large ones (long waves), a hundred times the rest. A rate that suits the
rest makes the weights oscillate along these, and a rate that suits these leaves the rest behind. Scaling the
gradient of W along the leading principal components down to the size of the next one lets one rate suit all.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.random import SeedSequence, default_rng

from thermorbm.dataset import Dataset

_SAMPLES = 1024


class StiffModes:
    """G -> G - G Q D Q^T with Q the leading directions and D = 1 - (next eigenvalue / eigenvalue)."""

    def __init__(self, data: Dataset, n_modes: int, seed: SeedSequence, device: torch.device) -> None:
        n_modes = min(n_modes, len(data) - 1, data.n_sites - 1)
        rows = np.sort(default_rng(seed).permutation(len(data))[:_SAMPLES])
        spins = data.select(rows).spins(0, len(rows)).astype(np.float32)
        values, vectors = np.linalg.eigh(spins @ spins.T / len(spins))
        values, vectors = np.maximum(values[::-1], 1e-6), vectors[:, ::-1]
        directions = spins.T @ vectors[:, :n_modes]
        directions /= np.linalg.norm(directions, axis=0)
        shrink = 1 - values[n_modes] / values[:n_modes]
        self._directions = torch.from_numpy(np.ascontiguousarray(directions)).to(device)
        self._shrunk = self._directions * torch.from_numpy(shrink.astype(np.float32)).to(device)

    def soften(self, gradient: torch.Tensor) -> torch.Tensor:
        """(n_hidden, n_visible) float32 -> the same, smaller along the stiff directions."""
        return gradient - (gradient @ self._directions) @ self._shrunk.t()
