"""What a symmetric machine is like before it has seen data: couplings are few, and small.

Cold data leave most directions of the filters open, and the noise of the gradient would drive the machine
along them, into modes that no chain from data ever sees. A prior closes them. It is one of the couplings of
the visible energy and not of the filters: a pull on filters is a pull on the coupling of neighbours too,
which data do know. For two spins it is Gaussian. For more spins it is a Student distribution, which holds
small couplings at 0 and lets go of those that data ask for.
"""

from __future__ import annotations

import numpy as np
import torch

from thermorbm.model.windows import window_products, window_states

# Precisions at 0, per site and at a rate of 1: of filters, so that no hidden unit copies a spin by a weight
# that nothing bounds; of couplings between two spins; of those between more, for which data have to speak up.
_FILTERS, _PAIRS, _MORE = 2e-6, 2e-5, 2.0
_WIDTH = 0.01  # of the Student distribution: a coupling of that size is held half as firmly
# The noise of the filters goes with the rate, and the prior with it. The part that goes with rate^2 is for
# the start, when noise meets a covariance that is not known well yet.
_START = 300.0
# Larger windows have too many states to go through at every update: there filters are all that is held.
_MOST_TAPS, _FILTERS_ALONE = 10, 1e-4


class CouplingPrior:
    """In nats per site. window: sides of the filters, shape: of the lattice."""

    def __init__(self, window: tuple[int, ...], shape: tuple[int, ...]) -> None:
        n_taps = int(np.prod(window))
        self._knows_couplings = n_taps <= _MOST_TAPS
        self._filters = _FILTERS if self._knows_couplings else _FILTERS_ALONE
        if self._knows_couplings:
            self._states = torch.from_numpy(window_states(n_taps))
            self._transform, self._precisions = _transform(window, shape)
            self._widths = torch.where(self._precisions == _PAIRS, torch.inf, _WIDTH)

    def pull(
        self, filters: torch.Tensor, hidden_bias: torch.Tensor, rate: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The gradient of its cost by the filters, and a curvature: that of couplings as linear functions.

        filters: (n_filters, n_taps) float64 -> (n_weights,), (n_weights, n_weights).
        """
        gradient = self._filters * filters.reshape(-1)
        curvature = torch.diag(torch.full_like(gradient, self._filters))
        if self._knows_couplings:
            couplings, slopes = self._couplings(filters, hidden_bias)
            precisions = self._precisions / (1 + (couplings / self._widths) ** 2)
            weighted = precisions[:, None] * slopes
            gradient = gradient + weighted.t() @ couplings
            curvature = curvature + weighted.t() @ slopes
        strength = rate * (1 + _START * rate)
        return strength * gradient, strength * curvature

    def _couplings(self, filters: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(n_products,), and their slopes by the filters, (n_products, n_weights)."""
        x = self._states @ filters.t() + bias
        slopes = torch.tanh(x)[:, :, None] * self._states[:, None, :]
        energies = torch.logaddexp(x, -x).sum(1)
        return self._transform @ energies, self._transform @ slopes.reshape(len(x), -1)


def _transform(window: tuple[int, ...], shape: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """From a function of the window's states to its couplings of two and more spins, and their precisions."""
    n_taps = int(np.prod(window))
    products = window_products(window, shape, n_taps)
    kept = sorted({product for product in products.values() if len(product) > 1})
    rows, numbers = {product: row for row, product in enumerate(kept)}, np.arange(1 << n_taps)
    transform = np.zeros((len(kept), len(numbers)))
    for number, product in products.items():
        if product in rows:
            transform[rows[product]] += (1.0 - 2.0 * (np.bitwise_count(numbers & number) & 1)) / len(numbers)
    precisions = [_PAIRS if len(product) == 2 else _MORE for product in kept]
    return torch.from_numpy(transform), torch.tensor(precisions, dtype=torch.float64)
