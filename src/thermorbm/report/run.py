"""What a run directory holds: `results.json`, and the arrays of reduced results when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from thermorbm.errors import FileError
from thermorbm.report.labels import TC, Label, T, plain
from thermorbm.runner.rundir import existing_run
from thermorbm.runner.store import read_reduced
from thermorbm.storage import read_json

Values = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]
# (x, value, error) of every point of a curve.
Points = list[tuple[float, float, float]]
Some = TypeVar("Some")

NO_MACHINES = {
    "main": "no machines for single temperatures were trained",
    "symmetric": "no symmetric machines were trained",
    "union": "no machine was trained on all temperatures together",
    "union-proportions": "no machine was trained on other proportions of temperatures",
    "zero-bias": "no machines without biases were trained",
    "unbalanced": "no machines were trained on configurations with unequal signs",
    "other": "no machines were trained by another recipe",
}
KELVIN_LIKE = Label(r"$J/k_\mathrm{B}$", "<i>J</i>/<i>k</i><sub>B</sub>")
ONE_SIZE = "there is one number of hidden units only"


class Missing(Exception):
    """Why a figure, a table or a claim has nothing to show, in words for the reader."""


@dataclass(frozen=True, eq=False)
class Run:
    """results: the content of `results.json`. Arrays are read once."""

    path: Path
    results: Values
    _arrays: dict[str, Arrays] = field(default_factory=dict, repr=False)

    @property
    def study(self) -> Values:
        return dict(self.results.get("study") or {})

    @property
    def control(self) -> Values:
        """Name, symbol and unit of the control parameter, which is the temperature unless a study differs."""
        return self.study.get("control") or {}

    @property
    def control_symbol(self) -> Label:
        symbol = str(self.control.get("symbol", "T"))
        return T if symbol == "T" else plain(symbol)

    @property
    def control_label(self) -> Label:
        """The axis of the control parameter, with its unit."""
        unit = str(self.control.get("unit", ""))
        label = KELVIN_LIKE if unit == "J/k_B" else plain(unit)
        return self.control_symbol + " (" + label + ")" if unit else self.control_symbol

    @property
    def critical_symbol(self) -> Label:
        """T_c, or the like for another control parameter."""
        symbol = self.control_symbol
        return TC if symbol == T else symbol + Label("$_c$", "<sub>c</sub>")

    @property
    def families(self) -> list[FamilyView]:
        return [FamilyView(self, values) for values in self.results.get("families", [])]

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
        path = self.path / file
        if not path.resolve().is_relative_to(self.path.resolve()):
            return {}
        try:
            return read_reduced(path).arrays
        except FileError:  # not copied along, or damaged; the next run makes it again
            return {}


def read_run(path: Path) -> Run:
    """The run at `path`; FileError if there is none, or it has no results yet."""
    directory = existing_run(path)
    if not directory.results.exists():
        raise FileError(
            directory.results, "is not there yet", f"go on with: thermorbm run STUDY --out {path}"
        )
    return Run(path, read_json(directory.results))


@dataclass(frozen=True, eq=False)
class FamilyView:
    """Configurations on one lattice and the machines trained on them, as the report asks for them."""

    run: Run
    values: Values

    @property
    def name(self) -> str:
        return str(self.values["name"])

    @property
    def title(self) -> Label:
        """The family's name, with its lattice."""
        return plain(self.name + (f" ({'×'.join(map(str, self.shape))})" if self.shape else ""))

    @property
    def shape(self) -> list[int] | None:
        return self.values.get("shape")

    @property
    def n_sites(self) -> int | None:
        """The number of sites of the lattice; that of the data where there is no lattice."""
        n_sites = self.values.get("n_sites")
        return n_sites if n_sites is not None else next((row.get("n_sites") for row in self.data()), None)

    @property
    def critical(self) -> float | None:
        """T_c of the infinite lattice, None where it is not known."""
        return self.values.get("critical_temperature")

    @property
    def is_ising(self) -> bool:
        return self.values.get("hamiltonian") == "ising"

    @property
    def thermodynamics(self) -> Values:
        return self.values.get("thermodynamics") or {}

    def at(self, value: float) -> Label:
        """A value of the control parameter in words: T = 2.25."""
        return self.run.control_symbol + f"\u00a0=\u00a0{value:g}"

    def data(self, balanced: bool = True) -> list[Values]:
        """Datasets, in the order of the control parameter; the balanced ones, or those with unequal signs."""
        rows = [row for row in self.values.get("data", []) if (row["sector"] == "symmetric") == balanced]
        return sorted(rows, key=lambda row: float(row["value"]))

    def data_at(self, value: float) -> Values | None:
        return next((row for row in self.data() if row["value"] == value), None)

    @property
    def all_machines(self) -> list[Values]:
        """Every machine of the family, of every role and seed."""
        return list(self.values.get("machines", []))

    def machines(self, role: str = "main", n_hidden: int | None = None) -> list[Values]:
        """First seeds of the machines of that role, in the order of the control parameter."""
        kept = [
            machine
            for machine in self.all_machines
            if role_of(machine) == role
            and machine["seed_index"] == 0
            and n_hidden in (None, machine["n_hidden"])
        ]
        return sorted(kept, key=lambda machine: (machine["n_hidden"], machine["value"] or 0.0))

    def machine(self, role: str, n_hidden: int, value: float | None) -> Values | None:
        return next((m for m in self.machines(role, n_hidden) if m["value"] == value), None)

    def sizes(self, role: str = "main") -> list[int]:
        """Numbers of hidden units, smallest first."""
        return sorted({machine["n_hidden"] for machine in self.machines(role)})

    def smallest(self, role: str = "main") -> int:
        """The smallest number of hidden units; Missing where there are no such machines."""
        sizes = self.sizes(role)
        if not sizes:
            raise Missing(NO_MACHINES[role])
        return sizes[0]

    def smallest_machines(self) -> list[Values]:
        """Machines for single temperatures with the fewest hidden units."""
        return self.machines("main", self.smallest())

    def indicators(self, role: str = "main") -> list[Values]:
        """What machines of one size say over the control parameter, smallest machines first."""
        groups = {m["group"] for m in self.all_machines if role_of(m) == role}
        items = [item for item in self.values.get("indicators", []) if item["group"] in groups]
        return sorted(items, key=lambda item: int(item["n_hidden"]))

    def indicators_of(self, role: str, n_hidden: int) -> Values | None:
        return next((item for item in self.indicators(role) if item["n_hidden"] == n_hidden), None)

    def weights(self, machine: Values) -> tuple[Values, Arrays]:
        """Numbers and arrays of the task that read the machine's weights."""
        numbers = machine.get("weights")
        arrays = self.run.arrays(look(numbers, "file"))
        if not numbers or not arrays:
            raise Missing("the weights were not looked at")
        return numbers, arrays

    def observation(self, role: str, n_hidden: int, value: float) -> Values | None:
        """What a machine made of the data at its own temperature."""
        machine = self.machine(role, n_hidden, value)
        return None if machine is None else observation(machine)


