"""How to train: everything that determines the path of the parameters, but for data, size and seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

from thermorbm.errors import InputError, unknown_name

OPTIMIZERS = ("sgd", "adam")
SCHEDULES = ("constant", "cosine", "harmonic")
STARTS = ("glorot", "local")
_LATER = {"start": "glorot", "ordered_rate": 1.0}


@dataclass(frozen=True)
class Recipe:
    """A way of training.

    learning_rate: on the batch-mean gradient, at the start; for "cosine" it falls to `final_learning_rate` at
    the end, and for "harmonic" it stays until `persistent_from`, then one over it rises evenly, so that all
    later updates have about the same weight in the end. It is multiplied by min(1, reference_hidden /
    n_hidden) if reference_hidden is not 0, by `ordered_rate` where the data are ordered, and rises from 0
    during the first `warm_up` updates, while chains and machine get to know each other.
    gibbs_steps: k of CD-k or PCD-k. persistent: PCD, chains go on from update to update; else CD, chains
    start at the data. n_chains: persistent chains, 0 for as many as the batch; the batch size over it must
    be a power of two. chain_life: updates after which a persistent chain starts anew, 0 for never; at data,
    or with random_starts at data and at random spins in turn, unless the data are ordered. n_replicas > 1:
    from the fraction `tempered_from` of the training on, they exchange places with hotter ones, at inverse
    temperatures from 1 down to `hottest` of the machine's own energy.
    flip, translate: data are used with a random global sign, and randomly shifted along the lattice.
    natural: the gradient is divided by the Fisher information, see training.natural; for symmetric machines.
    persistent_from: the fraction of the training after which persistent chains take over from ones that start
    at the data; for symmetric machines.
    start: weights of a dense machine, "glorot" for random ones, "local" for units that each see the spins
    around a site, where the data have a lattice.
    modes: stiff directions along which the gradient is scaled down, see training.modes. zero_bias: b = c = 0.
    bias_rate: learning rate of b and c over that of W.
    Training ends after `epochs` passes over the data, or `least_updates` if that is more; with a constant
    rate and `stop_early` also when it has converged.
    """

    name: str
    learning_rate: float
    epochs: int
    batch_size: int = 128
    gibbs_steps: int = 5
    persistent: bool = False
    optimizer: str = "sgd"
    momentum: float = 0.0
    schedule: str = "constant"
    final_learning_rate: float = 0.0
    reference_hidden: int = 0
    ordered_rate: float = 1.0
    warm_up: int = 0
    n_chains: int = 0
    chain_life: int = 0
    random_starts: bool = False
    n_replicas: int = 1
    hottest: float = 0.8
    tempered_from: float = 0.0
    flip: bool = False
    translate: bool = False
    start: str = "glorot"
    modes: int = 0
    natural: bool = False
    persistent_from: float = 0.0
    zero_bias: bool = False
    bias_rate: float = 1.0
    least_updates: int = 0
    stop_early: bool = True

    def __post_init__(self) -> None:
        for name, least in (
            ("epochs", 1),
            ("batch_size", 1),
            ("gibbs_steps", 1),
            ("n_chains", 0),
            ("chain_life", 0),
            ("n_replicas", 1),
            ("reference_hidden", 0),
            ("warm_up", 0),
            ("modes", 0),
            ("least_updates", 0),
        ):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise InputError(name, value, f"a whole number >= {least}")
            object.__setattr__(self, name, int(value))
        for name, low, high in (
            ("learning_rate", 0.0, math.inf),
            ("final_learning_rate", 0.0, math.inf),
            ("ordered_rate", 0.0, math.inf),
            ("momentum", 0.0, 1.0),
            ("hottest", 0.0, 1.0),
            ("tempered_from", 0.0, 1.0),
            ("persistent_from", 0.0, 1.0),
            ("bias_rate", 0.0, math.inf),
        ):
            value = getattr(self, name)
            if not isinstance(value, Real) or not low <= float(value) < high:
                raise InputError(name, value, f"a number in [{low:g}, {high:g})")
            object.__setattr__(self, name, float(value))
        for name in ("learning_rate", "ordered_rate"):
            if getattr(self, name) == 0:
                raise InputError(name, 0.0, "> 0")
        if self.optimizer not in OPTIMIZERS:
            raise unknown_name("optimizer", self.optimizer, OPTIMIZERS)
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        if self.start not in STARTS:
            raise unknown_name("start", self.start, STARTS)
        if self.schedule == "harmonic" and not self.final_learning_rate:
            raise InputError("final_learning_rate", 0.0, "> 0 for a harmonic schedule")
        ratio = self.batch_size / self.n_chains if self.n_chains else 1
        if ratio < 1 or math.log2(ratio) % 1:
            raise InputError("n_chains", self.n_chains, f"batch_size {self.batch_size} over a power of two")
        if self.n_replicas > 1 and not self.persistent:
            raise InputError("n_replicas", self.n_replicas, "1 unless chains are persistent")

    def rate(self, update: int, n_updates: int, n_hidden: int, ordered: bool = False) -> float:
        """Learning rate of one update, counted from 0, of n_updates. ordered: whether the data are."""
        scale = min(1.0, self.reference_hidden / n_hidden) if self.reference_hidden else 1.0
        scale *= self.ordered_rate if ordered else 1.0
        scale *= min(1.0, (update + 1) / self.warm_up) if self.warm_up else 1.0
        if self.schedule == "constant":
            return scale * self.learning_rate
        if self.schedule == "harmonic":
            return scale / self._inverse_rate(update / n_updates)
        fall = (1 + math.cos(math.pi * update / n_updates)) / 2
        return scale * (self.final_learning_rate + (self.learning_rate - self.final_learning_rate) * fall)

    def _inverse_rate(self, passed: float) -> float:
        """passed: fraction of the training."""
        falling = max(0.0, passed - self.persistent_from) / (1 - self.persistent_from)
        return 1 / self.learning_rate + falling * (1 / self.final_learning_rate - 1 / self.learning_rate)

    def to_dict(self) -> dict[str, Any]:
        """All fields, but not the later ones that do nothing: results from before them do not name them."""
        return {key: value for key, value in asdict(self).items() if _LATER.get(key) != value}


RECIPES = {
    recipe.name: recipe
    for recipe in (
        # Section II C of the paper; it trained for 100 to 2000 epochs.
        Recipe("paper", learning_rate=1e-4, epochs=2000, batch_size=128, gibbs_steps=5),
        Recipe(
            "fast",
            learning_rate=2e-2,
            epochs=6,
            start="local",
            least_updates=2400,
            modes=8,
            gibbs_steps=1,
            persistent=True,
            schedule="cosine",
            final_learning_rate=1e-5,
            reference_hidden=400,
            ordered_rate=2.0,
            warm_up=100,
            chain_life=256,
            random_starts=True,
            bias_rate=0.05,
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
