"""What a run directory holds: typed results, and the arrays of reduced results when asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from markupsafe import Markup

from thermorbm.errors import FileError
from thermorbm.records import NotDone
from thermorbm.report.labels import TC, Label, Measured, T, list_with, plain
from thermorbm.runner.rundir import existing_run
from thermorbm.runner.store import read_reduced
from thermorbm.runner.task import ID
from thermorbm.study.quantities import ON_TRAINING_DATA, Arrays
from thermorbm.study.results import (
    Curve,
    Data,
    FamilyResults,
    Indicators,
    MachineResults,
    Observation,
    Results,
    Thermodynamics,
    Weights,
    read_results,
)

FILE = re.compile(rf"reduced/{ID.pattern}\.h5")
# (x, value, error) of every point of a curve.
Points = list[tuple[float, float, float]]
ValueAndError = tuple[float, float]
Some = TypeVar("Some")
Several = TypeVar("Several", bound=Sized)

NO_MACHINES = {
    "main": "no machines for single datasets were trained",
    "symmetric": "no symmetric machines were trained",
    "union": "no machine was trained on all data together",
    "union-proportions": "no machine was trained on other proportions of the data",
    "zero-bias": "no machines without biases were trained",
    "unbalanced": "no machines were trained on configurations with unequal signs",
    "other": "no machines were trained by another recipe",
}
ONE_SIZE = "there is one number of hidden units only"
NO_WEIGHTS = "the weights were not looked at"
KELVIN_LIKE = Label(r"$J/k_\mathrm{B}$")
NO_THERMODYNAMICS = Thermodynamics({}, {})

AS_PAPER, THEIRS = "-as-paper", ", as the paper's"


class Missing(Exception):
    """Why a figure, a table or a claim has nothing to show, in words for the reader."""


@dataclass(frozen=True, eq=False)
class Run:
    """The results of a study in its run directory. Arrays are read once."""

    path: Path
    results: Results
    _arrays: dict[str, Arrays] = field(default_factory=dict, repr=False)

    @property
    def control_symbol(self) -> Label:
        symbol = self.results.study.control.symbol
        return T if symbol == "T" else plain(symbol)

    @property
    def control_label(self) -> Label:
        """The axis of the control parameter, with its unit."""
        unit = self.results.study.control.unit
        label = KELVIN_LIKE if unit == "J/k_B" else plain(unit)
        return self.control_symbol + " (" + label + ")" if unit else self.control_symbol

    @property
    def critical_symbol(self) -> Label:
        """T_c, or the like for another control parameter."""
        symbol = self.control_symbol
        return TC if symbol == T else symbol + Label("$_c$")

    @property
    def all_values(self) -> str:
        """What a machine for everything was trained on: all temperatures, or the like."""
        control = self.results.study.control
        return "all temperatures" if control.is_temperature else f"all values of {control.name}"

    @property
    def speaks_of_paper(self) -> bool:
        """Whether the paper's claims make sense here: it is about the Ising model."""
        families = self.results.families
        return not families or any(family.is_ising for family in families)

    @property
    def families(self) -> list[FamilyView]:
        """Every family with its machines, but for those that were trained as the paper's."""
        return [FamilyView(self, family.trained(as_paper=False)) for family in self.results.families]

    @property
    def views(self) -> list[FamilyView]:
        """The same, each followed by its machines trained as the paper's where there are some."""
        views = []
        for family, whole in zip(self.families, self.results.families, strict=True):
            views.append(family)
            if whole.has_paper_machines:
                views.append(FamilyView(self, whole.trained(as_paper=True), as_paper=True))
        return views

    @property
    def dense_sizes(self) -> list[int]:
        """Numbers of hidden units of all dense machines, smallest first."""
        rows = (row for family in self.results.families for row in family.indicators)
        return sorted({row.n_hidden for row in rows if row.role != "symmetric"})

    @property
    def files_read(self) -> frozenset[str]:
        """Files whose arrays were asked for so far."""
        return frozenset(self._arrays)

    def arrays(self, file: str | None) -> Arrays:
        """The arrays of a reduced result by its path in the run directory; none if it is not there."""
        if not file:
            return {}
        if file not in self._arrays:
            self._arrays[file] = self._read(file)
        return self._arrays[file]

    def _read(self, file: str) -> Arrays:
        if not FILE.fullmatch(file):
            return {}
        try:
            return read_reduced(self.path / file).arrays
        except FileError:  # not copied along, or damaged; the next run makes it again
            return {}


def read_run(path: Path) -> Run:
    """The run at `path`; FileError if there is none, or it has no results yet."""
    directory = existing_run(path)
    if not directory.results.exists():
        raise FileError(
            directory.results, "is not there yet", f"go on with: thermorbm run STUDY --out {path}"
        )
    return Run(path, read_results(directory.results))


