"""Stiff directions of both layers, and a gradient that does not overshoot along them.

Spins that order move together, and so do the hidden units that see them: near and below T_c the second
moments of each layer have one eigenvalue of order N (the magnetisation) and some large ones (long waves). The
curvature of the likelihood in W is about the product of the two, and spreads over four decades: a rate that
suits most directions makes the weights oscillate along a few, a rate that suits those leaves the rest behind.
So the gradient, a sum of products h v^T over configurations, is scaled on both sides along the leading
principal components, by the square root of (limit / eigenvalue) where the eigenvalue exceeds the limit of its
layer; the rows v and h are scaled before their product is taken, which is cheaper than scaling the product.
This is half of what a Newton step would do on a logarithmic scale; the full correction makes the order itself
grow too slowly. The limits were found by trial at n_v = 4096, n_h = 400; without ordering no eigenvalue
reaches them.

Softening is done in float32 whatever the type of the rows: of an ordered layer of n units sqrt(limit / n) is
left, a few per cent, and rounding to bfloat16 on the way differs between data and chains by as much, so that
both could cancel while the machine was still far from the data.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.random import SeedSequence, default_rng

from thermorbm.dataset import Dataset
from thermorbm.training.layers import Parameters

VISIBLE_LIMIT, HIDDEN_LIMIT = 16.0, 4.0

_SAMPLES = 1024
# Q^T and D Q^T, (n, width) each, P = Q D Q^T; n of them are stiff.
Directions = tuple[torch.Tensor, torch.Tensor]
# Updates between two looks at the hidden layer, whose directions change as it learns.
_REFRESH = 10


class StiffModes:
    """v -> v (1 - P_v), h -> h (1 - P_h), each P the part to be taken away along leading directions.

    n_modes: directions in the visible layer, half as many in the hidden one. The visible directions come from
    the data once, the hidden ones from the hidden means of a batch now and then. After changing `state` call
    `refresh`.
    """

    def __init__(
        self,
        data: Dataset,
        n_modes: int,
        n_hidden: int,
        seed: SeedSequence,
        device: torch.device,
    ) -> None:
        rows = np.sort(default_rng(seed).permutation(len(data))[:_SAMPLES])
        spins = torch.from_numpy(data.select(rows).spins(0, len(rows)).astype(np.float32)).to(device)
        self._visible = _used(*stiff_part(spins, n_modes, VISIBLE_LIMIT, frozen=True))
        empty = torch.zeros(n_hidden, max(1, n_modes // 2), device=device)
        self.state: Parameters = {"hidden": empty, "hidden_part": empty.clone()}
        self.refresh()

    def look(self, hidden_means: torch.Tensor, update: int) -> None:
        """Finds the hidden directions again, at some updates, in the hidden means of a batch."""
        if update % _REFRESH or not bool(torch.isfinite(hidden_means).all()):
            return
        found = stiff_part(hidden_means.float(), self.state["hidden"].shape[1], HIDDEN_LIMIT)
        for kept, new in zip(self.state.values(), found, strict=True):
            kept.copy_(new)
        self.refresh()

    def refresh(self) -> None:
        """Makes the hidden directions ready for use."""
        self._hidden = _used(self.state["hidden"], self.state["hidden_part"])

    def soften(self, v: torch.Tensor, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of both layers, smaller along the stiff directions; shapes and type as they came."""
        return _without(v, *self._visible), _without(h, *self._hidden)


def _used(directions: torch.Tensor, part: torch.Tensor) -> Directions:
    """Only the directions along which something is taken away: above T_c there may be none."""
    used = part.any(0)
    return directions[:, used].t().contiguous(), part[:, used].t().contiguous()


def _without(rows: torch.Tensor, directions: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    """rows (1 - P), P = directions^T part."""
    if not len(part):
        return rows
    wide = rows.float()
    along = directions @ wide.t()  # twice as quick as rows @ directions^T, which is as narrow
    return torch.addmm(wide, along.t(), part, alpha=-1).to(rows.dtype)


def stiff_part(
    rows: torch.Tensor, n_modes: int, limit: float, frozen: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Leading principal directions Q of rows (n, width), (width, n_modes), and Q D, P = Q D Q^T.

    D = 1 - (limit / eigenvalue)^(1/2), and directions with eigenvalues below the limit are left 0. The mean
    over rows is not taken off: the sign of the order is random. A direction that holds nearly all of the
    variance is frozen order and no stiff one, and softened it would grow too slowly: with `frozen`, an
    eigenvalue beyond half of the variance counts the less the more of it there is.
    """
    n_rows, width = rows.shape
    if n_rows <= width:
        values, vectors = torch.linalg.eigh(rows @ rows.t() / n_rows)
        vectors = torch.nn.functional.normalize(rows.t() @ vectors[:, -n_modes:], dim=0)
    else:
        values, vectors = torch.linalg.eigh(rows.t() @ rows / n_rows)
        vectors = vectors[:, -n_modes:]
    values = values[-n_modes:]
    if frozen:
        values = values * (2 * (1 - values / width)).clamp(max=1)
    shrink = 1 - (limit / values.clamp(min=limit)).sqrt()
    directions = torch.zeros(width, n_modes, device=rows.device)
    directions[:, : vectors.shape[1]] = vectors * (shrink > 0)
    part = torch.zeros_like(directions)
    part[:, : vectors.shape[1]] = directions[:, : vectors.shape[1]] * shrink
    return directions, part
