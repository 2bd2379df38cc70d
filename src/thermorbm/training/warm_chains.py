"""Chains that start at the data while the machine is still far from them, and persist once it is near."""

from __future__ import annotations

import torch

from thermorbm.training.chains import DataChains, PersistentChains, Phase, unit_input
from thermorbm.training.layers import Parameters
from thermorbm.training.symmetric import SharedFilters
from thermorbm.training.units import UnitSource

_UPDATES_BETWEEN_REVERSALS = 8


class WarmChains:
    """CD until update `persistent_from`, then PCD.

    Persistent chains of a machine that is far from the data near T_c fall into the wrong phase, and it can
    take thousands of updates to come back; chains that start at the data teach it the short distances first.
    Once the chains persist, each is reversed as a whole now and then, with the Metropolis probability: those
    of an ordered machine would never change the sign of m by themselves, and biases would follow them.
    """

    def __init__(
        self,
        layers: SharedFilters,
        units: UnitSource,
        data: DataChains,
        persistent: PersistentChains,
        persistent_from: int,
        reversals: bool,
    ) -> None:
        self._layers, self._units = layers, units
        self._data, self._persistent = data, persistent
        self._persistent_from, self._reversals = persistent_from, reversals
        self.state: Parameters = persistent.state

    def negative_phase(self, v: torch.Tensor, x: torch.Tensor, update: int) -> Phase:
        if update < self._persistent_from:
            return self._data.negative_phase(v, x, update)
        if self._reversals and update % _UPDATES_BETWEEN_REVERSALS == 0:
            self._reverse(self.state["chains"])
        return self._persistent.negative_phase(v, x, update)

    def _reverse(self, chains: torch.Tensor) -> None:
        cost = self._layers.reversal_cost(chains, self._layers.hidden_inputs(chains))
        chains *= -self._units.draw(unit_input(-cost))[:, None]