@dataclass(frozen=True, eq=False)
class FamilyView:
    """The results of one family, with the questions that figures, tables and claims ask of them.

    as_paper: with the machines that were trained as the paper's, and no others.
    """

    run: Run
    results: FamilyResults
    as_paper: bool = False

    @property
    def name(self) -> str:
        """Of the family, and how its machines were trained; also in names of files."""
        return self.results.name + (AS_PAPER if self.as_paper else "")

    @property
    def title(self) -> Label:
        """The family's name, with its lattice."""
        model = self.results.model
        shape = f" ({'×'.join(map(str, self.shape))})" if self.shape else ""
        shape = shape if model is None else f" ({re.sub(r'(?<=[0-9])x(?=[0-9])', '×', model.words)})"
        return plain(self.results.name + shape + (THEIRS if self.as_paper else ""))

    @property
    def from_random_weights(self) -> FamilyView:
        """The same with the machines trained as the paper's, if there are some: filters of others remember
        the bumps that they started from."""
        views = (view for view in self.run.views if view.as_paper and view.results.name == self.results.name)
        return next(views, self)

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.results.shape

    @property
    def critical(self) -> float | None:
        """T_c of the infinite lattice, None where it is not known."""
        return self.results.critical_temperature

    @property
    def over_temperature(self) -> bool:
        """Whether the control parameter is the temperature."""
        return self.run.results.study.control.is_temperature

    @property
    def thermodynamics(self) -> Thermodynamics:
        """Averages of the configurations as curves; without any where they were not computed."""
        return self.results.thermodynamics or NO_THERMODYNAMICS

    def check_uniform_order(self) -> None:
        """Missing where spins do not all order alike, as those of the paper do."""
        if self.results.model is not None and not self.results.orders_uniformly:
            order = self.results.model.order
            raise Missing(f"it is about the magnetisation, and the order parameter here is the {order}")

    def scored(self, name: str) -> str:
        """The quantity on which claims judge: of training data where machines are the paper's, as it did."""
        return ON_TRAINING_DATA.get(name, name) if self.as_paper else name

    def at(self, value: float) -> Label:
        """A value of the control parameter in words: T = 2.25."""
        return self.run.control_symbol + f"\u00a0=\u00a0{value:g}"

    def list_at(self, pairs: Iterable[tuple[float, object]], between: str = ", ") -> Markup:
        """What is said of each value of the control parameter: 0.1 at T = 1, 0.2 at T = 2."""
        return list_with(" at ", [(words, self.at(value)) for value, words in pairs], between)

    def data_at(self, value: float) -> Data | None:
        """The balanced configurations at that value."""
        return next((row for row in self.results.balanced_data() if row.value == value), None)

    def smallest(self, role: str = "main") -> int:
        """The smallest number of hidden units; Missing where there are no such machines."""
        sizes = self.results.sizes(role)
        if not sizes:
            raise Missing(NO_MACHINES[role])
        return sizes[0]

    def smallest_machines(self) -> list[tuple[float, MachineResults]]:
        """Machines for single temperatures with the fewest hidden units, each with its temperature."""
        machines = self.results.first_seeds("main", self.smallest())
        return [(machine.value, machine) for machine in machines if machine.value is not None]

    def indicators(self, role: str, n_hidden: int) -> Indicators | None:
        """What machines of one role and size say over the control parameter."""
        return next((item for item in self.results.indicators_of(role) if item.n_hidden == n_hidden), None)

    def curve(self, role: str, n_hidden: int, name: str) -> Points:
        """A curve of machines of one role and size; no points where it was not computed."""
        item = self.indicators(role, n_hidden)
        return [] if item is None else points(item.curves.get(name))

    def data_curve(self, name: str) -> Points:
        """An average of the configurations over the control parameter; no points if it was not computed."""
        return points(self.thermodynamics.curves.get(name))

    def weights(self, machine: MachineResults) -> tuple[Weights, Arrays]:
        """Numbers and arrays of the task that read the machine's weights."""
        numbers = need(machine.weights, NO_WEIGHTS)
        arrays = self.run.arrays(numbers.file)
        if not arrays:
            raise Missing(NO_WEIGHTS)
        return numbers, arrays

    def observation(self, n_hidden: int, value: float) -> Observation | NotDone:
        """What the machine of that size for one temperature made of the data there."""
        machine = self.results.machine("main", n_hidden, value)
        return machine if isinstance(machine, NotDone) else machine.observation()

    def observed_arrays(self, n_hidden: int, value: float) -> Arrays:
        """The arrays of that observation; none if they are not there."""
        seen = self.observation(n_hidden, value)
        return self.run.arrays(seen.file if seen else None)


def pair_of(measured: Measured | NotDone | None) -> ValueAndError | None:
    """(value, error) of an estimate, None where there is none; an error that is not known is 0."""
    if measured is None or isinstance(measured, NotDone) or math.isnan(measured.value):
        return None
    return measured.value, 0.0 if math.isnan(measured.error) else measured.error


def points(curve: Curve | None) -> Points:
    """The points of a curve that have a value; none where there is no curve."""
    if curve is None:
        return []
    rows = zip(curve.x, curve.values, curve.errors, strict=True)
    return [(x, y, 0.0 if math.isnan(error) else error) for x, y, error in rows if not math.isnan(y)]


def need(value: Some | NotDone | None, reason: str) -> Some:
    """The value itself, or Missing for that reason if there is none; a part that is not done says more."""
    if value is None:
        raise Missing(reason)
    if isinstance(value, NotDone):
        raise Missing(f"{reason}: {value.reason}")
    return value


def first_complete(families: Iterable[FamilyView], make: Callable[[FamilyView], Some], reason: str) -> Some:
    """What `make` gives for the first family that has the numbers. Missing if none has: why the last has not,
    or `reason` where there are no families.
    """
    for family in families:
        try:
            return make(family)
        except Missing as missing:
            reason = str(missing)
    raise Missing(reason)


def need_some(values: Several, reason: str) -> Several:
    """The values themselves, or Missing for that reason if there are none."""
    if not values:
        raise Missing(reason)
    return values
