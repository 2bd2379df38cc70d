"""One training run as an object that can step, be saved and be put back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.random import SeedSequence
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.model import Machine
from thermorbm.training.batches import Batches
from thermorbm.training.chains import Chains, DataChains, Phase, persistent_chains
from thermorbm.training.dense import DenseLayers
from thermorbm.training.design import Design
from thermorbm.training.layers import Parameters
from thermorbm.training.modes import StiffModes
from thermorbm.training.natural import NaturalGradient
from thermorbm.training.optimizer import SGD, Adam
from thermorbm.training.origin import mean_abs_magnetization
from thermorbm.training.recipe import Recipe
from thermorbm.training.symmetric import SharedFilters
from thermorbm.training.units import UnitSource, unit_source
from thermorbm.training.warm_chains import WarmChains

Arrays = dict[str, NDArray[Any]]

# The part of the training during which chains start anew; then they settle.
FRESH_UNTIL = 0.9
# <|m|> of ordered data. No chain starts at random spins there: a cold machine makes stripes of them, which
# last, and to take them away the weights grow until nothing is excited any more. Nor is any mode near to
# critical, so that the rate may be larger.
ORDERED = 0.9


class Trainer:
    """Everything that moves during training: parameters, optimiser, chains, generators, place in the data."""

    def __init__(
        self,
        data: Dataset,
        design: Design,
        recipe: Recipe,
        seed: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        weights, units, batches, modes = SeedSequence(seed).spawn(4)
        self.recipe, self.design = recipe, design
        self.update, self.distance = 0, 0.0
        self.layers = design.layers(weights, device, dtype, recipe.start)
        self.units = self._make_units(units, device)
        self.batches = Batches(data, recipe.batch_size, batches, recipe.flip, recipe.translate, device, dtype)
        self.n_updates = max(recipe.epochs * self.batches.per_epoch, recipe.least_updates)
        self.modes = None
        if recipe.modes:
            self.modes = StiffModes(data, recipe.modes, design.n_hidden, modes, device)
        self.natural = self._make_natural() if recipe.natural else None
        self._is_ordered = mean_abs_magnetization(data) >= ORDERED
        self._has_random_starts = recipe.random_starts and not self._is_ordered
        self.optimizer = self._make_optimizer()
        self.chains = self._make_chains()

    def step(self) -> None:
        """One update of the parameters."""
        gradient = self._gradient()
        for name in self.layers.biases:
            if self.recipe.zero_bias:
                gradient.pop(name, None)
            else:
                gradient[name] *= self.recipe.bias_rate
        self.optimizer.step(gradient, self.rate, self.update)
        self.layers.refresh()
        self.distance += self.rate
        self.update += 1

    def _gradient(self) -> Parameters:
        """Of the log-likelihood, by parameter name, from the next batch."""
        v = self.batches.batch(self.update)
        x = self.layers.hidden_inputs(v)
        means = self.layers.hidden_means(x)
        return self._direction((v, means), self.chains.negative_phase(v, x, self.update), means)

    def _direction(self, data: Phase, model: Phase, batch_means: torch.Tensor) -> Parameters:
        """The gradient, made natural or softened; batch_means: hidden means of the whole batch."""
        if self.natural:
            return self.natural.gradient(*data, *model, rate=self.rate, update=self.update)
        if self.modes is None:
            return self.layers.gradient(*data, *model)
        assert isinstance(self.layers, DenseLayers)  # no other design lets such a recipe through
        self.modes.look(batch_means, self.update)
        return self.layers.gradient(*data, *model, self.modes.soften)

    @property
    def rate(self) -> float:
        """Learning rate of the next update."""
        return self.recipe.rate(self.update, self.n_updates, self.design.n_hidden, self._is_ordered)

    @property
    def is_finite(self) -> bool:
        return all(bool(torch.isfinite(tensor).all()) for tensor in self.layers.parameters.values())

    def machine(self, provenance: dict[str, Any] | None = None) -> Machine:
        """The machine as it is now; raises InputError if a parameter is not finite."""
        return self.design.machine(self.layers.arrays(), provenance)

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
        if self.modes:
            self.modes.refresh()

    def _parts(self) -> dict[str, Parameters]:
        return {
            "parameter": self.layers.parameters,
            "optimizer": self.optimizer.state,
            "chains": self.chains.state,
            "modes": self.modes.state if self.modes else {},
            "natural": self.natural.state if self.natural else {},
        }

    def _make_units(self, seed: SeedSequence, device: torch.device) -> UnitSource:
        return unit_source(seed, device)

    def _make_optimizer(self) -> SGD | Adam:
        parameters = self.layers.parameters
        return Adam(parameters) if self.recipe.optimizer == "adam" else SGD(parameters, self.recipe.momentum)

    def _make_natural(self) -> NaturalGradient:
        assert isinstance(self.layers, SharedFilters)  # no other design lets such a recipe through
        fixed = self.layers.biases if self.recipe.zero_bias else ()
        names = [name for name in self.layers.parameters if name not in fixed]
        return NaturalGradient(self.layers, names, self._persistent_from)

    @property
    def _persistent_from(self) -> int:
        return round(self.recipe.persistent_from * self.n_updates)

    @property
    def _fresh_until(self) -> int:
        return round(FRESH_UNTIL * self.n_updates)

    def _make_chains(self) -> Chains:
        recipe = self.recipe
        from_data = DataChains(self.layers, self.units, recipe.gibbs_steps)
        if not recipe.persistent:
            return from_data
        start = self.batches.batch(self.n_updates)  # a batch that training itself does not come to
        persistent = persistent_chains(
            self.layers,
            self.units,
            recipe.gibbs_steps,
            start[: recipe.n_chains or recipe.batch_size],
            recipe.n_replicas,
            recipe.hottest,
            round(recipe.tempered_from * self.n_updates),
            recipe.chain_life,
            self._fresh_until,
            self._has_random_starts,
        )
        if not isinstance(self.layers, SharedFilters):
            return persistent
        return WarmChains(from_data, persistent, self._persistent_from)


def _array(tensor: torch.Tensor) -> NDArray[Any]:
    """A copy in a type that NumPy has; bfloat16 tensors hold units, which fit int8."""
    return tensor.to(torch.int8 if tensor.dtype == torch.bfloat16 else tensor.dtype).cpu().numpy().copy()
