"""Stiff directions of both layers, and a gradient that does not overshoot along them.

Spins that order move together, and so do the hidden units that see them: near and below T_c the covariance
of each layer has one eigenvalue of order N (the magnetisation) and some large ones (long waves). The
curvature of the likelihood along the direction q_h q_v^T of W is the variance of (t.q_h)(v.q_v), t the hidden
means, and spreads over four decades: a rate that suits most directions makes the weights oscillate along a
few. A step is stable while rate * curvature < 2, so along the leading principal components of both layers,
where the curvature exceeds 1 / rate, the gradient is scaled down to that. Hidden units are taken as
saturated, as they will be: untrained ones show no curvature, and order would grow a hundredfold in an update.
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
ROUNDING = 1e-5


class StiffModes:
    """Scales a gradient of W along pairs of leading directions of the two layers.

    n_modes: directions of each layer that are looked at; what is orthogonal to them is taken as one. The
    visible directions come from the data once, the hidden ones from the hidden means of a batch now and then.
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
        self._visible, self._visible_rest = leading_modes(spins, min(n_modes, data.n_sites - 1))
        n_kept = min(n_modes, n_hidden - 1, batch_size - 1)
        n_visible_kept = self._visible.shape[1]
        self.state: Parameters = {
            "hidden": torch.zeros(n_hidden, n_kept, device=device),
            "curvature": torch.zeros(n_kept + 1, n_visible_kept + 1, device=device),
        }

    def soften(
        self, gradient: torch.Tensor, v: torch.Tensor, means: torch.Tensor, rate: float, update: int
    ) -> torch.Tensor:
        """(n_hidden, n_visible) float32, changed in place. v, means: a batch and its hidden means."""
        if update % _REFRESH == 0 and bool(torch.isfinite(means).all()):  # else the next record says diverged
            self._look(v.float(), means.float())
        hidden, visible = self.state["hidden"], self._visible
        excess = 1 - (rate * self.state["curvature"]).clamp(min=1.0).reciprocal()
        rows, columns = hidden.t() @ gradient, gradient @ visible
        both = rows @ visible
        # What goes: pairs of leading directions, then each layer's leading directions with the other's rest.
        pairs = excess[:-1, :-1] * both
        rows_off = excess[:-1, -1:] * (rows - both @ visible.t()) + pairs @ visible.t()
        columns_off = (columns - hidden @ both) * excess[-1:, :-1]
        return gradient.addmm_(
            torch.cat([hidden, columns_off], 1), torch.cat([rows_off, visible.t()]), alpha=-1
        )

    def _look(self, v: torch.Tensor, means: torch.Tensor) -> None:
        """Takes the hidden directions and all curvatures from one batch."""
        hidden, _ = leading_modes(means, self.state["hidden"].shape[1])
        a, b = (means @ hidden), (v @ self._visible)
        squares, product = (a * a), a.t() @ b / len(v)
        stiffest = (b * b).mean(0)
        curvature = self.state["curvature"]
        curvature[:-1, :-1] = (squares.t() @ (b * b) / len(v) - product * product).maximum(stiffest)
        curvature[:-1, -1] = squares.mean(0) * self._visible_rest
        curvature[-1, :-1] = stiffest
        curvature[-1, -1] = 0
        self.state["hidden"].copy_(hidden)


def leading_modes(rows: torch.Tensor, n_modes: int) -> tuple[torch.Tensor, float]:
    """Leading principal directions of rows (n, width), as columns, and the mean eigenvalue of the rest.

    The mean over rows is not taken off: the sign of the order is random.
    """
    n_modes = min(n_modes, len(rows) - 1)
    wide = rows.shape[1] > len(rows)  # the smaller of the two matrices has the same leading eigenvalues
    values, vectors = torch.linalg.eigh((rows @ rows.t() if wide else rows.t() @ rows) / len(rows))
    leading, kept = values[len(values) - n_modes :], vectors[:, len(values) - n_modes :]
    directions = torch.nn.functional.normalize(rows.t() @ kept, dim=0) if wide else kept.clone()
    directions *= leading > 1e-4 * values[-1]  # what is left of the others is rounding
    rest = float(values[: len(values) - n_modes].sum()) / (rows.shape[1] - n_modes)
    return directions, max(rest, 0.0)
