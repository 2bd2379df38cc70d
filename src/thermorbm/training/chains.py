"""The negative phase: configurations of the model, from chains that start at the data or that never stop."""

from __future__ import annotations

from typing import Protocol

import torch

from thermorbm.training.layers import Parameters, TensorLayers
from thermorbm.training.units import UnitSource

_UPDATES_BETWEEN_REVERSALS = 8

# Configurations and the means of the hidden units given them.
Phase = tuple[torch.Tensor, torch.Tensor]


class Chains(Protocol):
    """Where the model's configurations come from."""

    state: Parameters

    def negative_phase(self, v: torch.Tensor, x: torch.Tensor, update: int) -> Phase:
        """Model configurations and hidden means, given the batch v and its hidden inputs x."""


class DataChains:
    """CD-k: k Gibbs steps from the batch itself."""

    def __init__(self, layers: TensorLayers, units: UnitSource, steps: int) -> None:
        self._layers, self._units, self._steps = layers, units, steps
        self.state: Parameters = {}

    def negative_phase(self, v: torch.Tensor, x: torch.Tensor, update: int) -> Phase:
        for _ in range(self._steps):
            v = self._units.draw(self._layers.visible_inputs(self._units.draw(x)))
            x = self._layers.hidden_inputs(v)
        return v, self._layers.hidden_means(x)


class PersistentChains:
    """PCD-k. Configurations enter the gradient before they move, so that their hidden inputs are computed
    once, with current weights.

    Chains of an ordered machine never change the sign of m by themselves, and biases would grow without end
    to make up for a few more chains of one sign: now and then each chain is reversed as a whole, with the
    Metropolis probability.

    Up to update `fresh_until`, on average `n_fresh` chains per update start anew at data, in turn: chains
    that are caught in a place where the machine ought not to be come back.
    """

    def __init__(
        self,
        layers: TensorLayers,
        units: UnitSource,
        steps: int,
        start: torch.Tensor,
        n_fresh: float = 0.0,
        fresh_until: int = 0,
    ) -> None:
        """start: (n_chains, n_visible)."""
        self._layers, self._units, self._steps = layers, units, steps
        self._n_all, self._n_fresh, self._fresh_until = len(start), n_fresh, fresh_until
        self.state: Parameters = {"chains": start.clone()}

    def negative_phase(self, v: torch.Tensor, x: torch.Tensor, update: int) -> Phase:
        chains = self.state["chains"]
        self._replace_some(chains, v, update)
        inputs = self._layers.hidden_inputs(chains)
        if (update + 1) % _UPDATES_BETWEEN_REVERSALS == 0:
            self._reverse(chains, inputs)
        shown = chains.clone(), self._layers.hidden_means(inputs)
        for step in range(self._steps):
            chains.copy_(self._units.draw(self._layers.visible_inputs(self._units.draw(inputs))))
            if step + 1 < self._steps:
                inputs = self._layers.hidden_inputs(chains)
        return shown

    def _replace_some(self, chains: torch.Tensor, v: torch.Tensor, update: int) -> None:
        """Starts some chains anew, at rows of v."""
        if update >= self._fresh_until:
            return
        numbers = range(int(update * self._n_fresh), int((update + 1) * self._n_fresh))
        if numbers:
            places = torch.tensor([number % self._n_all for number in numbers])
            self._put(chains, places, v[: len(numbers)])

    def _put(self, chains: torch.Tensor, places: torch.Tensor, fresh: torch.Tensor) -> None:
        chains[places] = fresh

    def _reverse(self, chains: torch.Tensor, inputs: torch.Tensor) -> None:
        """v -> -v with the Metropolis probability, in place: chains and their inputs."""
        cost = self._layers.reversal_cost(chains, inputs)
        turned = self._units.draw(unit_input(-cost)) > 0
        chains[turned] = -chains[turned]
        inputs[turned] = self._layers.reversed_inputs(inputs[turned])


class WarmChains:
    """CD until update `persistent_from`, then PCD.

    Persistent chains of a machine that is far from the data near T_c fall into the wrong phase, and it can
    take thousands of updates to come back; chains that start at the data teach it the short distances first,
    with less noise. CD alone is not in equilibrium near T_c.
    """

    def __init__(self, data: DataChains, persistent: PersistentChains, persistent_from: int) -> None:
        self._data, self._persistent, self._persistent_from = data, persistent, persistent_from
        self.state: Parameters = persistent.state

    def negative_phase(self, v: torch.Tensor, x: torch.Tensor, update: int) -> Phase:
        if update < self._persistent_from:
            return self._data.negative_phase(v, x, update)
        return self._persistent.negative_phase(v, x, update)


def unit_input(log_probability: torch.Tensor) -> torch.Tensor:
    """The input x of a unit that is +1 with probability min(1, exp(log_probability)) = sigma(2 x)."""
    below = log_probability.clamp(max=-1e-7)
    x = (below - torch.log(-torch.expm1(below))) / 2
    return torch.where(log_probability < -1e-7, x, 50.0)
