"""The natural gradient: steps of equal length in the distribution, not in the parameters.

A machine with shared filters has so few parameters that their Fisher information, the covariance of
-dE/dtheta over configurations, is a small matrix. Dividing the gradient by it makes every
direction converge alike, and the machine comes closer to the data in hundreds of updates than in thousands of
Adam's.

A prior says what a symmetric machine is like before it has seen data: couplings are few, and small. Cold data
leave most directions of the filters open, and the noise of the gradient would drive the machine along them,
into modes that no chain from data ever sees. The prior is one of the couplings of the visible energy and not
of the filters: a pull on filters is a pull on the coupling of neighbours too, which data do know. For two
spins it is Gaussian. For more spins it is a Student distribution, which holds small couplings at 0 and lets
go of those that data ask for.
"""

from __future__ import annotations

import numpy as np
import torch

from thermorbm.errors import InputError
from thermorbm.model.windows import window_products, window_states
from thermorbm.training.layers import Parameters
from thermorbm.training.symmetric import SharedFilters

# Precisions at 0, per site and at a rate of 1: of filters, so that no hidden unit copies a spin by a weight
# that nothing bounds; of couplings between two spins; of those between more, for which data have to speak up.
_FILTERS, _PAIRS, _MORE = 2e-6, 2e-5, 2.0
_WIDTH = 0.01  # of the Student distribution: a coupling of that size is held half as firmly
# The noise of the filters goes with the rate, and the prior with it. The part that goes with rate^2 is for
# the start, when noise meets a covariance that is not known well yet.
_START = 300.0
# Larger windows have too many states to go through at every update: there filters are all that is held.
_MOST_TAPS, _FILTERS_ALONE = 10, 1e-4
MOST_PARAMETERS = 2048
# The covariance is averaged over about twenty updates, and over the data as well as the chains of the model:
# those of a slow machine alone are fewer independent configurations than there are parameters.
_MEMORY = 0.95
# Added to every diagonal element, as a part of itself.
_RELATIVE_DAMPING = 1e-3
# Kullback-Leibler distance per site that one update may move the machine, nats.
_LONGEST_STEP = 0.0025
# In a field the machine starts near its goal: it waits until the covariance is known, and then goes slowly.
_WAIT, _FIELD_RATE = 20, 0.25


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


class NaturalGradient:
    """Covariance of the statistics, and the gradient divided by it.

    names: of the parameters that move, filters first; biases wait until update `biases_from`. Filters and
    biases are divided by a matrix each: were the machine to follow chance correlations of the two, chains
    that all have one sign would pull the filters. That of the biases is the second moment and not the
    covariance, which all but vanishes when all chains have one sign, and would let the biases jump.
    Where a machine starts with a visible bias, the data have one sign and all of this would be wrong: then
    filters and visible bias move together from the first update on, divided by one covariance. Hidden biases
    stay 0: they make products of three spins, which a magnetised lattice cannot tell from a field.
    """

    def __init__(self, layers: SharedFilters, names: list[str], biases_from: int) -> None:
        # Then one sign is the right one; else a sign is chance, and must not pull the filters.
        self._in_field = bool(layers.parameters["visible_bias"] != 0) and "visible_bias" in names
        self._layers, self._biases_from = layers, biases_from
        self._shapes = {name: layers.parameters[name].shape for name in names}
        self._n_weights = self._shapes["filters"].numel()
        size = sum(shape.numel() for shape in self._shapes.values())
        if size > MOST_PARAMETERS:
            remedy = "choose natural=False with optimizer='adam'"
            raise InputError("natural", f"{size} parameters", f"at most {MOST_PARAMETERS}", remedy)
        self._prior = CouplingPrior(layers.window, layers.shape)
        # On the CPU whatever the device: the matrix is small.
        self.state: Parameters = {"covariance": torch.zeros(size, size, dtype=torch.float64)}

    def gradient(
        self,
        data_v: torch.Tensor,
        data_h: torch.Tensor,
        model_v: torch.Tensor,
        model_h: torch.Tensor,
        *,
        rate: float,
        update: int,
    ) -> Parameters:
        """The natural gradient by parameter name; shorter where `rate` times it would be too long a step."""
        data, model = self._rows(data_v, data_h), self._rows(model_v, model_h)
        plain = data.mean(0) - model.mean(0)
        metric = self._metric(data, model, update)
        n = self._n_weights
        pull, curvature = self._pull(rate)
        plain[:n] -= self._layers.n_sites * pull
        metric[:n, :n] += self._layers.n_sites * curvature
        natural = self._divided(plain, metric, update)
        length = rate**2 * float(plain @ natural) / 2
        natural *= min(1.0, (_LONGEST_STEP * self._layers.n_sites / length) ** 0.5) if length > 0 else 1.0
        return self._parts(natural.to(self._layers.device, torch.float32))

    def _divided(self, plain: torch.Tensor, metric: torch.Tensor, update: int) -> torch.Tensor:
        """The gradient divided by the metric, as a whole or filters and biases each by its own."""
        n, natural = self._n_weights, torch.zeros_like(plain)
        if self._in_field:
            moving = n + 1  # filters and the visible bias, which follows them
            if update >= _WAIT:
                whole = torch.linalg.solve(metric[:moving, :moving], plain[:moving])
                natural[:moving] = _FIELD_RATE * whole
            return natural
        natural[:n] = torch.linalg.solve(metric[:n, :n], plain[:n])
        if update >= self._biases_from:
            natural[n:] = torch.linalg.solve(metric[n:, n:], plain[n:])
        return natural

    def _pull(self, rate: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradient of the prior by the filters, (n,), and its curvature, (n, n)."""
        filters = self._layers.all_filters.double().cpu()
        biases = self._layers.all_biases.double().cpu()
        pull, curvature = self._prior.pull(filters.reshape(len(filters), -1), biases, rate)
        half = self._layers.fold(curvature).reshape(len(curvature), -1)
        return self._layers.fold(pull[None]).reshape(-1), self._layers.fold(half.t()).reshape(
            half.shape[1], -1
        )

    def _parts(self, vector: torch.Tensor) -> Parameters:
        parts, start = {}, 0
        for name, shape in self._shapes.items():
            parts[name] = vector[start : start + shape.numel()].reshape(shape)
            start += shape.numel()
        return parts

    def _metric(self, data: torch.Tensor, model: torch.Tensor, update: int) -> torch.Tensor:
        """The damped covariance, averaged over both phases and the last updates."""
        covariance = self.state["covariance"]
        now = (self._moments(data) + self._moments(model)) / 2
        covariance.lerp_(now, 1 - _MEMORY)
        metric = covariance / (1 - _MEMORY ** (update + 1))
        return metric + torch.diag(_RELATIVE_DAMPING * metric.diagonal())

    def _moments(self, rows: torch.Tensor) -> torch.Tensor:
        """Covariance of what belongs to the filters; second moments of biases, unless there is a field."""
        rows = rows.clone()
        centred = rows.shape[1] if self._in_field else self._n_weights
        rows[:, :centred] -= rows[:, :centred].mean(0)
        return rows.t() @ rows / max(1, len(rows) - 1)

    def _rows(self, v: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        """The statistics of each row, (n, number of parameters) float64."""
        statistics = self._layers.statistics(v, h)
        return torch.cat([statistics[name].reshape(len(v), -1) for name in self._shapes], 1).cpu()
