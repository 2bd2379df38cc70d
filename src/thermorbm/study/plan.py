"""From a study to its tasks: pure functions, the same study gives the same tasks with the same hashes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from thermorbm.errors import InputError
from thermorbm.exact import TC_2D
from thermorbm.lattice import n_point_symmetries
from thermorbm.runner.task import Task, derived_seed
from thermorbm.study.data_plan import DataPlanner
from thermorbm.study.quantities import registry_digest
from thermorbm.study.spec import Extrapolation, Family, Scaling, Study, Variant
from thermorbm.study.steps import STEPS
from thermorbm.study.steps.step import MachinePlace

if TYPE_CHECKING:
    from thermorbm.study.sources import Source

MOST_MACHINES = 100_000
# Where the stepwise start of generated configurations turns, in T_c; the paper's 2.0 and 2.5 in 2d.
TURNS = (2.0 / TC_2D, 2.5 / TC_2D)
# Of symmetric machines alone: raised by one when they learn otherwise, so that dense ones are not made anew.
NATURAL = 4
# Fields of a recipe that have always been part of what names a training. Any other field is only where it is
# not at its default, so that a field that is added to `Recipe` leaves all older trainings as they are.
RECIPE_FIELDS = {
    "name", "learning_rate", "epochs", "least_updates", "batch_size", "stop_early", "schedule",
    "final_learning_rate", "warm_up", "reference_hidden", "bias_rate", "zero_bias", "gibbs_steps",
    "persistent_from", "chain_life", "start", "modes", "sparsity", "natural",
}  # fmt: skip
# Configurations of many temperatures have no one strength of order, and a unit that carries their mean makes
# the visible energy vary with the magnetisation: by examples/one_machine.py, where the peak of c_V is at
# 2.30, T_c is 2.365(8) instead of 2.296(8).
OF_UNIONS = {"start": "glorot"}


# Variants whose name begins so have several seeds at a few temperatures, for the errors of the others.
SCATTER = "scatter"


@dataclass(frozen=True, eq=False)
class Plan:
    """tasks: by id, every task after its inputs. study: what it was made from."""

    study: Study
    tasks: Mapping[str, Task]


def plan_study(study: Study) -> Plan:
    """All tasks of a study. Reads users' data files only to know their values and hashes."""
    precision = _resolved_precision(study)
    tasks: dict[str, Task] = {}
    for family in study.families:
        planner = FamilyPlanner(study, family, _sources(family) if family.data else {}, precision)
        tasks.update((task.id, task) for task in planner.tasks())
    for item in study.extrapolations:
        task = _extrapolate(item, study, tasks)
        tasks[task.id] = task
    for joined in study.scalings:
        task = _scale(joined, study, tasks)
        tasks[task.id] = task
    return Plan(study, tasks)


def _sources(family: Family) -> dict[float, Source]:
    from thermorbm.study.sources import find_sources

    return {source.value: source for source in find_sources(family)}


def _extrapolate(item: Extrapolation, study: Study, tasks: Mapping[str, Task]) -> Task:
    """The task that joins what the families of several sides say of T_c; it belongs to none of them."""
    estimates = [task for task in tasks.values() if task.kind == "estimate"]
    used = [task for name in item.families for task in estimates if task.labels["family"] == name]
    sides = {family.name: (family.shape or (0,))[0] for family in study.families}
    parameters = {"what": "extrapolation", "nu": item.nu, "sides": [sides[name] for name in item.families]}
    labels = {"family": None, "extrapolation": item.name}
    return STEPS["estimate"].task(f"{item.name}-extrapolation", parameters, used, labels)


def _scale(item: Scaling, study: Study, tasks: Mapping[str, Task]) -> Task:
    """The task that joins samples of families on lattices of several sides; it belongs to none of them."""
    used = [
        task
        for task in tasks.values()
        if task.labels["family"] in item.families
        and (task.kind == "energies" or (task.kind == "measure" and task.labels["sector"] == "symmetric"))
    ]
    shapes = {family.name: list(family.shape or ()) for family in study.families}
    parameters = {
        "omega": item.omega,
        "families": {name: shapes[name] for name in item.families},
        "seed": derived_seed(study.seed, "scaling", item.name),
    }
    labels = {"family": None, "scaling": item.name}
    return STEPS["scaling"].task(f"{item.name}-scaling", parameters, used, labels)


