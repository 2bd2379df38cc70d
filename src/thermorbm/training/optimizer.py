"""Gradient ascent on the likelihood: SGD with momentum, or Adam; state as named tensors that can be saved."""

from __future__ import annotations

import torch

from thermorbm.training.layers import Parameters

ADAM_MEAN, ADAM_SQUARE, ADAM_SMALL = 0.9, 0.999, 1e-8


class SGD:
    """theta += rate * velocity, velocity = momentum * velocity + (1 - momentum) * gradient."""

    def __init__(self, parameters: Parameters, momentum: float) -> None:
        self._parameters, self._momentum = parameters, momentum
        self.state: Parameters = {}
        if momentum:
            self.state = {f"velocity.{name}": torch.zeros_like(p) for name, p in parameters.items()}

    def step(self, gradient: Parameters, rate: float, update: int) -> None:
        for name, g in gradient.items():
            if self._momentum:
                velocity = self.state[f"velocity.{name}"]
                g = velocity.lerp_(g.to(velocity.dtype), 1 - self._momentum)
            self._parameters[name].add_(g, alpha=rate)


class Adam:
    """Adam (Kingma & Ba 2015)."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self.state: Parameters = {
            f"{moment}.{name}": torch.zeros_like(p)
            for moment in ("mean", "square")
            for name, p in parameters.items()
        }

    def step(self, gradient: Parameters, rate: float, update: int) -> None:
        for name, given in gradient.items():
            g = given.to(self._parameters[name].dtype)
            mean = self.state[f"mean.{name}"].lerp_(g, 1 - ADAM_MEAN)
            square = self.state[f"square.{name}"].lerp_(g * g, 1 - ADAM_SQUARE)
            size = (square / (1 - ADAM_SQUARE ** (update + 1))).sqrt_().add_(ADAM_SMALL)
            self._parameters[name].addcdiv_(mean, size, value=rate / (1 - ADAM_MEAN ** (update + 1)))
