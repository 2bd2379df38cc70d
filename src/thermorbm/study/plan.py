"""From a study to its tasks: pure functions, the same study gives the same tasks with the same hashes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thermorbm.errors import InputError
from thermorbm.exact import TC_2D, TC_3D
from thermorbm.lattice import n_point_symmetries
from thermorbm.study.spec import Control, Extrapolation, Family, Group, Sector, Study
from thermorbm.study.tasks import Task, derived_seed, make_task

if TYPE_CHECKING:
    from thermorbm.study.sources import Source

MOST_MACHINES = 100_000
OBSERVED_PARTS = ("likelihood", "visible-energy", "hidden", "generation", "quality")
OF_ONE_TEMPERATURE = ("generation", "quality")  # a machine for all of them cannot be told which
# Where the stepwise start of generated configurations changes, in T_c; the paper's 2.0 and 2.5 in 2d.
STEPS = (2.0 / TC_2D, 2.5 / TC_2D)
CRITICAL = {2: TC_2D, 3: TC_3D}
# Of symmetric machines alone: raised by one when they learn otherwise, so that dense ones are not made anew.
NATURAL = 4
# What is read off filters remembers where they started, and is compared between temperatures. So in studies
# dense machines start as the paper's do, at one rate, and take longer, unless changes say otherwise.
FAST = {"start": "glorot", "ordered_rate": 1.0, "epochs": 15, "least_updates": 3000}


@dataclass(frozen=True, eq=False)
class Plan:
    """tasks: by id, every task after its inputs. study: what it was made from."""

    study: Study
    tasks: Mapping[str, Task]


@dataclass(frozen=True)
class Machine:
    """The place of one machine in its family. value: None for one trained on all temperatures together.

    n_filters: of a symmetric machine, 0 for a dense one.
    """

    group: Group
    n_hidden: int
    seed_index: int
    value: float | None
    n_filters: int = 0


def plan_study(study: Study) -> Plan:
    """All tasks of a study. Reads users' data files only to know their values and hashes."""
    precision = _resolved_precision(study)
    tasks: dict[str, Task] = {}
    for family in study.families:
        sources = _sources(family) if family.data else {}
        planner = FamilyPlanner(study.seed, study.control, family, sources, precision, study.device)
        tasks.update((task.id, task) for task in planner.tasks())
    for item in study.extrapolations:
        task = _extrapolate(item, study, tasks)
        tasks[task.id] = task
    return Plan(study, tasks)


def _sources(family: Family) -> dict[float, Source]:
    from thermorbm.study.sources import find_sources  # brings scipy with it

    return {source.value: source for source in find_sources(family)}


def _extrapolate(item: Extrapolation, study: Study, tasks: Mapping[str, Task]) -> Task:
    """The task that joins what the families of several sides say of T_c; it belongs to none of them."""
    estimates = [task for task in tasks.values() if task.kind == "estimate"]
    used = [task for name in item.families for task in estimates if task.labels["family"] == name]
    sides = {family.name: (family.shape or (0,))[0] for family in study.families}
    parameters = {"what": "extrapolation", "nu": item.nu, "sides": [sides[name] for name in item.families]}
    labels = {"family": None, "extrapolation": item.name}
    return make_task("estimate", f"{item.name}-extrapolation", parameters, used, labels)