class FamilyPlanner(DataPlanner):
    """All tasks of one family: those of its data, then its machines."""

    def __init__(self, study: Study, family: Family, sources: Mapping[float, Source], precision: str) -> None:
        super().__init__(study, family, sources)
        self._precision = precision
        # Readings of machines that differ in their seed alone, by `as_paper`: the scatter between trainings.
        self._scatter: dict[bool, list[Task]] = {True: [], False: []}

    def tasks(self) -> Iterator[Task]:
        """Every task after its inputs."""
        yield from self.data_tasks()
        if self._has("entropy") or self._has("critical"):
            balanced = [task for task in self.measured if task.labels["sector"] == "symmetric"]
            yield self._estimate("thermodynamics", "", [*balanced, *self.energies], {})
        for variant in sorted(self._family.variants, key=lambda item: not item.name.startswith(SCATTER)):
            yield from self._variant(variant)

    def _variant(self, variant: Variant) -> Iterator[Task]:
        for n_hidden, n_filters in self._sizes(variant):
            recipe, readings = self._recipe(variant, n_hidden), list[Task]()
            labels = {"group": variant.name, "role": _role(variant, recipe), "union": variant.union}
            labels |= {"n_hidden": n_hidden, "as_paper": variant.as_paper}
            for value in [None] if variant.union else self._values_of(variant):
                recipe = self._recipe(variant, n_hidden, value)
                for index in range(variant.seeds):
                    place = self._machine(variant, n_hidden, n_filters, value, index, recipe, labels)
                    yield place.trained
                    readings += _readings(place)
            yield from readings
            if labels["role"] == SCATTER:
                self._scatter[variant.as_paper] += readings
            elif readings and self._has("critical"):
                again = self._scatter[variant.as_paper] if labels["role"] == "main" else []
                inputs = [*readings, *again]
                yield self._estimate("indicators", f"-{variant.name}-h{n_hidden}", inputs, labels)

    def _sizes(self, variant: Variant) -> list[tuple[int, int]]:
        """(n_hidden, n_filters) of each size; n_filters is 0 for dense machines."""
        shape = self._family.shape or ()
        units = math.prod(shape) * (n_point_symmetries(len(shape)) if variant.point_group else 1)
        sizes = [(n_hidden, 0) for n_hidden in variant.hidden] + [(f * units, f) for f in variant.filters]
        if variant.seeds * len(sizes) * len(self._values_of(variant)) > MOST_MACHINES:
            key = f"family.{self._family.name}.variant.{variant.name}.seeds"
            raise InputError(key, variant.seeds, f"so few that there are at most {MOST_MACHINES} machines")
        return sizes

    def _machine(
        self,
        variant: Variant,
        n_hidden: int,
        n_filters: int,
        value: float | None,
        index: int,
        recipe: dict[str, Any],
        labels: Mapping[str, Any],
    ) -> MachinePlace:
        """A machine with the task that trains it. value: None for all temperatures together."""
        values = self._values_of(variant) if value is None else (value,)
        datasets = {x: self.datasets[x, variant.sector] for x in values}
        self._check_proportions(variant, len(values))
        precision = variant.precision or self._precision
        if precision == "int8" and (n_filters or recipe["modes"]):
            raise InputError("precision", "int8", "for dense machines without stiff modes (modes = 0)")
        place = "union" if value is None else repr(value)
        parameters = self._symmetric(variant, n_filters) | {
            "n_hidden": n_hidden,
            "recipe": recipe,
            "samples": variant.samples,
            "proportions": None if variant.proportions is None else list(variant.proportions),
            "seed": self._seed("train", variant.name, place, n_hidden, index),
            "precision": "fp32" if n_filters else precision,
            "threads": 1,
            **({} if self._study.device == "cpu" else {"device": self._study.device}),
        }
        more = {"value": value, "sector": variant.sector, "seed_index": index}
        more |= {"filters": n_filters} if n_filters else {}
        name = self._machine_name(variant, n_hidden, n_filters, value, index)
        trained = STEPS["train"].task(
            name, parameters, list(datasets.values()), self._labels(**labels, **more)
        )
        return MachinePlace(
            self._study.seed, self._study.control, self._family, variant, n_hidden, n_filters, value,
            trained, datasets, self._turns(),
        )  # fmt: skip

    def _check_proportions(self, variant: Variant, n_values: int) -> None:
        if variant.proportions is not None and len(variant.proportions) != n_values:
            key = f"family.{self._family.name}.variant.{variant.name}.proportions"
            raise InputError(key, f"{len(variant.proportions)} numbers", f"{n_values}, one per temperature")

    def _symmetric(self, variant: Variant, n_filters: int) -> dict[str, Any]:
        """The parameters that only symmetric machines have."""
        if not n_filters:
            return {}
        parameters = {"filters": n_filters, "kernel": variant.kernel, "natural_gradient": NATURAL}
        return parameters | ({"point_group": True} if variant.point_group else {})

    def _machine_name(
        self, variant: Variant, n_hidden: int, n_filters: int, value: float | None, index: int
    ) -> str:
        place = "" if value is None else f"-{self._study.control.at(value)}"
        group = "" if variant.name == "main" else f"-{variant.name}"
        seed = f"-s{index}" if variant.seeds > 1 else ""
        filters = f"-f{n_filters}k{variant.kernel}{'g' if variant.point_group else ''}" if n_filters else ""
        return f"{self._family.name}{group}{place}{filters or f'-h{n_hidden}'}{seed}"

    def _estimate(self, what: str, suffix: str, inputs: Sequence[Task], labels: Mapping[str, Any]) -> Task:
        family = self._family
        parameters = {
            "what": what,
            "shape": self._shape,
            "hamiltonian": family.hamiltonian,
            "is_temperature": self._study.control.is_temperature,
            "union": bool(labels.get("union")),
            "parts": [part for part in ("entropy", "critical") if self._has(part)],
            "quantities": registry_digest(),
            "seed": self._seed("estimate", what, suffix),
            **self._named,
        }
        name = f"{family.name}-{what}{suffix}"
        return STEPS["estimate"].task(name, parameters, inputs, self._labels(**labels))

    def _turns(self) -> list[float] | None:
        """Temperatures at which the stepwise start turns, None where T_c is not known."""
        critical = self._family.critical_temperature
        if critical is None:
            return None
        return [round(turn * critical, 6) for turn in TURNS]

    def _recipe(self, variant: Variant, n_hidden: int, value: float | None = None) -> dict[str, Any]:
        """The fields that name a training. value: of the temperature, None for what all have in common."""
        from thermorbm.training.design import SYMMETRIC_RECIPES  # brings torch with it
        from thermorbm.training.recipe import RECIPES, choose_recipe

        try:
            named = SYMMETRIC_RECIPES if variant.filters else RECIPES
            changes = {**variant.changes, **variant.size_changes.get(n_hidden, {})}
            if value is not None:
                changes |= variant.value_changes.get(value, {})
            if variant.union and variant.recipe == "fast":
                changes = {**OF_UNIONS, **changes}
            return recipe_parameters(choose_recipe(variant.recipe, changes, named))
        except (InputError, TypeError) as error:
            key = f"family.{self._family.name}.variant.{variant.name}"
            raise InputError(key, variant.recipe, f"trained by a valid recipe: {error}") from error


