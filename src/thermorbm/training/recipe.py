"""How to train: everything that determines the path of the parameters, but for data, size and seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

from thermorbm.errors import InputError, unknown_name
from thermorbm.shown import html_table

SCHEDULES = ("constant", "cosine", "harmonic")
STARTS = ("glorot", "order")

_LEAST = {
    "epochs": 1,
    "least_updates": 0,
    "batch_size": 1,
    "warm_up": 0,
    "cool_down": 0,
    "reference_hidden": 0,
    "gibbs_steps": 1,
    "chain_life": 0,
    "modes": 0,
    "carriers": 1,
    "settling": 0,
}
_SINGLE = 3e38  # where single precision ends, in which machines are trained
_LIMITS = {  # numbers below these
    "learning_rate": _SINGLE,
    "final_learning_rate": _SINGLE,
    "bias_rate": _SINGLE,
    "distance": math.inf,
    "sparsity": _SINGLE,
    "persistent_from": math.nextafter(1.0, 2.0),
}


@dataclass(frozen=True, repr=False)
class Recipe:
    """A way of training.

    Length. Training ends after `epochs` passes over the data in batches of `batch_size`, or after
    `least_updates` if that is more; with a constant rate and `stop_early` also when it has converged. If
    `distance` is not 0, it ends when the sum of the rates of all updates has come to it, and not before.

    Rate. `learning_rate` multiplies the batch-mean gradient. It stays ("constant"), falls to
    `final_learning_rate` along a "cosine", or stays until `persistent_from` and then falls so that one over
    it rises evenly ("harmonic"), which gives all later updates about the same weight. It rises from 0 during
    the first `warm_up` updates, falls to 0 during the last `cool_down`, is multiplied by min(1,
    reference_hidden / n_hidden) if reference_hidden is not 0, and `bias_rate` is that of b and c over that of
    W. zero_bias: b = c = 0.

    Chains. `gibbs_steps` is k of CD-k, whose chains start at the data. From the fraction `persistent_from`
    of the training on, chains go on from update to update (PCD-k): 0 for all of it, 1 for none. A persistent
    chain starts anew at data after `chain_life` updates, 0 for never.

    Start and directions. `start`: "glorot" for random weights, "order" for hidden units that carry the order
    of the data and others that see what differs from it (see training.start). `carriers`: how many units may
    carry it together, a quarter of all at most; without biases it is one (see training.carriers). `settling`:
    steps of chains after the last update in which thresholds of these alone move (see training.settling).
    `modes`: how many stiff directions the gradient is scaled along, with the order apart from them and a rate
    that follows the spread of the data (see training.modes). `sparsity`: how strongly weights that the data
    do not ask for are drawn to zero, in standard errors (see training.sparse). These are for dense machines;
    `natural`, for symmetric ones, divides the gradient by the Fisher information (see training.natural).
    """

    name: str
    learning_rate: float
    epochs: int
    least_updates: int = 0
    distance: float = 0.0
    batch_size: int = 128
    stop_early: bool = True
    schedule: str = "constant"
    final_learning_rate: float = 0.0
    warm_up: int = 0
    cool_down: int = 0
    reference_hidden: int = 0
    bias_rate: float = 1.0
    zero_bias: bool = False
    gibbs_steps: int = 5
    persistent_from: float = 1.0
    chain_life: int = 0
    start: str = "glorot"
    carriers: int = 1
    settling: int = 0
    modes: int = 0
    sparsity: float = 0.0
    natural: bool = False

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise InputError(name, value, f"a whole number >= {least}")
            object.__setattr__(self, name, int(value))
        for name, limit in _LIMITS.items():
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < limit:
                raise InputError(
                    name, value, "a number >= 0" if limit == math.inf else f"between 0 and {limit:g}"
                )
            object.__setattr__(self, name, float(value))
        if self.learning_rate == 0:
            raise InputError("learning_rate", 0.0, "> 0")
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        if self.start not in STARTS:
            raise unknown_name("start", self.start, STARTS)
        if self.schedule == "harmonic" and not self.final_learning_rate:
            raise InputError("final_learning_rate", 0.0, "> 0 for a harmonic schedule")
        if self.distance and self.schedule != "constant":
            raise InputError("distance", self.distance, f"0 for a {self.schedule} schedule", "set epochs")

    def __repr__(self) -> str:
        """The name, and what has not its default value."""
        differing = [item.name for item in fields(self) if getattr(self, item.name) != item.default]
        return f"Recipe({', '.join(f'{name}={getattr(self, name)!r}' for name in differing)})"

    def _repr_html_(self) -> str:
        return html_table(f"Recipe: {self.name}", self.to_dict())

    def n_updates(self, per_epoch: int, n_hidden: int) -> int:
        """How many updates the training lasts, if an epoch has per_epoch."""
        if self.distance:
            rate = self.learning_rate * self._size_scale(n_hidden)
            return math.ceil(self.distance / rate + (self.warm_up + self.cool_down) / 2)
        return max(self.epochs * per_epoch, self.least_updates)

    def rate(self, update: int, n_updates: int, n_hidden: int) -> float:
        """Learning rate of one update, counted from 0, of n_updates."""
        scale = self._size_scale(n_hidden)
        scale *= min(1.0, (update + 1) / self.warm_up) if self.warm_up else 1.0
        scale *= min(1.0, (n_updates - update) / self.cool_down) if self.cool_down else 1.0
        if self.schedule == "constant":
            return scale * self.learning_rate
        if self.schedule == "harmonic":
            return scale / self._inverse_rate(update / n_updates)
        fall = (1 + math.cos(math.pi * update / n_updates)) / 2
        return scale * (self.final_learning_rate + (self.learning_rate - self.final_learning_rate) * fall)

    def _size_scale(self, n_hidden: int) -> float:
        return min(1.0, self.reference_hidden / n_hidden) if self.reference_hidden else 1.0

    def _inverse_rate(self, passed: float) -> float:
        """passed: fraction of the training."""
        never = self.persistent_from == 1.0  # no chain persists: the rate falls from the start
        begin = 0.0 if never else self.persistent_from
        falling = max(0.0, passed - begin) / (1 - begin)
        return 1 / self.learning_rate + falling * (1 / self.final_learning_rate - 1 / self.learning_rate)

    def to_dict(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)


RECIPES = {
    recipe.name: recipe
    for recipe in (
        # Section II C of the paper; it trained for 100 to 2000 epochs.
        Recipe("paper", learning_rate=1e-4, epochs=2000, batch_size=128, gibbs_steps=5),
        Recipe(
            "fast",
            learning_rate=2e-2,
            epochs=7,
            least_updates=2700,
            schedule="cosine",
            final_learning_rate=1e-5,
            warm_up=100,
            reference_hidden=400,
            bias_rate=0.05,
            gibbs_steps=1,
            persistent_from=0.5,
            chain_life=256,
            start="order",
            carriers=32,
            settling=400,
            modes=8,
            sparsity=1.0,
        ),
    )
}


def choose_recipe(
    recipe: str | Recipe, changes: dict[str, Any] | None = None, named: Mapping[str, Recipe] = RECIPES
) -> Recipe:
    """A recipe by name or as it is, with some fields changed; `named` are those of one kind of machine."""
    if isinstance(recipe, str):
        if recipe not in named:
            raise unknown_name("recipe", recipe, named)
        recipe = named[recipe]
    if not isinstance(recipe, Recipe):
        raise InputError("recipe", recipe, "a name or a Recipe")
    names = [field.name for field in fields(Recipe)]
    for name in changes or {}:
        if name not in names:
            raise unknown_name("recipe option", name, names)
    return replace(recipe, **(changes or {}))
