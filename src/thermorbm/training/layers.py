"""What training needs of a machine on a device."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import torch
from numpy.typing import NDArray

Parameters = dict[str, torch.Tensor]


class TensorLayers(Protocol):
    """Primitives of one kind of machine on tensors, batch axis first; `biases` are names of parameters.

    After a change of `parameters` call `refresh`. Inputs and results are of type `dtype`, gradients of it or
    float32.
    """

    biases: ClassVar[tuple[str, ...]]
    parameters: Parameters
    device: torch.device
    dtype: torch.dtype

    def refresh(self) -> None: ...

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """W v + c. (n, n_visible) -> (n, n_hidden)."""

    def hidden_means(self, x: torch.Tensor) -> torch.Tensor:
        """<h> = tanh x, given the hidden inputs x."""

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """W^T h + b. (n, n_hidden) -> (n, n_visible)."""

    def visible_field(self, v: torch.Tensor) -> torch.Tensor:
        """b.v of each row, float32. (n, n_visible) -> (n,)."""

    def reversal_cost(self, v: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Visible energy of -v minus that of v, float32, given the hidden inputs x of v. -> (n,)."""

    def reversed_inputs(self, x: torch.Tensor) -> torch.Tensor:
        """Hidden inputs of -v, given those of v: 2 c - x."""

    def gradient(
        self, data_v: torch.Tensor, data_h: torch.Tensor, model_v: torch.Tensor, model_h: torch.Tensor
    ) -> Parameters:
        """By parameter name: the mean of -dE/dtheta over data rows minus that over the model's rows."""

    def move(self, gradient: Parameters, rate: float) -> None:
        """Adds a gradient, times the rate, to the parameters that it names."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The parameters as NumPy arrays."""


class Movable:
    """Parameters that a gradient is added to as it is."""

    parameters: Parameters

    def move(self, gradient: Parameters, rate: float) -> None:
        """Adds a gradient, times the rate, to the parameters that it names."""
        for name, part in gradient.items():
            self.parameters[name].add_(part, alpha=rate)


def reversal_cost(field: torch.Tensor, x: torch.Tensor, reversed_x: torch.Tensor) -> torch.Tensor:
    """Visible energy of -v minus that of v, 2 b.v - sum (ln cosh reversed_x - ln cosh x). -> (n,) float32."""
    if not field.any() and torch.equal(reversed_x, -x):  # without biases both are alike
        return torch.zeros_like(field, dtype=torch.float32)
    there, here = reversed_x.float().abs(), x.float().abs()
    change = there - here + torch.log1p(torch.exp(-2 * there)) - torch.log1p(torch.exp(-2 * here))
    return 2 * field - change.sum(1)
