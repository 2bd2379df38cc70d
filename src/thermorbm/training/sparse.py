"""A prior that keeps weights at zero which the data do not ask for.

A dense machine has hundreds of weights per spin, and each follows chance as far as n configurations leave it
free: 400 weights per spin cost up to 400 / (2 n) nats per spin on data that training has not seen, 0.004 for
n = 50 000, as much as there is to learn in the cold. The gradient of a weight scatters by about
sqrt(spread / n) over datasets of n configurations, spread being the variance of a spin about the order (see
training.order). A pull of some such errors towards zero, the same for weights of all sizes (Tibshirani 1996),
takes away what is chance and hardly moves a weight that matters.

Zero is the level at which a filter follows the order and nothing else: filters are balanced against the order
by small weights of all sites together. What a filter has of the order, its sum, is left as it is, for the
gradient along the order is weak by design (training.modes) and could not hold it against the pull.
"""

from __future__ import annotations

import math

import torch

from thermorbm.training.order import Order

# Updates between two pulls.
_EVERY = 8
# Weights further than this from the level of their filter do not count for it.
_NEAR = 0.05


class SparsePrior:
    """strength: of the pull, in standard errors of the gradient. The first n_carriers units are
    left alone.
    """

    def __init__(
        self, order: Order, strength: float, n_samples: int, n_carriers: int, device: torch.device
    ) -> None:
        self._pull = strength * math.sqrt(order.spread / n_samples)
        self._n_carriers = n_carriers
        self._signs = torch.from_numpy(order.signs).float().to(device)
        self._directions = torch.from_numpy(order.directions).to(device)

    def pull(self, W: torch.Tensor, rate: float, update: int) -> None:
        """Moves the weights of filters towards the level of their filter, in place, now and then."""
        if (update + 1) % _EVERY:
            return
        filters = W[self._n_carriers :]
        turned = filters * self._signs
        level = turned.clamp(-_NEAR, _NEAR).mean(1, keepdim=True)
        level = turned.clamp(level - _NEAR, level + _NEAR).mean(1, keepdim=True)
        away = torch.nn.functional.softshrink(turned - level, _EVERY * rate * self._pull)
        change = (away + level) * self._signs - filters
        filters += change - change @ self._directions.t() @ self._directions
