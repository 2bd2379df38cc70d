"""The dense machine on a device: float32 parameters, matrix products in the chosen precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from thermorbm.training.layers import Parameters


class DenseLayers:
    """Primitives of E(v, h) = -b.v - c.h - h.W v on tensors.

    parameters: W (n_hidden, n_visible), b (n_visible,), c (n_hidden,), float32; after changing them call
    `refresh`. All inputs and results of the methods are of type `dtype`, but for float32 gradients.
    """

    biases: ClassVar[tuple[str, ...]] = ("b", "c")

    def __init__(
        self, parameters: Mapping[str, NDArray[Any]], device: torch.device, dtype: torch.dtype
    ) -> None:
        self.parameters: Parameters = {
            name: torch.tensor(array, dtype=torch.float32, device=device)
            for name, array in parameters.items()
        }
        self.device, self.dtype = device, dtype
        self.refresh()

    def refresh(self) -> None:
        """Casts the parameters to the type of the matrix products."""
        self._W, self._b, self._c = (self.parameters[name].to(self.dtype) for name in ("W", "b", "c"))

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """W v + c. (n, n_visible) -> (n, n_hidden)."""
        return torch.addmm(self._c, v, self._W.t())

    def hidden_means(self, x: torch.Tensor) -> torch.Tensor:
        """<h> given the hidden inputs x."""
        return torch.tanh(x)

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """W^T h + b. (n, n_hidden) -> (n, n_visible)."""
        return torch.addmm(self._b, h, self._W)

    def visible_field(self, v: torch.Tensor) -> torch.Tensor:
        """b.v of each row, float32. (n, n_visible) -> (n,)."""
        return v.float() @ self.parameters["b"]

    def gradient(
        self, data_v: torch.Tensor, data_h: torch.Tensor, model_v: torch.Tensor, model_h: torch.Tensor
    ) -> Parameters:
        """Mean of h v over data minus its mean over the model's rows, by parameter name, float32.

        One product over both phases: the difference is accumulated in float32, so that rounding to bfloat16
        costs relative to the difference, not to the two nearly equal terms. Where the numbers of rows differ
        the model's are weighted, which rounds them once more unless the ratio is a power of two.
        """
        weight = len(data_v) / len(model_v)
        v = torch.cat([data_v, model_v])
        h = torch.cat([data_h, -weight * model_h])
        scale = 1 / len(data_v)
        return {
            "W": torch.mm(h.t(), v).float().mul_(scale),
            "b": (_sum(data_v) - weight * _sum(model_v)) * scale,
            "c": (_sum(data_h) - weight * _sum(model_h)) * scale,
        }

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The parameters as NumPy arrays."""
        return {name: tensor.cpu().numpy().copy() for name, tensor in self.parameters.items()}


def _sum(rows: torch.Tensor) -> torch.Tensor:
    return rows.sum(0, dtype=torch.float32)
