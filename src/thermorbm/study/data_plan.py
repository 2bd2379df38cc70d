"""The tasks of a family that make configurations and measure them, before any machine is trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from thermorbm.errors import InputError
from thermorbm.reading import default_held_out
from thermorbm.runner.task import Task, derived_seed
from thermorbm.study.spec import EnergyGrid, Family, Sector, Study, Variant
from thermorbm.study.steps import STEPS
from thermorbm.study.steps.ladder import shared_temperatures
from thermorbm.study.steps.step import DataPlace

if TYPE_CHECKING:
    from thermorbm.study.sources import Source


class DataPlanner:
    """What is sampled or read for one family, and the names and seeds of its tasks.

    datasets: the tasks that make them, by value of the control parameter and sector. measured: what is read
    from datasets alone. energies: the grid at which only energies are measured.
    """

    def __init__(self, study: Study, family: Family, sources: Mapping[float, Source]) -> None:
        self._study, self._family, self._sources = study, family, sources
        self._shape = None if family.shape is None else list(family.shape)
        self._named = {} if family.named is None else {"named": family.named.parameters}
        self._values = tuple(sources) if family.data else family.temperatures
        self._grid = family.energies if self._has("entropy") else None
        self._ladders = self._data_ladders()
        self._grid_ladders = self._energy_ladders()
        self.datasets = {key: self._dataset(*key) for key in self._dataset_keys()}
        places = [DataPlace(family, *key, task) for key, task in self.datasets.items()]
        self.measured = [task for place in places for step in STEPS.values() for task in step.of_data(place)]
        self.energies = [] if self._grid is None else list(self._energies(self._grid))

    def data_tasks(self) -> list[Task]:
        """Every task after its inputs."""
        ladders = [*self._ladders.values(), *self._grid_ladders.values()]
        return [*ladders, *self.datasets.values(), *self.measured, *self.energies]

    def _dataset_keys(self) -> list[tuple[float, Sector]]:
        """(value, sector): all values in the symmetric sector, and those of other sectors that are used."""
        keys: list[tuple[float, Sector]] = [(value, "symmetric") for value in self._values]
        for variant in self._family.variants:
            keys += [(value, variant.sector) for value in self._values_of(variant)]
        return list(dict.fromkeys(keys))

    def _values_of(self, variant: Variant) -> tuple[float, ...]:
        values = self._values if variant.temperatures is None else variant.temperatures
        for value in values:
            if value not in self._values:
                key = f"family.{self._family.name}.variant.{variant.name}.temperatures"
                raise InputError(key, value, "among the values of the data")
        return values

    def _data_ladders(self) -> dict[tuple[float, Sector], Task]:
        """Of each sector the ladder that samples several temperatures together, by each of these."""
        keys, ladders = self._dataset_keys(), dict[tuple[float, Sector], Task]()
        n_samples = self._family.samples + self._n_held_out
        for sector in dict.fromkeys(sector for _, sector in keys):
            values = [value for value, other in keys if other == sector]
            for value, task in self._ladder("data", values, n_samples, sector).items():
                ladders[value, sector] = task
        return ladders

    def _energy_ladders(self) -> dict[float, Task]:
        """The same of the grid of energies: another ladder, so that its points do not change datasets."""
        grid = self._grid
        return {} if grid is None else self._ladder("energies", grid.temperatures, grid.samples)

    def _ladder(
        self, what: str, values: Sequence[float], n_samples: int, sector: Sector = "symmetric"
    ) -> dict[float, Task]:
        shared = shared_temperatures(self._family, values)
        parameters = {
            "shape": self._shape,
            "temperatures": shared,
            "samples": n_samples,
            "method": self._family.method,
            "sector": sector,
            "seed": self._seed("ladder", what, sector),
            **self._named,
        }
        suffix = "" if sector == "symmetric" else f"-{sector}"
        name = f"{self._family.name}-{what}{suffix}"
        return dict.fromkeys(shared, STEPS["ladder"].task(name, parameters, labels=self._labels()))

    @property
    def _n_held_out(self) -> int:
        given = self._family.held_out
        return max(2, default_held_out(self._family.samples)) if given is None else given

    def _dataset(self, value: float, sector: Sector) -> Task:
        seed, labels = self._seed("data", repr(value), sector), self._labels(value=value, sector=sector)
        if self._family.data:
            return self._imported(value, seed, labels)
        parameters = {"samples": self._family.samples, "held_out": self._n_held_out, "sector": sector}
        ladder = self._ladders.get((value, sector))
        return self._sampled("sample", value, {**parameters, "seed": seed}, ladder, labels)

    def _energies(self, grid: EnergyGrid) -> Iterator[Task]:
        for value in grid.temperatures:
            parameters = {"samples": grid.samples, "seed": self._seed("energies", repr(value))}
            ladder = self._grid_ladders.get(value)
            yield self._sampled("energies", value, parameters, ladder, self._labels(value=value))

    def _sampled(
        self, kind: str, value: float, more: dict[str, Any], ladder: Task | None, labels: dict[str, Any]
    ) -> Task:
        """A task that samples one temperature, or takes it from a ladder: then the ladder's seed counts."""
        name = self._name(value, labels.get("sector", "symmetric"))
        parameters: dict[str, Any] = {"shape": self._shape, "temperature": value, **self._named, **more}
        parameters["method"] = self._family.method
        if ladder is None:
            return STEPS[kind].task(name, parameters, labels=labels)
        return STEPS[kind].task(name, {**parameters, "seed": ladder.parameters["seed"]}, [ladder], labels)

    def _imported(self, value: float, seed: int, labels: dict[str, Any]) -> Task:
        pieces = self._sources[value].pieces
        parameters = {
            "shape": self._shape,
            "seed": seed,
            "value": value,
            "pieces": [
                {"sha256": piece.sha256, "array": piece.array, "parameter_array": piece.parameter_array}
                for piece in pieces
            ],
            "held_out": self._family.held_out,
            "is_temperature": self._study.control.is_temperature,
            **self._named,
        }
        files = [str(piece.path) for piece in pieces]
        name = self._name(value, labels["sector"])
        return STEPS["import"].task(name, parameters, labels={**labels, "files": files})

    def _seed(self, what: str, *names: object) -> int:
        return derived_seed(self._study.seed, what, self._family.name, *names)

    def _has(self, part: str) -> bool:
        return part in self._family.parts

    def _name(self, value: float, sector: Sector = "symmetric") -> str:
        suffix = "" if sector == "symmetric" else f"-{sector}"
        return f"{self._family.name}-{self._study.control.at(value)}{suffix}"

    def _labels(self, **labels: Any) -> dict[str, Any]:
        return {"family": self._family.name, **labels}
