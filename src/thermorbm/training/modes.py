"""Stiff directions of both layers, and a gradient that does not overshoot along them.

Spins that order move together, and so do the hidden units that see them: near and below T_c the second
moments of each layer have one eigenvalue of order N (the magnetisation) and some large ones (long waves). The
curvature of the likelihood in W is about the product of the two, and spreads over four decades: a rate that
suits most directions makes the weights oscillate along a few, a rate that suits those leaves the rest behind.
So the gradient, a sum of products h v^T over configurations, is scaled on both sides along the leading
principal components; the rows v and h are scaled before their product is taken, which is cheaper than scaling
the product.

- Along stiff directions the factor is sqrt(limit / eigenvalue) where the eigenvalue exceeds the limit of its
  layer: half of what a Newton step would do on a logarithmic scale. Limits were found by trial at
  n_v = 4096, n_h = 400; without ordering no eigenvalue reaches them.
- Along the order of the data it is limit / eigenvalue for units that do not carry it. With more, their inputs
  are driven to where tanh is flat.
- Units that carry the order see it fluctuate about its mean, and its variance about it is their eigenvalue.
- The limit of the visible layer, and the rate, go with the spread of the data about their order: what is left
  to learn in the cold is as small as the number of turned spins. The rate goes with one over its square root,
  because one over the spread itself makes weights of no use diffuse (T = 1.5).

Softening is done in float32 whatever the type of the rows: of an ordered layer of n units sqrt(limit / n) is
left, a few per cent, and rounding to bfloat16 on the way differs between data and chains by as much, so that
both could cancel while the machine was still far from the data.
"""

from __future__ import annotations

import torch

from thermorbm.training.layers import Parameters
from thermorbm.training.order import Order

VISIBLE_LIMIT, HIDDEN_LIMIT = 16.0, 4.0

# Q^T and D Q^T, (n, width) each, P = Q D Q^T; n of them are stiff.
Directions = tuple[torch.Tensor, torch.Tensor]
# Updates between two looks at the hidden layer, whose directions change as it learns.
_REFRESH = 10
_LEAST_SPREAD = 0.02


class StiffModes:
    """The product of hidden and visible rows, each scaled along its leading directions.

    n_modes: directions in the visible layer beside the order, half as many in the hidden one. n_carriers: how
    many of the first hidden units carry the order; if none does, its directions are stiff ones like others.
    The visible directions come from the data once, the hidden ones from the hidden means of a batch now and
    then. After changing `state` call `refresh`.
    """

    def __init__(
        self, order: Order, n_modes: int, n_hidden: int, n_carriers: int, device: torch.device
    ) -> None:
        self._n_carriers = n_carriers
        spread = max(_LEAST_SPREAD, order.spread)
        self.rate_scale = spread**-0.5
        limit = VISIBLE_LIMIT * spread
        rows = torch.from_numpy(order.rows).to(device)
        along = torch.from_numpy(order.directions).to(device)[:n_carriers]
        sway = torch.from_numpy(order.sway).float().to(device)[:n_carriers]
        spans = (rows @ along.t()).square().mean(0)
        modes, part = _used(*stiff_part(rows - rows @ along.t() @ along, n_modes, limit))
        self._directions = torch.cat([along, modes])
        self._taken = torch.cat([along * _excess(spans, limit), part])
        self._taken_of_order = torch.cat([along * _excess(sway, limit), part])
        empty = torch.zeros(n_hidden, max(1, n_modes // 2), device=device)
        self.state: Parameters = {"hidden": empty, "hidden_part": empty.clone()}
        self.refresh()

    def look(self, hidden_means: torch.Tensor, update: int) -> None:
        """Finds the hidden directions again, at some updates, in the hidden means of a batch."""
        if update % _REFRESH or not bool(torch.isfinite(hidden_means).all()):
            return
        leading = stiff_part(hidden_means.float(), self.state["hidden"].shape[1], HIDDEN_LIMIT)
        for kept, new in zip(self.state.values(), leading, strict=True):
            kept.copy_(new)
        self.refresh()

    def refresh(self) -> None:
        """Makes the hidden directions ready for use."""
        self._hidden = _used(self.state["hidden"], self.state["hidden_part"])

    def product(self, v: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        """h^T v of rows (n, n_visible) and (n, n_hidden), smaller along the stiff directions."""
        soft_h = _without(h, *self._hidden)
        if not len(self._directions):
            return torch.mm(soft_h.t(), v)
        wide = v.float()
        along = self._directions @ wide.t()  # twice as quick as v @ directions^T, which is as narrow
        soft_v = torch.addmm(wide, along.t(), self._taken, alpha=-1).to(v.dtype)
        product = torch.mm(soft_h.t(), soft_v)
        if self._n_carriers:
            carriers = h[:, : self._n_carriers].float().t()
            product[: self._n_carriers] = carriers @ wide - (carriers @ along.t()) @ self._taken_of_order
        return product


def _excess(eigenvalues: torch.Tensor, limit: float) -> torch.Tensor:
    """1 - limit / eigenvalue where that is positive, as a column."""
    return 1 - (limit / eigenvalues.clamp(min=limit))[:, None]


def _used(directions: torch.Tensor, part: torch.Tensor) -> Directions:
    """Only the directions along which something is taken away: above T_c there may be none."""
    used = part.any(0)
    return directions[:, used].t().contiguous(), part[:, used].t().contiguous()


def _without(rows: torch.Tensor, directions: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    """rows (1 - P), P = directions^T part."""
    if not len(part):
        return rows
    wide = rows.float()
    along = directions @ wide.t()
    return torch.addmm(wide, along.t(), part, alpha=-1).to(rows.dtype)


def eigenvectors(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Of a symmetric matrix (n, n), float32: values (n,), ascending, and columns.

    Cold configurations are nearly all alike; their many equal eigenvalues may not converge in float32.
    """
    try:
        values, vectors = torch.linalg.eigh(matrix)
    except RuntimeError:  # torch's LinAlgError is one
        values, vectors = torch.linalg.eigh(matrix.double())
    return values.to(matrix.dtype), vectors.to(matrix.dtype)


def stiff_part(rows: torch.Tensor, n_modes: int, limit: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Leading principal directions Q of rows (n, width), (width, n_modes), and Q D, P = Q D Q^T.

    D = 1 - (limit / eigenvalue)^(1/2), and directions with eigenvalues below the limit are left 0. The mean
    over rows is not taken off: the sign of the order is random.
    """
    n_rows, width = rows.shape
    if n_rows <= width:
        values, vectors = eigenvectors(rows @ rows.t() / n_rows)
        vectors = torch.nn.functional.normalize(rows.t() @ vectors[:, -n_modes:], dim=0)
    else:
        values, vectors = eigenvectors(rows.t() @ rows / n_rows)
        vectors = vectors[:, -n_modes:]
    shrink = 1 - (limit / values[-n_modes:].clamp(min=limit)).sqrt()
    directions = torch.zeros(width, n_modes, device=rows.device)
    directions[:, : vectors.shape[1]] = vectors * (shrink > 0)
    part = torch.zeros_like(directions)
    part[:, : vectors.shape[1]] = directions[:, : vectors.shape[1]] * shrink
    return directions, part