def recipe_parameters(recipe: Any) -> dict[str, Any]:
    """What names a training: the fields of RECIPE_FIELDS, and others that are not at their default."""
    return {
        item.name: value
        for item in fields(recipe)
        if (value := getattr(recipe, item.name)) != item.default or item.name in RECIPE_FIELDS
    }


def _readings(place: MachinePlace) -> list[Task]:
    """What steps read from a trained machine, in the order of the steps."""
    for step in STEPS.values():
        place.made[step.name] = step.of_machine(place)
    return [task for tasks in place.made.values() for task in tasks]


def _role(variant: Variant, recipe: Mapping[str, Any]) -> str:
    """What the machines of a variant are for, which decides where the report shows them."""
    if variant.filters:
        return "symmetric"
    if variant.union:
        return "union" if variant.proportions is None else "union-proportions"
    for role in ("main", SCATTER):
        if variant.name.startswith(role):
            return role
    if variant.sector != "symmetric":
        return "unbalanced"
    if recipe["zero_bias"]:
        return "zero-bias"
    return "main" if variant.as_paper else "other"


def _resolved_precision(study: Study) -> str:
    """The precision that "auto" stands for here; it is part of what names a training."""
    if study.precision != "auto" or not any(family.variants for family in study.families):
        return study.precision
    if study.device == "cuda":
        return "bf16"  # the planner may have no GPU to ask; those of a cluster multiply it faster
    import torch

    from thermorbm.training.devices import PRECISIONS, choose_precision

    chosen = choose_precision("auto", torch.device("cpu"))
    return next(name for name, dtype in PRECISIONS.items() if dtype == chosen)
