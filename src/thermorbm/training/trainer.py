"""One training run as an object that can step, be saved and be put back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.model import RBM
from thermorbm.training.batches import Batches
from thermorbm.training.chains import Chains, DataChains, persistent_chains
from thermorbm.training.dense import DenseLayers, Parameters
from thermorbm.training.modes import StiffModes
from thermorbm.training.optimizer import SGD, Adam
from thermorbm.training.recipe import Recipe
from thermorbm.training.units import UnitSource, unit_source

Arrays = dict[str, NDArray[Any]]


class Trainer:
    """Everything that moves during training: parameters, optimiser, chains, generators, place in the data."""

    def __init__(
        self,
        data: Dataset,
        n_hidden: int,
        recipe: Recipe,
        seed: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        weights, units, batches, modes = SeedSequence(seed).spawn(4)
        self.recipe, self.n_hidden = recipe, n_hidden
        self.update, self.distance = 0, 0.0
        self.layers = DenseLayers(glorot_normal(n_hidden, data.n_sites, weights), device, dtype)
        self.units = self._make_units(units, device)
        self.batches = Batches(data, recipe.batch_size, batches, recipe.flip, recipe.translate, device, dtype)
        self.n_updates = max(recipe.epochs * self.batches.per_epoch, recipe.least_updates)
        self.modes = None
        if recipe.modes:
            self.modes = StiffModes(data, recipe.modes, n_hidden, modes, device)
        self.optimizer = self._make_optimizer()
        self.chains = self._make_chains()

    def step(self) -> None:
        """One update of the parameters."""
        gradient, means = self._gradient()
        if self.recipe.zero_bias:
            gradient = {"W": gradient["W"]}
        else:
            gradient["b"] *= self.recipe.bias_rate
            gradient["c"] *= self.recipe.bias_rate
        if self.modes:
            gradient["W"] = self.modes.soften(gradient["W"], means, self.update)
        self.optimizer.step(gradient, self.rate, self.update)
        self.layers.refresh()
        self.distance += self.rate
        self.update += 1

    def _gradient(self) -> tuple[Parameters, torch.Tensor]:
        """The gradient of the next batch, and the hidden means of its configurations."""
        v = self.batches.batch(self.update)
        x = self.layers.hidden_inputs(v)
        means = torch.tanh(x)
        return self.layers.gradient(v, means, *self.chains.negative_phase(v, x, self.update)), means

    @property
    def rate(self) -> float:
        """Learning rate of the next update."""
        return self.recipe.rate(self.update / self.n_updates, self.n_hidden)

    @property
    def is_finite(self) -> bool:
        return all(bool(torch.isfinite(tensor).all()) for tensor in self.layers.parameters.values())

    def machine(self, provenance: dict[str, Any] | None = None) -> RBM:
        """The machine as it is now; raises InputError if a parameter is not finite."""
        return RBM(**self.layers.arrays(), provenance=provenance)

    def state(self) -> Arrays:
        """All that is needed to go on, as named arrays."""
        arrays: Arrays = {
            f"{part}.{name}": _array(tensor)
            for part, tensors in self._parts().items()
            for name, tensor in tensors.items()
        }
        progress = np.array([self.update, self.distance])
        return {**arrays, "units": np.array(self.units.state), "progress": progress}

    def restore(self, arrays: Arrays) -> None:
        """Puts back what `state` gave."""
        for part, tensors in self._parts().items():
            for name, tensor in tensors.items():
                tensor.copy_(torch.from_numpy(np.array(arrays[f"{part}.{name}"])))
        self.units.state = np.array(arrays["units"])
        self.update, self.distance = int(arrays["progress"][0]), float(arrays["progress"][1])
        self.layers.refresh()

    def _parts(self) -> dict[str, Parameters]:
        return {
            "parameter": self.layers.parameters,
            "optimizer": self.optimizer.state,
            "chains": self.chains.state,
            "modes": self.modes.state if self.modes else {},
        }

    def _make_units(self, seed: SeedSequence, device: torch.device) -> UnitSource:
        return unit_source(seed, device)

    def _make_optimizer(self) -> SGD | Adam:
        parameters = self.layers.parameters
        return Adam(parameters) if self.recipe.optimizer == "adam" else SGD(parameters, self.recipe.momentum)

    def _make_chains(self) -> Chains:
        recipe = self.recipe
        if not recipe.persistent:
            return DataChains(self.layers, self.units, recipe.gibbs_steps)
        start = self.batches.batch(self.n_updates)  # a batch that training itself does not come to
        return persistent_chains(
            self.layers,
            self.units,
            recipe.gibbs_steps,
            start[: recipe.n_chains or recipe.batch_size],
            recipe.n_replicas,
            recipe.hottest,
            round(recipe.tempered_from * self.n_updates),
            recipe.chain_life,
        )


def _array(tensor: torch.Tensor) -> NDArray[Any]:
    """A copy in a type that NumPy has; bfloat16 tensors hold units, which fit int8."""
    return tensor.to(torch.int8 if tensor.dtype == torch.bfloat16 else tensor.dtype).cpu().numpy().copy()


def glorot_normal(n_hidden: int, n_visible: int, seed: SeedSequence) -> Arrays:
    """W of variance 2 / (n_hidden + n_visible), b = c = 0 (Glorot & Bengio 2010), float32."""
    scale = np.sqrt(2 / (n_hidden + n_visible))
    W = default_rng(seed).normal(0, scale, (n_hidden, n_visible))
    return {
        "W": W.astype(np.float32),
        "b": np.zeros(n_visible, np.float32),
        "c": np.zeros(n_hidden, np.float32),
    }
