"""Stiff directions of both layers, and a gradient that does not overshoot along them.

Spins that order move together, and so do the hidden units that see them: near and below T_c the covariance
of each layer has one eigenvalue of order N (the magnetisation) and a few large ones (long waves), a hundred
times the rest. A rate that suits the rest makes the weights oscillate along these, a rate that suits these
leaves the rest behind. The curvature of the likelihood in W is nearly the product of the two covariances, so
the gradient is scaled on both sides along the leading principal components, by the square root of (next
eigenvalue / eigenvalue): half of what a Newton step would do, because the full correction makes the order
itself grow too slowly.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.random import SeedSequence, default_rng

from thermorbm.dataset import Dataset
from thermorbm.training.dense import Parameters

_SAMPLES = 1024
# Updates between two looks at the hidden layer, whose directions change as it learns.
_REFRESH = 10


class StiffModes:
    """G -> (1 - P_h) G (1 - P_v), each P the part to be taken away along the leading directions of a layer.

    n_modes: directions in the visible layer, half as many in the hidden one. The visible directions come from
    the data once, the hidden ones from the hidden means of a batch now and then.
    """

    def __init__(
        self,
        data: Dataset,
        n_modes: int,
        n_hidden: int,
        batch_size: int,
        seed: SeedSequence,
        device: torch.device,
    ) -> None:
        rows = np.sort(default_rng(seed).permutation(len(data))[:_SAMPLES])
        spins = torch.from_numpy(data.select(rows).spins(0, len(rows)).astype(np.float32)).to(device)
        self._visible, self._visible_part = leading_modes(spins, n_modes)
        n_kept = min(max(1, n_modes // 2), n_hidden - 1, batch_size - 1)
        empty = torch.zeros(n_hidden, n_kept, device=device)
        self.state: Parameters = {"hidden": empty, "hidden_part": empty.clone()}

    def soften(self, gradient: torch.Tensor, hidden_means: torch.Tensor, update: int) -> torch.Tensor:
        """(n_hidden, n_visible) float32, changed in place: smaller along the stiff directions."""
        hidden, part = self.state["hidden"], self.state["hidden_part"]
        if update % _REFRESH == 0 and hidden.shape[1]:
            for kept, new in zip(
                (hidden, part), leading_modes(hidden_means.float(), hidden.shape[1]), strict=True
            ):
                kept.copy_(new)
        # (1 - P_h) G (1 - P_v) as one product of low rank taken off G.
        rows = hidden.t() @ gradient
        columns = gradient @ self._visible - part @ (rows @ self._visible)
        return gradient.addmm_(
            torch.cat([part, columns], 1), torch.cat([rows, self._visible_part.t()]), alpha=-1
        )


def leading_modes(rows: torch.Tensor, n_modes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Leading principal directions Q of rows (n, width), (width, n_modes), and Q D.

    D = 1 - (next eigenvalue / eigenvalue)^(1/2). The mean is not taken off: the sign of the order is random.
    """
    n_modes = min(n_modes, len(rows) - 1, rows.shape[1] - 1)
    values, vectors = torch.linalg.eigh(rows @ rows.t() / len(rows))
    values, vectors = values.flip(0).clamp(min=1e-6), vectors.flip(1)
    directions = torch.nn.functional.normalize(rows.t() @ vectors[:, :n_modes], dim=0)
    return directions, directions * (1 - (values[n_modes] / values[:n_modes]).sqrt())
