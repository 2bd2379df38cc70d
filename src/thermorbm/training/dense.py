"""The dense machine on a device: float32 parameters, matrix products in the chosen precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from thermorbm.training.layers import Movable, Parameters, reversal_cost

Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class DenseLayers(Movable):
    """Primitives of E(v, h) = -b.v - c.h - h.W v on tensors.

    parameters: W (n_hidden, n_visible), b (n_visible,), c (n_hidden,), float32; after changing them call
    `refresh`. All inputs and results of the methods are of type `dtype`, but for the gradients, which are
    float32 and valid until the next ones. n_exact: hidden units, the first ones, whose inputs are summed in
    float32 and rounded once: the thresholds of units that carry the order are hundreds, where bfloat16 has
    steps of 1.
    """

    biases: ClassVar[tuple[str, ...]] = ("b", "c")

    def __init__(
        self,
        parameters: Mapping[str, NDArray[Any]],
        device: torch.device,
        dtype: torch.dtype,
        n_exact: int = 0,
    ) -> None:
        self.n_exact = 0 if dtype == torch.float32 else n_exact
        self.parameters: Parameters = {
            name: torch.tensor(array, dtype=torch.float32, device=device)
            for name, array in parameters.items()
        }
        self.device, self.dtype = device, dtype
        self._wide: torch.Tensor | None = None
        self.refresh()

    def refresh(self) -> None:
        """Casts the parameters to the type of the matrix products."""
        self._W, self._b, self._c = (self.parameters[name].to(self.dtype) for name in ("W", "b", "c"))

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """W v + c. (n, n_visible) -> (n, n_hidden)."""
        x = torch.addmm(self._c, v, self._W.t())
        if self.n_exact:
            W, c = (self.parameters[name][: self.n_exact] for name in ("W", "c"))
            x[:, : self.n_exact] = torch.addmm(c, v.float(), W.t())
        return x

    def hidden_means(self, x: torch.Tensor) -> torch.Tensor:
        """<h> given the hidden inputs x."""
        return torch.tanh(x)

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """W^T h + b. (n, n_hidden) -> (n, n_visible)."""
        return torch.addmm(self._b, h, self._W)

    def visible_field(self, v: torch.Tensor) -> torch.Tensor:
        """b.v of each row, float32. (n, n_visible) -> (n,)."""
        return v.float() @ self.parameters["b"]

    def reversal_cost(self, v: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Visible energy of -v minus that of v, float32, given the hidden inputs x of v. -> (n,)."""
        return reversal_cost(self.visible_field(v), x, self.reversed_inputs(x))

    def reversed_inputs(self, x: torch.Tensor) -> torch.Tensor:
        """Hidden inputs of -v, given those of v: 2 c - x."""
        return 2 * self._c - x

    def gradient(
        self,
        data_v: torch.Tensor,
        data_h: torch.Tensor,
        model_v: torch.Tensor,
        model_h: torch.Tensor,
        product: Product | None = None,
    ) -> Parameters:
        """Mean of h v over data minus its mean over the model's rows, by parameter name.

        One product over both phases: the difference is accumulated in float32, so that rounding to bfloat16
        costs relative to the difference, not to the two nearly equal terms. Weights that are no power of two
        round h once more. product: h^T v of rows v and h, in place of the plain one.
        """
        v = torch.cat([data_v, model_v])
        h = torch.cat([data_h / len(data_h), model_h / -len(model_h)])
        gradient = {"b": _sum(data_v) / len(data_v) - _sum(model_v) / len(model_v), "c": _sum(h)}
        return {"W": self._widened(product(v, h)) if product else self._product(h, v), **gradient}

    def _product(self, h: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """h^T v, float32."""
        return self._widened(torch.mm(h.t(), v))

    def _widened(self, product: torch.Tensor) -> torch.Tensor:
        """A product in float32, in one buffer for all updates: adding to W what has another type takes ten
        times as long, and so does new memory."""
        if product.dtype == torch.float32:
            return product
        if self._wide is None:
            self._wide = torch.empty(product.shape, device=product.device)
        return self._wide.copy_(product)

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The parameters as NumPy arrays."""
        return {name: tensor.cpu().numpy().copy() for name, tensor in self.parameters.items()}


def _sum(rows: torch.Tensor) -> torch.Tensor:
    return rows.sum(0, dtype=torch.float32)
