"""Chains that start at the data while the machine is still far from them, and persist once it is near."""

from __future__ import annotations

import torch

from thermorbm.training.chains import DataChains, PersistentChains, Phase
from thermorbm.training.layers import Parameters


class WarmChains:
    """CD until update `persistent_from`, then PCD.

    Persistent chains of a machine that is far from the data near T_c fall into the wrong phase, and it can
    take thousands of updates to come back; chains that start at the data teach it the short distances first.
    """

    def __init__(self, data: DataChains, persistent: PersistentChains, persistent_from: int) -> None:
        self._data, self._persistent, self._persistent_from = data, persistent, persistent_from
        self.state: Parameters = persistent.state

    def negative_phase(self, v: torch.Tensor, x: torch.Tensor, update: int) -> Phase:
        if update < self._persistent_from:
            return self._data.negative_phase(v, x, update)
        return self._persistent.negative_phase(v, x, update)
