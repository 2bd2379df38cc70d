"""The dense machine with matrix products of 8-bit integers, which take about half the time of bfloat16 ones.

Units are +-1 and fit a byte. For the products W is rounded to 255 even levels between -max |W| and max |W|,
and hidden means to multiples of 1/127; the parameters themselves stay float32 and keep what updates add to
them. Sums of integers are exact: their order, and so the number of threads, does not matter. Even levels
suit weights of one size, as in machines that start at random; a unit that carries all of the order has
weights many times those of the others, for which too few levels would be left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba as nb
import numpy as np
import torch
from numpy.typing import NDArray

from thermorbm.training.dense import DenseLayers, Product
from thermorbm.training.layers import Parameters

LEVELS = 127


class IntegerLayers(DenseLayers):
    """DenseLayers that take units of any type; inputs and means are float32."""

    def __init__(
        self, parameters: Mapping[str, NDArray[Any]], device: torch.device, dtype: torch.dtype
    ) -> None:
        shape = parameters["W"].shape
        self._W = torch.empty(shape, dtype=torch.int8)
        self._sums, self._level = torch.empty(shape, dtype=torch.int32), 1.0
        super().__init__(parameters, device, dtype)

    def refresh(self) -> None:
        """Rounds W to levels of equal spacing."""
        W = self.parameters["W"]
        least, most = torch.aminmax(W)
        self._spacing = max(float(-least), float(most), 1e-30) / LEVELS
        self._b, self._c = self.parameters["b"], self.parameters["c"]
        _round(_flat(W), np.float32(1 / self._spacing), _flat(self._W))

    def gradient(
        self,
        data_v: torch.Tensor,
        data_h: torch.Tensor,
        model_v: torch.Tensor,
        model_h: torch.Tensor,
        product: Product | None = None,
    ) -> Parameters:
        """As of DenseLayers, but that W's part is in whole numbers, which `move` gives their size."""
        self._level = 1 / (LEVELS * min(len(data_h), len(model_h)))
        return super().gradient(data_v, data_h, model_v, model_h, product)

    def move(self, gradient: Parameters, rate: float) -> None:
        W = gradient["W"]
        _add(_flat(W), np.float32(rate * self._level), _flat(self.parameters["W"]))
        super().move({name: part for name, part in gradient.items() if name != "W"}, rate)

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """W v + c. (n, n_visible) -> (n, n_hidden)."""
        return torch._int_mm(v.to(torch.int8), self._W.t()).float().mul_(self._spacing).add_(self._c)

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """W^T h + b. (n, n_hidden) -> (n, n_visible)."""
        return torch._int_mm(h.to(torch.int8), self._W).float().mul_(self._spacing).add_(self._b)

    def _product(self, h: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        rounded = (h / self._level).round_().to(torch.int8)
        return torch._int_mm(rounded.t(), v.to(torch.int8), out=self._sums)


def _flat(tensor: torch.Tensor) -> NDArray[Any]:
    return tensor.numpy().reshape(-1)


@nb.njit(cache=True, fastmath={"contract"})
def _round(values: Any, factor: Any, out: Any) -> None:
    for k in range(values.size):
        out[k] = np.int8(np.rint(values[k] * factor))


@nb.njit(cache=True, fastmath={"contract"})
def _add(part: Any, factor: Any, out: Any) -> None:
    for k in range(out.size):
        out[k] += factor * np.float32(part[k])