def role_of(machine: Values) -> str:
    """Main, symmetric, union, union-proportions, zero-bias, unbalanced or other: what a machine is for."""
    if machine.get("filters"):
        return "symmetric"
    if machine.get("union"):
        return "union" if machine.get("proportions") is None else "union-proportions"
    if machine.get("group") == "main":
        return "main"
    if machine.get("sector") != "symmetric":
        return "unbalanced"
    return "zero-bias" if (machine.get("recipe") or {}).get("zero_bias") else "other"


def observation(machine: Values) -> Values | None:
    """What a machine made of the data at its own value."""
    rows = machine.get("observations") or []
    return next((row for row in rows if row["value"] == machine["value"]), None)


def look(values: Any, *keys: str) -> Any:
    """values[key][key]..., None where something is absent."""
    for key in keys:
        if not isinstance(values, Mapping) or values.get(key) is None:
            return None
        values = values[key]
    return values


def estimate(values: Any, *keys: str) -> tuple[float, float] | None:
    """(value, error) at that place, None where something is absent; an error that is not known is 0."""
    pair = look(values, *keys)
    if not isinstance(pair, Mapping) or pair.get("value") is None:
        return None
    return float(pair["value"]), float(pair.get("error") or 0.0)


def points(values: Any, *keys: str) -> Points:
    """The points of the curve at that place that have a value; none where there is no curve."""
    curve = look(values, *keys)
    if not curve:
        return []
    rows = zip(curve["x"], curve["values"], curve["errors"], strict=True)
    return [(x, value, error or 0.0) for x, value, error in rows if value is not None]


def need(value: Some | None, reason: str) -> Some:
    """The value itself, or Missing for that reason if there is none."""
    if value is None:
        raise Missing(reason)
    return value
