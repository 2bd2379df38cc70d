"""Stiff directions of both layers, and a gradient that does not overshoot along them.

Spins that order move together, and so do the hidden units that see them: near and below T_c the second
moments of each layer have one eigenvalue of order N (the magnetisation) and some large ones (long waves). The
curvature of the likelihood in W is about the product of the two, and spreads over four decades: a rate that
suits most directions makes the weights oscillate along a few, a rate that suits those leaves the rest behind.
So the gradient is scaled on both sides along the leading principal components, by the square root of
(limit / eigenvalue) where the eigenvalue exceeds the limit of its layer. This is half of what a Newton step
would do on a logarithmic scale; the full correction makes the order itself grow too slowly. The limits were
found by trial at n_v = 4096, n_h = 400; without ordering no eigenvalue reaches them.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.random import SeedSequence, default_rng

from thermorbm.dataset import Dataset
from thermorbm.training.layers import Parameters

VISIBLE_LIMIT, HIDDEN_LIMIT = 16.0, 4.0

_SAMPLES = 1024
# Updates between two looks at the hidden layer, whose directions change as it learns.
_REFRESH = 10


class StiffModes:
    """G -> (1 - P_h) G (1 - P_v), each P the part to be taken away along the leading directions of a layer.

    n_modes: directions in the visible layer, half as many in the hidden one. The visible directions come from
    the data once, the hidden ones from the hidden means of a batch now and then.
    """

    def __init__(
        self, data: Dataset, n_modes: int, n_hidden: int, seed: SeedSequence, device: torch.device
    ) -> None:
        rows = np.sort(default_rng(seed).permutation(len(data))[:_SAMPLES])
        spins = torch.from_numpy(data.select(rows).spins(0, len(rows)).astype(np.float32)).to(device)
        self._visible, self._visible_part = stiff_part(spins, n_modes, VISIBLE_LIMIT)
        empty = torch.zeros(n_hidden, max(1, n_modes // 2), device=device)
        self.state: Parameters = {"hidden": empty, "hidden_part": empty.clone()}

    def soften(self, gradient: torch.Tensor, hidden_means: torch.Tensor, update: int) -> torch.Tensor:
        """(n_hidden, n_visible) float32, changed in place: smaller along the stiff directions."""
        hidden, part = self.state["hidden"], self.state["hidden_part"]
        if update % _REFRESH == 0 and bool(torch.isfinite(hidden_means).all()):
            new = stiff_part(hidden_means.float(), hidden.shape[1], HIDDEN_LIMIT)
            for kept, found in zip((hidden, part), new, strict=True):
                kept.copy_(found)
        # (1 - P_h) G (1 - P_v) as one product of low rank taken off G.
        rows = hidden.t() @ gradient
        columns = gradient @ self._visible - part @ (rows @ self._visible)
        return gradient.addmm_(
            torch.cat([part, columns], 1), torch.cat([rows, self._visible_part.t()]), alpha=-1
        )


def stiff_part(rows: torch.Tensor, n_modes: int, limit: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Leading principal directions Q of rows (n, width), (width, n_modes), and Q D, P = Q D Q^T.

    D = 1 - (limit / eigenvalue)^(1/2), and directions with eigenvalues below the limit are left 0. The mean
    over rows is not taken off: the sign of the order is random.
    """
    n_rows, width = rows.shape
    if n_rows <= width:
        values, vectors = torch.linalg.eigh(rows @ rows.t() / n_rows)
        vectors = torch.nn.functional.normalize(rows.t() @ vectors[:, -n_modes:], dim=0)
    else:
        values, vectors = torch.linalg.eigh(rows.t() @ rows / n_rows)
        vectors = vectors[:, -n_modes:]
    shrink = 1 - (limit / values[-n_modes:].clamp(min=limit)).sqrt()
    directions = torch.zeros(width, n_modes, device=rows.device)
    directions[:, : vectors.shape[1]] = vectors * (shrink > 0)
    part = torch.zeros_like(directions)
    part[:, : vectors.shape[1]] = directions[:, : vectors.shape[1]] * shrink
    return directions, part
