"""What a study found, as typed values: `results.json` is written and read here and nowhere else.

    Results ─▶ families ─▶ data, energies, machines ─▶ observations
                  └▶ thermodynamics, indicators, critical_temperatures

Estimates are `thermorbm.stats.Estimate`, with the error nan where it is not known. Per spin and in nats where
the name or the docstring says nothing else. Values that come from other rooms as they are (recipes,
certificates, verdicts, ln Z) keep what this file does not name in `other`. A part that is not there is a
`NotDone`, which says why and counts as false.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from thermorbm.checks import check_name
from thermorbm.errors import FileError, InputError
from thermorbm.reading.values import (
    Bracket as Bracket,
    Comparison as Comparison,
    ExactValues as ExactValues,
    Generation as Generation,
    Hidden as Hidden,
    Interactions as Interactions,
    Likelihood as Likelihood,
    MeanAndVariance as MeanAndVariance,
    Moments as Moments,
    Pair,
    Quality as Quality,
    Scores as Scores,
    VisibleEnergy as VisibleEnergy,
    Weights as Weights,
)
from thermorbm.records import BadRecord, NotDone, as_plain, from_plain
from thermorbm.storage import finite, read_json, write_json
from thermorbm.study.result_curves import (
    CriticalTemperature as CriticalTemperature,
    Curve as Curve,
    Extrapolation as Extrapolation,
    ExtrapolationPoint as ExtrapolationPoint,
    ExtrapolationRow as ExtrapolationRow,
    Indication as Indication,
    Indicators as Indicators,
    IntegratedEntropy as IntegratedEntropy,
    Scaling,
    Target as Target,
    Thermodynamics as Thermodynamics,
)
from thermorbm.study.result_machines import (
    Certificate as Certificate,
    Data as Data,
    Energies,
    MachineResults as MachineResults,
    Observation as Observation,
    Partition as Partition,
    Verdict as Verdict,
    add_roles,
    say_why,
)
from thermorbm.study.spec import Control

# 1: without roles of machines. Files of format 1 are still read.
FORMAT = 2
SAMPLES = "samples."  # begins the names of arrays with a number for every configuration


@dataclass(frozen=True)
class Model:
    """A Hamiltonian other than the ferromagnet with J = 1. words: its name, shape and couplings.

    order: what stands in the place of m, see `observables.order_parameter`. n_cell: sites per cell. pairs: J
    by displacement, none where sites are not alike or products have more spins. field: h, None if it varies.
    """

    words: str
    order: str
    n_cell: int = 1
    pairs: tuple[Pair, ...] = ()
    field: float | None = None


@dataclass(frozen=True)
class FamilyResults:
    """Configurations on one lattice, and the machines trained on them.

    hamiltonian: "ising" is the ferromagnet with J = 1, "unknown" none, any other is named in `model`. shape:
    None where sites do not lie on a grid of their own. critical_temperature: of the infinite lattice, None
    where it is not known.
    """

    name: str
    shape: tuple[int, ...] | None
    n_sites: int | None
    hamiltonian: str
    parts: tuple[str, ...]
    critical_temperature: float | None
    data: tuple[Data, ...]
    energies: tuple[Energies, ...]
    machines: tuple[MachineResults, ...]
    thermodynamics: Thermodynamics | NotDone
    indicators: tuple[Indicators, ...]
    critical_temperatures: tuple[CriticalTemperature, ...]
    model: Model | None = None

    @property
    def is_ising(self) -> bool:
        return self.hamiltonian == "ising"

    @property
    def has_energy(self) -> bool:
        """Whether the Hamiltonian is known."""
        return self.hamiltonian != "unknown"

    @property
    def orders_uniformly(self) -> bool:
        """Whether the magnetisation is the order parameter, as far as anyone knows."""
        return self.model is None or self.model.order == "magnetisation"

    @property
    def dimension(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def certificates(self) -> list[tuple[float, Certificate]]:
        """All certificates with the value of the control parameter, of the data and then of the grid."""
        data = [(row.value, row.certificate) for row in self.data]
        grid = [(row.value, row.certificate) for row in self.energies]
        return [(value, item) for value, item in (*data, *grid) if item is not None]

    def balanced_data(self, balanced: bool = True) -> list[Data]:
        """Data with equally many configurations of either sign, or those with unequal ones, by value."""
        rows = [row for row in self.data if (row.sector == "symmetric") == balanced]
        return sorted(rows, key=lambda row: row.value)

    @property
    def has_paper_machines(self) -> bool:
        return any(machine.as_paper for machine in self.machines)

    def trained(self, as_paper: bool) -> FamilyResults:
        """With the machines that were trained as the paper's, or with the others; the data stay."""
        return replace(
            self,
            machines=tuple(row for row in self.machines if bool(row.as_paper) == as_paper),
            indicators=tuple(row for row in self.indicators if bool(row.as_paper) == as_paper),
            critical_temperatures=tuple(
                row
                for row in self.critical_temperatures
                if row.variant is None or bool(row.as_paper) == as_paper
            ),
        )

    def first_seeds(self, role: str = "main", n_hidden: int | None = None) -> list[MachineResults]:
        """The machines of that role from the first seed, by size and value."""
        machines = [
            machine
            for machine in self.machines
            if machine.role == role and machine.seed_index == 0 and n_hidden in (None, machine.n_hidden)
        ]
        return sorted(machines, key=lambda machine: (machine.n_hidden, machine.value or 0.0))

    def machine(self, role: str, n_hidden: int, value: float | None) -> MachineResults | NotDone:
        missing = NotDone(f"there is no machine with {n_hidden} hidden units at {value}")
        return next((m for m in self.first_seeds(role, n_hidden) if m.value == value), missing)

    def sizes(self, role: str = "main") -> list[int]:
        """Numbers of hidden units, smallest first."""
        return sorted({machine.n_hidden for machine in self.first_seeds(role)})

    def indicators_of(self, role: str = "main") -> list[Indicators]:
        """Curves of the machines of that role, smallest machines first."""
        return sorted((item for item in self.indicators if item.role == role), key=lambda item: item.n_hidden)


