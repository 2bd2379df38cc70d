"""One training run as an object that can step, be saved and be put back."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.random import SeedSequence
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.model import Machine
from thermorbm.training.batches import Batches
from thermorbm.training.carriers import mirror
from thermorbm.training.chains import Chains, DataChains, PersistentChains, Phase, WarmChains
from thermorbm.training.dense import DenseLayers
from thermorbm.training.design import Design
from thermorbm.training.layers import Parameters
from thermorbm.training.modes import StiffModes
from thermorbm.training.monitor import History, Verdict, judge, judge_natural
from thermorbm.training.natural import NaturalGradient
from thermorbm.training.order import find_order
from thermorbm.training.recipe import Recipe
from thermorbm.training.sparse import SparsePrior
from thermorbm.training.symmetric import SharedFilters
from thermorbm.training.units import UnitSource, unit_source

Arrays = dict[str, NDArray[Any]]

# The part of the training during which chains start anew; then they settle.
FRESH_UNTIL = 0.9
# Hidden units for each that carries the order.
LEAST_OTHERS = 4


class Training(Protocol):
    """A run that the loop can drive, whatever the machine is and however an update is made."""

    update: int
    distance: float
    n_updates: int
    n_mirrored: int  # hidden units that carry the order together

    @property
    def design(self) -> Design: ...

    @property
    def recipe(self) -> Recipe: ...

    @property
    def updates_per_epoch(self) -> int: ...

    @property
    def rate(self) -> float:
        """Learning rate of the next update."""

    @property
    def is_finite(self) -> bool: ...

    def step(self) -> None:
        """One update."""

    def judge(self, history: History) -> Verdict:
        """Whether it has converged."""

    def machine(self, provenance: dict[str, Any] | None = None) -> Machine: ...

    def findings(self) -> dict[str, Any]:
        """What else the provenance of the machine should hold."""

    def place(self) -> dict[str, str]:
        """Device and precision."""

    def state(self) -> Arrays: ...

    def restore(self, arrays: Arrays) -> None: ...


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
        weights, units, batches, directions = SeedSequence(seed).spawn(4)
        self.recipe, self.design = recipe, design
        self.update, self.distance = 0, 0.0
        self.batches = Batches(data, recipe.batch_size, batches, device, dtype)
        self.n_updates = recipe.n_updates(self.batches.per_epoch, design.n_hidden)
        carried = recipe.start == "order"
        needed = carried or recipe.modes or recipe.sparsity
        order = find_order(data, directions, self._most_carriers) if needed else None
        self.layers = design.layers(weights, device, dtype, order if carried else None)
        self.units = self._make_units(units, device)
        n_carriers = min(order.n_carriers, design.n_hidden) if order and carried else 0
        self.n_mirrored = order.amplitudes.n_carriers if order and carried else 0
        self.modes, self.prior = None, None
        if recipe.modes and order:
            if dtype == torch.int8:
                raise InputError("precision", "int8", "bf16 or fp32 with stiff modes", "or set modes=0")
            self.modes = StiffModes(order, recipe.modes, design.n_hidden, n_carriers, device)
        if recipe.sparsity and order:
            self.prior = SparsePrior(order, recipe.sparsity, len(data), n_carriers, device)
        self.natural = self._make_natural() if recipe.natural else None
        self.chains = self._make_chains()

    def step(self) -> None:
        """One update of the parameters."""
        gradient = self._gradient()
        if self.n_mirrored > 1:
            mirror(gradient, self.n_mirrored, self.recipe.bias_rate)
        for name in self.layers.biases:
            if self.recipe.zero_bias:
                gradient.pop(name, None)
            else:
                gradient[name] *= self.recipe.bias_rate
        self.layers.move(gradient, self.rate)
        if self.prior:
            self.prior.pull(self.layers.parameters["W"], self.rate, self.update)
        self.layers.refresh()
        self.distance += self.rate
        self.update += 1

    @property
    def _most_carriers(self) -> int:
        """Several have thresholds, which are biases."""
        if self.recipe.zero_bias:
            return 1
        return min(self.recipe.carriers, self.design.n_hidden // LEAST_OTHERS)

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
        return self.layers.gradient(*data, *model, self.modes.product)

    @property
    def rate(self) -> float:
        """Learning rate of the next update."""
        scale = self.modes.rate_scale if self.modes else 1.0
        return scale * self.recipe.rate(self.update, self.n_updates, self.design.n_hidden)

    @property
    def updates_per_epoch(self) -> int:
        return self.batches.per_epoch

    def judge(self, history: History) -> Verdict:
        """By the law that suits the gradient."""
        return (judge_natural if self.natural else judge)(history, self.batches.n_sites)

    def findings(self) -> dict[str, Any]:
        """Nothing beyond the machine itself."""
        return {}

    def place(self) -> dict[str, str]:
        """Device and precision."""
        precision = str(self.layers.dtype).removeprefix("torch.")
        return {"device": self.layers.device.type, "precision": precision}

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
            "chains": self.chains.state,
            "modes": self.modes.state if self.modes else {},
            "natural": self.natural.state if self.natural else {},
        }

    def _make_units(self, seed: SeedSequence, device: torch.device) -> UnitSource:
        return unit_source(seed, device)

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
        from_data = DataChains(self.layers, self.units, self.recipe.gibbs_steps)
        if self.recipe.persistent_from == 1:
            return from_data
        return WarmChains(from_data, self._make_persistent(), self._persistent_from)

    def _make_persistent(self) -> PersistentChains:
        start = self.batches.batch(self.n_updates)  # a batch that training itself does not come to
        life = self.recipe.chain_life
        n_fresh = len(start) / life if life else 0.0
        return PersistentChains(
            self.layers, self.units, self.recipe.gibbs_steps, start, n_fresh, self._fresh_until
        )


def _array(tensor: torch.Tensor) -> NDArray[Any]:
    """A copy in a type that NumPy has; bfloat16 tensors hold units, which fit int8."""
    return tensor.to(torch.int8 if tensor.dtype == torch.bfloat16 else tensor.dtype).cpu().numpy().copy()
