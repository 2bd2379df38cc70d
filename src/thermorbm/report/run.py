"""What a run directory holds: `results.json`, and the arrays of reduced results when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from thermorbm.errors import FileError
from thermorbm.runner.rundir import existing_run
from thermorbm.runner.store import read_reduced
from thermorbm.storage import read_json

Values = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]


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
    def families(self) -> list[Family]:
        return [Family(self, values) for values in self.results.get("families", [])]

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
    """The run at `path`; FileError if there is none, or nothing has been found yet."""
    directory = existing_run(path)
    if not directory.results.exists():
        raise FileError(
            directory.results, "is not there yet", f"go on with: thermorbm run STUDY --out {path}"
        )
    return Run(path, read_json(directory.results))


@dataclass(frozen=True, eq=False)
class Family:
    """Configurations on one lattice, and the machines trained on them."""

    run: Run
    values: Values

    @property
    def name(self) -> str:
        return str(self.values["name"])

    @property
    def dimension(self) -> int | None:
        shape = self.values.get("shape")
        return None if shape is None else len(shape)

    @property
    def n_sites(self) -> int | None:
        """Of the lattice, or without one of the data."""
        known = self.values.get("n_sites")
        return known if known is not None else next((row.get("n_sites") for row in self.data()), None)

    @property
    def critical(self) -> float | None:
        """T_c of the infinite lattice, None where it is not known."""
        return self.values.get("critical_temperature")

    @property
    def is_ising(self) -> bool:
        return self.values.get("hamiltonian") == "ising"

    def data(self, balanced: bool = True) -> list[Values]:
        """Datasets, in the order of the control parameter; the balanced ones, or those with unequal signs."""
        rows = [row for row in self.values.get("data", []) if (row["sector"] == "symmetric") == balanced]
        return sorted(rows, key=lambda row: float(row["value"]))

    def machines(self, role: str = "main", n_hidden: int | None = None) -> list[Values]:
        """First seeds of the machines of that role, in the order of the control parameter."""
        found = [
            machine
            for machine in self.values.get("machines", [])
            if role_of(machine) == role and machine["seed_index"] == 0
        ]
        kept = [machine for machine in found if n_hidden in (None, machine["n_hidden"])]
        return sorted(kept, key=lambda machine: (machine["n_hidden"], machine["value"] or 0.0))

    def sizes(self, role: str = "main") -> list[int]:
        """Numbers of hidden units, smallest first."""
        return sorted({machine["n_hidden"] for machine in self.machines(role)})

    def machine(self, role: str, n_hidden: int, value: float | None) -> Values | None:
        return next((m for m in self.machines(role, n_hidden) if m["value"] == value), None)

    def indicators(self, role: str = "main") -> list[Values]:
        """Curves over the control parameter, smallest machines first."""
        groups = {m["group"] for m in self.values.get("machines", []) if role_of(m) == role}
        found = [item for item in self.values.get("indicators", []) if item["group"] in groups]
        return sorted(found, key=lambda item: int(item["n_hidden"]))

    @property
    def thermodynamics(self) -> Values:
        return self.values.get("thermodynamics") or {}


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


def observation(machine: Values, value: float | None = None) -> Values | None:
    """What a machine made of the data at one value, at its own by default."""
    wanted = machine["value"] if value is None else value
    return next((row for row in machine.get("observations", []) if row["value"] == wanted), None)


def look(values: Any, *keys: str) -> Any:
    """values[key][key]..., None where something is absent."""
    for key in keys:
        if not isinstance(values, Mapping) or values.get(key) is None:
            return None
        values = values[key]
    return values


def estimate(values: Any, *keys: str) -> tuple[float, float] | None:
    """(value, error) at that place, None where something is absent; an error that is not known is 0."""
    found = look(values, *keys)
    if not isinstance(found, Mapping) or found.get("value") is None:
        return None
    return float(found["value"]), float(found.get("error") or 0.0)