@dataclass(frozen=True)
class StudyInfo:
    name: str
    title: str
    seed: int
    precision: str
    control: Control


@dataclass(frozen=True)
class FailedTask:
    task: str
    error: str | None


@dataclass(frozen=True)
class TaskCounts:
    """How far the study is. missing: tasks neither done nor failed."""

    total: int
    done: int
    failed: tuple[FailedTask, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Timings:
    """Seconds of all tasks, by kind of task and in all; tasks: of each."""

    platform: str
    processor: str
    cpu_seconds: float
    cpu_seconds_by_kind: Mapping[str, float]
    tasks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """The content of `results.json`."""

    study: StudyInfo
    versions: Mapping[str, str]
    families: tuple[FamilyResults, ...]
    extrapolations: tuple[Extrapolation, ...]
    tasks: TaskCounts
    timings: Timings
    format: int = FORMAT
    scalings: tuple[Scaling, ...] = ()

    @property
    def diverged(self) -> list[str]:
        """Machines whose training diverged, in words."""
        return [
            f"{family.name} {machine.variant} with {machine.n_hidden} hidden units at {machine.value}"
            for family in self.families
            for machine in family.machines
            if machine.verdict.status == "diverged"
        ]

    @property
    def mixed_versions(self) -> list[str]:
        """Programs of which several versions made these results, in words."""
        return [f"{name} {text}" for name, text in self.versions.items() if ", " in text]

    @property
    def not_certified(self) -> list[str]:
        """Where the certificate of sampled configurations did not pass, in words."""
        return [
            f"{family.name} at {value}"
            for family in self.families
            for value, certificate in family.certificates
            if not certificate.passed
        ]


def write_results(path: Path, results: Results) -> None:
    """Writes them as JSON; a file that holds them already keeps its date, which tells when they changed."""
    content = finite(as_plain(results))
    with contextlib.suppress(FileError):
        if read_json(path) == content:
            return
    write_json(path, content, indent=1)


def read_results(path: Path) -> Results:
    """Reads a file of `write_results`; FileError if it is absent, damaged or of a newer version."""
    content = read_json(path)
    if content.get("format") not in (1, FORMAT):
        problem = f"has format {content.get('format')}, this version reads {FORMAT} and 1"
        raise FileError(path, problem, "use the version of thermorbm that wrote it, or run the study again")
    try:
        results = make_results({**content, "format": FORMAT})
        _check_names(results)
        return results
    except (BadRecord, InputError, KeyError, TypeError, AttributeError, RecursionError) as error:
        remedy = "run the study again, which repeats nothing that is done"
        raise FileError(path, f"is not a valid results file: {error}", remedy) from error


def _check_names(results: Results) -> None:
    """InputError unless all names could be those of a study: they become names of files."""
    check_name("study", results.study.name)
    for name in [item.name for item in results.extrapolations] + [item.name for item in results.scalings]:
        check_name("name", name)
    for family in results.families:
        check_name("name", family.name)
        for machine in family.machines:
            check_name("group", machine.variant)


def make_results(content: dict[str, Any]) -> Results:
    """From what JSON holds, which is changed: absent parts of machines get the reason why they are absent."""
    for family in content["families"]:
        add_roles(family)
        say_why(family)
    return from_plain(Results, content)