class FamilyPlanner:
    """The tasks of one family."""

    def __init__(
        self,
        seed: int,
        control: Control,
        family: Family,
        sources: Mapping[float, Source],
        precision: str,
        device: str,
    ) -> None:
        self._seed, self._control, self._family, self._device = seed, control, family, device
        self._sources, self._precision = sources, precision
        self._values = tuple(sources) if family.data else family.temperatures
        self._datasets: dict[tuple[float, Sector], Task] = {}

    def tasks(self) -> Iterator[Task]:
        """Every task after its inputs."""
        self._datasets = {key: self._dataset(*key) for key in self._dataset_keys()}
        yield from self._datasets.values()
        measured = [self._measure(value, sector, task) for (value, sector), task in self._datasets.items()]
        energies = list(self._energies())
        yield from [*measured, *energies]
        if self._has("entropy") or self._has("critical"):
            balanced = [task for task in measured if task.labels["sector"] == "symmetric"]
            yield self._estimate("thermodynamics", "", [*balanced, *energies], {})
        for group in self._family.groups:
            yield from self._group(group)

    def _dataset_keys(self) -> list[tuple[float, Sector]]:
        """(value, sector): all values in the symmetric sector, and those of other sectors that are used."""
        keys: list[tuple[float, Sector]] = [(value, "symmetric") for value in self._values]
        for group in self._family.groups:
            keys += [(value, group.sector) for value in self._group_values(group)]
        return list(dict.fromkeys(keys))

    def _group_values(self, group: Group) -> tuple[float, ...]:
        values = self._values if group.temperatures is None else group.temperatures
        for value in values:
            if value not in self._values:
                key = f"family.{self._family.name}.variant.{group.name}.temperatures"
                raise InputError(key, value, "among the values of the data")
        return values

    def _dataset(self, value: float, sector: Sector) -> Task:
        family = self._family
        shape = None if family.shape is None else list(family.shape)
        name = self._name(value, sector)
        labels = self._labels(value=value, sector=sector)
        seed = derived_seed(self._seed, "data", family.name, repr(value), sector)
        if family.data:
            return self._imported(value, name, labels, {"shape": shape, "value": value, "seed": seed})
        n_held_out = min(5000, max(2, family.samples // 10)) if family.held_out is None else family.held_out
        parameters = {
            "shape": shape,
            "temperature": value,
            "samples": family.samples,
            "held_out": n_held_out,
            "method": family.method,
            "sector": sector,
            "seed": seed,
        }
        return make_task("sample", name, parameters, labels=labels)

    def _imported(self, value: float, name: str, labels: dict[str, Any], known: dict[str, Any]) -> Task:
        pieces = [
            {"sha256": piece.sha256, "array": piece.array, "parameter_array": piece.parameter_array}
            for piece in self._sources[value].pieces
        ]
        parameters = {
            **known,
            "pieces": pieces,
            "held_out": self._family.held_out,
            "is_temperature": self._control.is_temperature,
        }
        paths = [str(piece.path) for piece in self._sources[value].pieces]
        return make_task("import", name, parameters, labels={**labels, "files": paths})

    def _measure(self, value: float, sector: Sector, dataset: Task) -> Task:
        parameters = {"hamiltonian": self._family.hamiltonian, "thermal": self._has("thermal")}
        return make_task("measure", self._name(value, sector), parameters, [dataset], dataset.labels)

    def _energies(self) -> Iterator[Task]:
        grid = self._family.energies
        if grid is None or not self._has("entropy"):
            return
        for value in grid.temperatures:
            parameters = {
                "shape": list(self._family.shape or ()),
                "temperature": value,
                "samples": grid.samples,
                "method": self._family.method,
                "seed": derived_seed(self._seed, "energies", self._family.name, repr(value)),
            }
            yield make_task("energies", self._name(value), parameters, labels=self._labels(value=value))

    def _group(self, group: Group) -> Iterator[Task]:
        shape = self._family.shape or ()
        units = math.prod(shape) * (n_point_symmetries(len(shape)) if group.point_group else 1)
        sizes = [(n_hidden, 0) for n_hidden in group.hidden] + [(f * units, f) for f in group.filters]
        n_machines = group.seeds * len(sizes) * len(self._group_values(group))
        if n_machines > MOST_MACHINES:
            key = f"family.{self._family.name}.variant.{group.name}.seeds"
            raise InputError(key, group.seeds, f"so few that there are at most {MOST_MACHINES} machines")
        for n_hidden, n_filters in sizes:
            recipe, described = self._recipe(group, n_hidden), list[Task]()
            role = _role(group, recipe)
            for machine in self._machines(group, n_hidden, n_filters):
                trained = self._train(machine, recipe, role)
                described += self._readings(machine, trained)
                yield trained
            yield from described
            if described and self._has("critical"):
                labels = {"group": group.name, "role": role, "union": group.union, "n_hidden": n_hidden}
                yield self._estimate("indicators", f"-{group.name}-h{n_hidden}", described, labels)

    def _machines(self, group: Group, n_hidden: int, n_filters: int) -> list[Machine]:
        values: Sequence[float | None] = [None] if group.union else self._group_values(group)
        places = [(index, value) for value in values for index in range(group.seeds)]
        return [Machine(group, n_hidden, index, value, n_filters) for index, value in places]

    def _readings(self, machine: Machine, trained: Task) -> list[Task]:
        """What is read off a trained machine."""
        if machine.n_filters:
            return [self._interactions(machine, trained), *self._brackets(machine, trained)]
        described = [*self._weights(machine, trained), *self._observations(machine, trained)]
        return described + self._brackets(machine, trained)

    def _interactions(self, machine: Machine, trained: Task) -> Task:
        assert machine.value is not None
        parameters = {
            "hamiltonian": self._family.hamiltonian,
            "seed": derived_seed(self._seed, "interactions", trained.name),
        }
        dataset = self._datasets[machine.value, machine.group.sector]
        return make_task("interactions", trained.name, parameters, [trained, dataset], trained.labels)

    def _train(self, machine: Machine, recipe: dict[str, Any], role: str) -> Task:
        group, used = machine.group, self._used(machine)
        place = "union" if machine.value is None else repr(machine.value)
        names = "train", self._family.name, group.name, place, machine.n_hidden, machine.seed_index
        symmetric: dict[str, Any] = {}
        if machine.n_filters:
            symmetric = {"filters": machine.n_filters, "kernel": group.kernel, "natural_gradient": NATURAL}
            symmetric |= {"point_group": True} if group.point_group else {}
        parameters = {
            **symmetric,
            "n_hidden": machine.n_hidden,
            "recipe": recipe,
            "samples": group.samples,
            "proportions": None if group.proportions is None else list(group.proportions),
            "seed": derived_seed(self._seed, *names),
            "precision": "fp32" if symmetric else self._precision,
            "threads": 1,
            **({} if self._device == "cpu" else {"device": self._device}),
        }
        labels = {**self._machine_labels(machine), "role": role}
        return make_task("train", self._machine_name(machine), parameters, used, labels)

    def _used(self, machine: Machine) -> list[Task]:
        """The datasets that a machine is trained on."""
        group = machine.group
        values = self._group_values(group) if machine.value is None else (machine.value,)
        if group.proportions is not None and len(group.proportions) != len(values):
            key = f"family.{self._family.name}.variant.{group.name}.proportions"
            raise InputError(key, f"{len(group.proportions)} numbers", f"{len(values)}, one per temperature")
        return [self._datasets[value, group.sector] for value in values]

    def _weights(self, machine: Machine, trained: Task) -> Iterator[Task]:
        if self._has("weights"):
            smallest = machine.group.name == "main" and machine.n_hidden == min(machine.group.hidden)
            everything = smallest and machine.value in self._family.all_filters
            shape = None if self._family.shape is None else list(self._family.shape)
            parameters = {"all_filters": everything, "shape": shape}
            yield make_task("weights", trained.name, parameters, [trained], trained.labels)

    def _observations(self, machine: Machine, trained: Task) -> Iterator[Task]:
        parts = [part for part in OBSERVED_PARTS if self._has(part)]
        if machine.value is None:
            parts = [part for part in parts if part not in OF_ONE_TEMPERATURE]
        for value in self._read_values(machine) if parts else ():
            name = self._reading_name(machine, trained, value)
            parameters = {
                "parts": parts,
                "steps": self._steps(),
                "seed": derived_seed(self._seed, "observe", trained.name, repr(value)),
            }
            dataset = self._datasets[value, machine.group.sector]
            yield make_task(
                "observe", name, parameters, [trained, dataset], {**trained.labels, "value": value}
            )

    def _brackets(self, machine: Machine, trained: Task) -> list[Task]:
        """ln Z of the machine, and the entropy bracket at each value."""
        if not self._has("bracket"):
            return []
        seed = derived_seed(self._seed, "partition", trained.name)
        partition = make_task("partition", trained.name, {"seed": seed}, [trained], trained.labels)
        found = [partition]
        for value in self._read_values(machine):
            name = self._reading_name(machine, trained, value)
            seed = derived_seed(self._seed, "bracket", trained.name, repr(value))
            parameters = {"seed": seed, "hamiltonian": self._family.hamiltonian}
            inputs = [trained, self._datasets[value, machine.group.sector], partition]
            found.append(make_task("bracket", name, parameters, inputs, {**trained.labels, "value": value}))
        return found

    def _read_values(self, machine: Machine) -> Sequence[float]:
        """The values at which a machine is read."""
        return self._group_values(machine.group) if machine.value is None else (machine.value,)

    def _reading_name(self, machine: Machine, trained: Task, value: float) -> str:
        return trained.name if machine.value is not None else f"{trained.name}-{self._at(value)}"

    def _estimate(self, what: str, suffix: str, inputs: Sequence[Task], labels: dict[str, Any]) -> Task:
        family = self._family
        parameters = {
            "what": what,
            "shape": None if family.shape is None else list(family.shape),
            "hamiltonian": family.hamiltonian,
            "is_temperature": self._control.is_temperature,
            "union": bool(labels.get("union")),
            "parts": [part for part in ("entropy", "critical") if self._has(part)],
            "seed": derived_seed(self._seed, "estimate", family.name, what, suffix),
        }
        name = f"{family.name}-{what}{suffix}"
        return make_task("estimate", name, parameters, inputs, self._labels(**labels))

    def _steps(self) -> list[float] | None:
        """Temperatures at which the stepwise start changes, None where T_c is not known."""
        known = None if self._family.shape is None else CRITICAL.get(len(self._family.shape))
        if known is None or self._family.hamiltonian != "ising":
            return None
        return [round(step * known, 6) for step in STEPS]

    def _recipe(self, group: Group, n_hidden: int) -> dict[str, Any]:
        from thermorbm.training.design import SYMMETRIC_RECIPES  # brings torch with it
        from thermorbm.training.recipe import RECIPES, choose_recipe

        try:
            named = SYMMETRIC_RECIPES if group.filters else RECIPES
            changes = {**group.changes, **group.size_changes.get(n_hidden, {})}
            if group.recipe == "fast" and not group.filters:
                changes = FAST | changes
            return choose_recipe(group.recipe, changes, named).to_dict()
        except (InputError, TypeError) as error:
            key = f"family.{self._family.name}.variant.{group.name}"
            raise InputError(key, group.recipe, f"trained by a valid recipe: {error}") from error

    def _has(self, part: str) -> bool:
        return part in self._family.parts

    def _at(self, value: float) -> str:
        return f"{'T' if self._control.is_temperature else 'x'}{value:.10g}"

    def _name(self, value: float, sector: Sector = "symmetric") -> str:
        suffix = "" if sector == "symmetric" else f"-{sector}"
        return f"{self._family.name}-{self._at(value)}{suffix}"

    def _machine_name(self, machine: Machine) -> str:
        place = "" if machine.value is None else f"-{self._at(machine.value)}"
        group = "" if machine.group.name == "main" else f"-{machine.group.name}"
        seed = f"-s{machine.seed_index}" if machine.group.seeds > 1 else ""
        filters = f"-f{machine.n_filters}k{machine.group.kernel}" if machine.n_filters else ""
        filters += "g" if machine.group.point_group else ""
        return f"{self._family.name}{group}{place}{filters or f'-h{machine.n_hidden}'}{seed}"

    def _machine_labels(self, machine: Machine) -> dict[str, Any]:
        return self._labels(
            value=machine.value,
            group=machine.group.name,
            union=machine.group.union,
            sector=machine.group.sector,
            n_hidden=machine.n_hidden,
            seed_index=machine.seed_index,
            **({"filters": machine.n_filters} if machine.n_filters else {}),
        )

    def _labels(self, **labels: Any) -> dict[str, Any]:
        return {"family": self._family.name, **labels}


def _role(group: Group, recipe: Mapping[str, Any]) -> str:
    """What the machines of a group are for, which decides where the report shows them."""
    if group.filters:
        return "symmetric"
    if group.union:
        return "union" if group.proportions is None else "union-proportions"
    if group.name == "main":
        return "main"
    if group.sector != "symmetric":
        return "unbalanced"
    return "zero-bias" if recipe["zero_bias"] else "other"


def _resolved_precision(study: Study) -> str:
    """The precision that "auto" stands for here; it is part of what names a training."""
    if study.precision != "auto" or not any(family.groups for family in study.families):
        return study.precision
    if study.device == "cuda":
        return "bf16"  # the planner may have no GPU to ask; those of a cluster multiply it faster
    import torch

    from thermorbm.training.devices import PRECISIONS, choose_precision

    chosen = choose_precision("auto", torch.device("cpu"))
    return next(name for name, dtype in PRECISIONS.items() if dtype == chosen)
