"""The translation-symmetric machine on a device: compiled loops on the CPU, else torch's convolutions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.model import mean_units
from thermorbm.model.convolution import Shape, border, convolve, correlate
from thermorbm.model.symmetric import window_origin
from thermorbm.training.layers import Movable, Parameters, reversal_cost

_CONVOLUTIONS = (
    torch.nn.functional.conv1d,
    torch.nn.functional.conv2d,
    torch.nn.functional.conv3d,
)


class SharedFilters(Movable):
    """What both renditions share. parameters: filters (n_filters, *window), visible_bias (), hidden_bias.

    images: of the window, (n_images, n_taps) as of window_images; every filter is there once for each, all
    tied together. None for itself alone.
    Gradients are those of the mean log-likelihood per site, so that a rate suits every size of lattice.
    """

    biases: ClassVar[tuple[str, ...]] = ("visible_bias", "hidden_bias")
    dtype = torch.float32

    def __init__(
        self,
        parameters: Mapping[str, NDArray[Any]],
        shape: Shape,
        device: torch.device,
        images: NDArray[np.intp] | None = None,
    ) -> None:
        self.parameters: Parameters = {
            name: torch.tensor(array, dtype=torch.float32, device=device)
            for name, array in parameters.items()
        }
        self.device, self.n_sites, self.shape = device, math.prod(shape), shape
        self.window: Shape = tuple(self.parameters["filters"].shape[1:])
        self._origin = window_origin(self.window)
        self._far = tuple(width - 1 - o for width, o in zip(self.window, self._origin, strict=True))
        self._images = torch.from_numpy(np.arange(math.prod(self.window))[None] if images is None else images)
        self.refresh()

    def refresh(self) -> None:
        """Nothing is held but the parameters."""

    def fold(self, slopes: torch.Tensor) -> torch.Tensor:
        """From slopes by all images to those by the filters that they are made of.

        (n, n_filters * n_images, *window) -> (n, n_filters, *window).
        """
        n_images, n_taps = self._images.shape
        slopes = slopes.reshape(len(slopes), -1, n_images * n_taps)
        folded = torch.zeros(*slopes.shape[:2], n_taps, dtype=slopes.dtype)
        folded.index_add_(2, self._images.reshape(-1), slopes)
        return folded.reshape(*slopes.shape[:2], *self.window)

    @property
    def all_filters(self) -> torch.Tensor:
        """Of each filter all images, (n_filters * n_images, *window)."""
        filters = self.parameters["filters"].flatten(1)
        return filters[:, self._images].reshape(-1, *self.window)

    @property
    def all_biases(self) -> torch.Tensor:
        """(n_filters * n_images,)."""
        return self.parameters["hidden_bias"].repeat_interleave(len(self._images))

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """(n, n_visible) -> (n, n_hidden)."""
        raise NotImplementedError

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """(n, n_hidden) -> (n, n_visible)."""
        raise NotImplementedError

    def hidden_means(self, x: torch.Tensor) -> torch.Tensor:
        """<h> given the hidden inputs x."""
        return torch.tanh(x)

    def visible_field(self, v: torch.Tensor) -> torch.Tensor:
        """b.v of each row, float32. (n, n_visible) -> (n,)."""
        return self.parameters["visible_bias"] * v.sum(1)

    def gradient(
        self, data_v: torch.Tensor, data_h: torch.Tensor, model_v: torch.Tensor, model_h: torch.Tensor
    ) -> Parameters:
        """Mean per site of -dE/dtheta over data rows minus that over the model's rows, by parameter name."""
        data, model = self.statistics(data_v, data_h), self.statistics(model_v, model_h)
        return {name: ((data[name].mean(0) - model[name].mean(0)) / self.n_sites).float() for name in data}

    def statistics(self, v: torch.Tensor, h: torch.Tensor) -> Parameters:
        """-dE/dtheta of each row, a sum over sites, by parameter name: (n, *its shape) float64."""
        n_filters, n_images = len(self.parameters["filters"]), len(self._images)
        hidden = h.reshape(len(h), n_filters, n_images * self.n_sites).sum(2)
        return {
            "filters": self.fold(self._correlations(v, h).cpu()).to(v.device),
            "visible_bias": v.sum(1).double(),
            "hidden_bias": hidden.double(),
        }

    def reversal_cost(self, v: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Visible energy of -v minus that of v, given the hidden inputs x of v. -> (n,)."""
        return reversal_cost(self.visible_field(v), x, self.reversed_inputs(x))

    def reversed_inputs(self, x: torch.Tensor) -> torch.Tensor:
        """Hidden inputs of -v, given those of v: 2 c - x."""
        return 2 * self.all_biases.repeat_interleave(self.n_sites) - x

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The parameters of the machine with all images, as NumPy arrays."""
        whole = {**self.parameters, "filters": self.all_filters, "hidden_bias": self.all_biases}
        return {name: tensor.cpu().numpy().copy() for name, tensor in whole.items()}

    def _correlations(self, v: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        """Sum over sites of h_f,i v_{i + a - origin} for each row, (n, n_filters, n_taps) float64."""
        raise NotImplementedError


class KernelFilters(SharedFilters):
    """On the CPU, by the compiled loops of thermorbm.model."""

    def refresh(self) -> None:
        arrays = self.arrays()
        taps = arrays["filters"].reshape(len(arrays["filters"]), -1)
        self._forward, self._c = taps[:, None].copy(), arrays["hidden_bias"]
        self._backward, self._b = taps[None, :, ::-1].copy(), arrays["visible_bias"][None]

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """(n, n_visible) -> (n, n_hidden)."""
        out = torch.empty(len(v), len(self._c) * self.n_sites)
        place = border(self.shape, self.window, self._origin)
        convolve(v.numpy(), self._forward, self._c, place, out.numpy())
        return out

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """(n, n_hidden) -> (n, n_visible)."""
        out = torch.empty(len(h), self.n_sites)
        place = border(self.shape, self.window, self._far)
        convolve(h.numpy(), self._backward, self._b, place, out.numpy())
        return out

    def hidden_means(self, x: torch.Tensor) -> torch.Tensor:
        """tanh x by the compiled loop, ten times as fast as torch's."""
        out = torch.empty_like(x)
        mean_units(x.numpy(), out.numpy())
        return out

    def _correlations(self, v: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        place = border(self.shape, self.window, self._origin)
        return torch.from_numpy(correlate(v.numpy(), h.numpy(), place))


class TorchFilters(SharedFilters):
    """On any device, by torch's convolutions of one to three dimensions."""

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """(n, n_visible) -> (n, n_hidden)."""
        filters = self.all_filters[:, None]
        units = v.reshape(len(v), 1, *self.shape)
        return self._convolve(units, filters, self.all_biases, self._origin)

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """(n, n_hidden) -> (n, n_visible)."""
        axes = list(range(1, len(self.shape) + 1))
        filters = self.all_filters.flip(axes)[None]
        units = h.reshape(len(h), -1, *self.shape)
        return self._convolve(units, filters, self.parameters["visible_bias"][None], self._far)

    def _convolve(
        self, units: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor, origin: Shape
    ) -> torch.Tensor:
        """units: (n, n_in, *shape), filters: (n_out, n_in, *window) -> (n, n_out * n_sites)."""
        convolution = _CONVOLUTIONS[len(self.shape) - 1]
        return convolution(self._wrapped(units, origin), filters, bias).reshape(len(units), -1)

    def _wrapped(self, units: torch.Tensor, origin: Shape) -> torch.Tensor:
        """With a periodic border, by rows that are taken twice."""
        for axis, (side, width, o) in enumerate(zip(self.shape, self.window, origin, strict=True)):
            rows = (torch.arange(side + width - 1, device=units.device) - o) % side
            units = units.index_select(axis + 2, rows)
        return units

    def _correlations(self, v: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        wrapped = self._wrapped(v.reshape(len(v), 1, *self.shape), self._origin)
        hidden = h.reshape(len(h), -1, self.n_sites)
        columns = []
        for element in np.ndindex(*self.window):
            seen = wrapped
            for axis, (e, side) in enumerate(zip(element, self.shape, strict=True)):
                seen = seen.narrow(axis + 2, e, side)
            seen = seen.reshape(len(v), self.n_sites, 1)
            columns.append(torch.bmm(hidden, seen)[:, :, 0].double())
        return torch.stack(columns, 2)


def symmetric_layers(
    parameters: Mapping[str, NDArray[Any]],
    shape: Shape,
    device: torch.device,
    images: NDArray[np.intp] | None = None,
) -> KernelFilters | TorchFilters:
    """The rendition for a device."""
    if device.type == "cpu":
        return KernelFilters(parameters, shape, device, images)
    if len(shape) > len(_CONVOLUTIONS):
        raise InputError("device", device.type, f"'cpu' for a lattice of {len(shape)} dimensions")
    return TorchFilters(parameters, shape, device, images)
