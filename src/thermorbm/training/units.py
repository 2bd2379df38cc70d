"""Random +-1 units as tensors: the fused kernel on the CPU, torch's own generator elsewhere."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.random import SeedSequence
from numpy.typing import NDArray

from thermorbm.model import generator_state, sample_units


class UnitSource(Protocol):
    """Draws units with P(+1) = sigma(2 x); its state is an array that can be saved and put back."""

    state: NDArray[Any]

    def draw(self, inputs: torch.Tensor) -> torch.Tensor:
        """+-1 in the shape and type of `inputs`, which are the x."""


class KernelUnits:
    """The fused CPU kernel of thermorbm.model, on float32 or bfloat16 tensors."""

    def __init__(self, seed: SeedSequence) -> None:
        self.state: NDArray[Any] = generator_state(seed)

    def draw(self, inputs: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(inputs)
        sample_units(_as_array(inputs), self.state, _as_array(out))
        return out


class TorchUnits:
    """torch.rand on any device."""

    def __init__(self, seed: SeedSequence, device: torch.device) -> None:
        self._generator = torch.Generator(device)
        self._generator.manual_seed(int(seed.generate_state(1, np.uint64)[0] >> 1))

    @property
    def state(self) -> NDArray[Any]:
        return self._generator.get_state().numpy()

    @state.setter
    def state(self, state: NDArray[Any]) -> None:
        self._generator.set_state(torch.from_numpy(np.array(state)))

    def draw(self, inputs: torch.Tensor) -> torch.Tensor:
        uniform = torch.rand(inputs.shape, generator=self._generator, device=inputs.device)
        up = uniform < torch.sigmoid(2 * inputs.float())
        return torch.where(up, 1.0, -1.0).to(inputs.dtype)


def unit_source(seed: SeedSequence, device: torch.device) -> UnitSource:
    return KernelUnits(seed) if device.type == "cpu" else TorchUnits(seed, device)


def _as_array(tensor: torch.Tensor) -> NDArray[Any]:
    """A NumPy view of a CPU tensor; bfloat16, which NumPy lacks, as its bits."""
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(np.uint16)
    return tensor.numpy()
