"""What a study found, as typed values: `results.json` is written and read here and nowhere else.

    Results ─▶ families ─▶ data, energies, machines ─▶ observations
                  └▶ thermodynamics, indicators, critical_temperatures

Estimates are `thermorbm.stats.Estimate`, with the error nan where it is not known. Per spin and in nats where
the name or the docstring says nothing else. Values that come from other rooms as they are (recipes,
certificates, verdicts, ln Z) keep what this file does not name in `other`. A part that is not there is a
`NotDone`, which says why and counts as false.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from thermorbm.checks import check_name
from thermorbm.errors import FileError, InputError
from thermorbm.reading.values import (
    Bracket as Bracket,
    Comparison as Comparison,
    ExactValues as ExactValues,
    Four as Four,
    Generated as Generated,
    Generation as Generation,
    Hidden as Hidden,
    HiddenMagnetization as HiddenMagnetization,
    Interactions as Interactions,
    Likelihood as Likelihood,
    MeanAndVariance as MeanAndVariance,
    Moments as Moments,
    OwnChains as OwnChains,
    Pair as Pair,
    Quality as Quality,
    Scores as Scores,
    VisibleEnergy as VisibleEnergy,
    Weights as Weights,
)
from thermorbm.records import BadRecord, NotDone, as_plain, from_plain, other_values
from thermorbm.stats import Estimate
from thermorbm.storage import read_json, write_json
from thermorbm.study.scaled import Scaling
from thermorbm.study.spec import Control, Sector

# 1: without roles of machines. Files of format 1 are still read.
FORMAT = 2
GROUP = {"stored": "group"}  # what files call the name of a variant
SAMPLES = "samples."  # begins the names of arrays with a number for every configuration
NOT_READ = NotDone("it is not in the results")


@dataclass(frozen=True)
class Curve:
    """An estimate at every value of the control parameter, lowest first; columns of one length."""

    x: tuple[float, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class Certificate:
    """What speaks for sampled configurations; `sampling.certificate` says what the numbers mean."""

    passed: bool
    failures: tuple[str, ...]
    energy: float
    energy_error: float
    energy_z: float | None = None
    energy_histogram_p: float | None = None
    other: Mapping[str, Any] = other_values()


@dataclass(frozen=True)
class Data:
    """Configurations at one value of the control parameter. thermal: averages by the name of the quantity.

    file: of the histogram of m and of the correlations, relative to the run directory.
    """

    value: float
    sector: Sector
    seed: int
    method: str
    n_train: int
    n_held_out: int
    n_sites: int
    certificate: Certificate | None = None
    thermal: Mapping[str, Estimate] = field(default_factory=dict)
    exact: ExactValues | None = None
    file: str | None = None


@dataclass(frozen=True)
class Energies:
    """Averages at one temperature of the grid for thermodynamic integration."""

    value: float
    samples: int
    seed: int
    certificate: Certificate | None = None
    thermal: Mapping[str, Estimate] = field(default_factory=dict)
    exact: ExactValues | None = None


@dataclass(frozen=True)
class Partition:
    """ln Z of a machine, total in nats, with its error and the sandwich around it."""

    value: float
    error: float
    lower: float
    upper: float
    method: str
    verdict: str
    other: Mapping[str, Any] = other_values()


@dataclass(frozen=True)
class Observation:
    """What a machine says of the configurations at one value. measured: by the name of the quantity.

    correlations_learnt: share of the correlations of held-out configurations that the machine has learnt,
    None where their entropy is not known or they have none. file: of histograms, hidden layers and
    relaxations, relative to the run directory.
    """

    value: float
    n_sites: int
    n_hidden: int | None = None
    likelihood: Likelihood | NotDone = NOT_READ
    visible_energy: VisibleEnergy | NotDone = NOT_READ
    hidden: Hidden | NotDone = NOT_READ
    generation: Generation | NotDone = NOT_READ
    quality: Quality | NotDone = NOT_READ
    bracket: Bracket | NotDone = NOT_READ
    measured: Mapping[str, Estimate] = field(default_factory=dict)
    correlations_learnt: Estimate | None = None
    file: str | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether training converged; drift of L~ per visible unit."""

    status: str
    drift: float | None = None
    drift_error: float | None = None
    other: Mapping[str, Any] = other_values()


@dataclass(frozen=True)
class Machine:
    """One machine. value: None if it was trained on all temperatures together. variant: its name in the
    study. role: what that variant is for. as_paper: trained as the paper's. filters, kernel: of symmetric
    machines. file: of its training history.
    """

    variant: str = field(metadata=GROUP)
    role: str
    value: float | None
    union: bool
    sector: Sector
    n_hidden: int
    seed_index: int
    seed: int
    recipe: Mapping[str, Any]
    n_visible: int
    n_train: int
    n_held_out: int
    verdict: Verdict
    last_record: Mapping[str, float]
    precision: str
    threads: int
    samples: int | None = None
    proportions: tuple[float, ...] | None = None
    filters: int | None = None
    kernel: int | None = None
    point_group: bool | None = None
    as_paper: bool | None = False
    file: str | None = None
    interactions: Interactions | NotDone = NOT_READ
    weights: Weights | NotDone = NOT_READ
    partition: Partition | NotDone = NOT_READ
    observations: tuple[Observation, ...] = ()

    def observation(self, value: float | None = None) -> Observation | NotDone:
        """What it says at one value, at its own by default."""
        wanted = self.value if value is None else value
        missing = NotDone(f"this machine was not read at {wanted}")
        return next((row for row in self.observations if row.value == wanted), missing)


@dataclass(frozen=True)
class Target:
    """Where a kind of indicator should peak on this very lattice. source: "kaufman" or "samples"."""

    value: float
    error: float
    source: str


@dataclass(frozen=True)
class Indication:
    """What one curve says of T_c. feature: what was sought in it, see `Quantity.mark`. kind: of its target.

    estimate: None where the curve does not determine it; problem tells why. lower to upper: 68 %; lower_95 to
    upper_95: 95 %. resolved: False where too few points lie on the peak, which is then known as an interval
    alone. note: what is to be said beside the numbers, such as a second peak.
    """

    indicator: str
    feature: str
    kind: str
    estimate: Estimate | None
    problem: str | None = None
    lower: float | None = None
    upper: float | None = None
    at_edge: bool = False
    resolved: bool | None = None
    lower_95: float | None = None
    upper_95: float | None = None
    note: str | None = None

    @property
    def was_sought(self) -> bool:
        """Whether the curve had points enough to be searched."""
        return self.estimate is not None or self.lower is not None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of a peak that is not resolved, which is all that is known of it; else None."""
        return _interval(self)

    @property
    def words(self) -> str:
        """2.2817(10), 2.125-2.375 (95 %) where the peak is not resolved, or 'not determined'."""
        if self.estimate is None or self.problem is not None:
            return "not determined"
        return str(self.estimate) if self.interval is None else "{:.4g}-{:.4g}".format(*self.interval)


def _interval(peak: Indication | ExtrapolationPoint) -> tuple[float, float] | None:
    if peak.estimate is None or peak.resolved is not False or peak.lower_95 is None or peak.upper_95 is None:
        return None
    return peak.lower_95, peak.upper_95


@dataclass(frozen=True)
class CriticalTemperature(Indication):
    """The same with its place and truth. variant, n_hidden: None for what the configurations themselves say.

    is_shown: whether it stands in the table of critical temperatures.
    """

    variant: str | None = field(default=None, metadata=GROUP)
    role: str | None = None
    as_paper: bool | None = False
    union: bool | None = None
    n_hidden: int | None = None
    is_shown: bool = True
    target: Target | None = None
    relative_to_target: float | None = None
    relative_to_infinite: float | None = None


@dataclass(frozen=True)
class IntegratedEntropy:
    """Entropy per spin by thermodynamic integration from either end, and both combined."""

    from_infinity: Curve
    from_zero: Curve
    combined: Curve
    free_energy_per_spin: Curve
    mismatch: Estimate
    n_points: int
    hot_end: str


@dataclass(frozen=True)
class Thermodynamics:
    """Averages of the configurations as curves, by the name of the quantity.

    file: of smooth and of reweighted curves. notes: where samples could not be reweighted, and why.
    """

    curves: Mapping[str, Curve]
    grid_curves: Mapping[str, Curve]
    entropy: IntegratedEntropy | None = None
    critical: tuple[Indication, ...] = ()
    targets: Mapping[str, Target | None] = field(default_factory=dict)
    file: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Indicators:
    """Curves of the machines of one variant and size, averaged over seeds, and what they say of T_c."""

    variant: str = field(metadata=GROUP)
    role: str
    union: bool
    n_hidden: int
    curves: Mapping[str, Curve]
    critical: tuple[Indication, ...] = ()
    as_paper: bool | None = False
    file: str | None = None
    what: str = "indicators"


@dataclass(frozen=True)
class Family:
    """Configurations on one lattice, and the machines trained on them.

    critical_temperature: of the infinite lattice, None where it is not known.
    """

    name: str
    shape: tuple[int, ...] | None
    n_sites: int | None
    hamiltonian: str
    parts: tuple[str, ...]
    critical_temperature: float | None
    data: tuple[Data, ...]
    energies: tuple[Energies, ...]
    machines: tuple[Machine, ...]
    thermodynamics: Thermodynamics | NotDone
    indicators: tuple[Indicators, ...]
    critical_temperatures: tuple[CriticalTemperature, ...]

    @property
    def is_ising(self) -> bool:
        return self.hamiltonian == "ising"

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

    def trained(self, as_paper: bool) -> Family:
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

    def first_seeds(self, role: str = "main", n_hidden: int | None = None) -> list[Machine]:
        """The machines of that role from the first seed, by size and value."""
        machines = [
            machine
            for machine in self.machines
            if machine.role == role and machine.seed_index == 0 and n_hidden in (None, machine.n_hidden)
        ]
        return sorted(machines, key=lambda machine: (machine.n_hidden, machine.value or 0.0))

    def machine(self, role: str, n_hidden: int, value: float | None) -> Machine | NotDone:
        missing = NotDone(f"there is no machine with {n_hidden} hidden units at {value}")
        return next((m for m in self.first_seeds(role, n_hidden) if m.value == value), missing)

    def sizes(self, role: str = "main") -> list[int]:
        """Numbers of hidden units, smallest first."""
        return sorted({machine.n_hidden for machine in self.first_seeds(role)})

    def indicators_of(self, role: str = "main") -> list[Indicators]:
        """Curves of the machines of that role, smallest machines first."""
        return sorted((item for item in self.indicators if item.role == role), key=lambda item: item.n_hidden)


@dataclass(frozen=True)
class ExtrapolationPoint:
    """What one lattice says."""

    feature: str
    kind: str
    estimate: Estimate | None
    problem: str | None = None
    target: float | None = None
    relative_to_target: float | None = None
    n_hidden: int | None = None
    union: bool | None = None
    resolved: bool | None = None
    lower_95: float | None = None
    upper_95: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of a peak that is not resolved; else None."""
        return _interval(self)


@dataclass(frozen=True)
class ExtrapolationRow:
    """One indicator on lattices of several sides, and what it extrapolates to. points: by side, as text."""

    indicator: str
    feature: str
    kind: str
    points: Mapping[str, ExtrapolationPoint]
    estimate: Estimate | None
    variant: str | None = field(default=None, metadata=GROUP)
    union: bool | None = None
    problem: str | None = None
    slope: Estimate | None = None
    curvature: Estimate | None = None
    chi_squared: float | None = None
    n_degrees: int | None = None
    relative_to_infinite: float | None = None


@dataclass(frozen=True)
class Extrapolation:
    """T_c of the infinite lattice by every indicator. infinite: the true one, None where not known."""

    name: str
    nu: float
    sides: tuple[int, ...]
    rows: tuple[ExtrapolationRow, ...]
    infinite: float | None = None


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
    families: tuple[Family, ...]
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
    write_json(path, as_plain(results), indent=1)


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
        _add_roles(family)
        _say_why(family)
    return from_plain(Results, content)


OF_DENSE = ("weights", "likelihood", "visible_energy", "hidden", "generation", "quality")
OF_ONE_TEMPERATURE = ("generation", "quality")
OF_MACHINE = ("weights", "partition", "interactions")
OF_OBSERVATION = ("likelihood", "visible_energy", "hidden", "generation", "quality", "bracket")


def _say_why(family: dict[str, Any]) -> None:
    """Puts the reason in the place of every part of the family and its machines that is not there."""
    parts = {part.replace("-", "_") for part in family["parts"]}
    if family.get("thermodynamics") is None:
        family["thermodynamics"] = _reason(bool(parts & {"entropy", "critical"}))
    for machine in family["machines"]:
        reasons = {name: _reason(name in parts) for name in (*OF_OBSERVATION, "weights")}
        reasons["partition"] = reasons["bracket"]
        if machine.get("filters"):
            reasons["interactions"] = _reason(True)
            reasons |= dict.fromkeys(OF_DENSE, NotDone("it is read from dense machines alone"))
        else:
            reasons["interactions"] = NotDone("it is read from symmetric machines alone")
        if machine["value"] is None:
            only = NotDone("it is read from machines for one temperature alone")
            reasons |= dict.fromkeys(OF_ONE_TEMPERATURE, only)
        _fill(machine, OF_MACHINE, reasons)
        for row in machine["observations"]:
            _fill(row, OF_OBSERVATION, reasons)


def _reason(was_wanted: bool) -> NotDone:
    return NotDone("its task failed or is not done yet" if was_wanted else "the study leaves it out")


def _fill(row: dict[str, Any], names: Sequence[str], reasons: Mapping[str, NotDone]) -> None:
    row.update({name: reasons[name] for name in names if row.get(name) is None})


def _add_roles(family: dict[str, Any]) -> None:
    """Files and plans of format 1 do not say what a variant is for; its machines do."""
    roles = {machine["group"]: _role_of(machine) for machine in family["machines"]}
    for row in (*family["machines"], *family["indicators"], *family["critical_temperatures"]):
        if row.get("role") is None and row.get("group") is not None:
            row["role"] = roles.get(row["group"], "other")


def _role_of(machine: Mapping[str, Any]) -> str:
    if machine.get("filters"):
        return "symmetric"
    if machine.get("union"):
        return "union" if machine.get("proportions") is None else "union-proportions"
    if machine["group"] == "main":
        return "main"
    if machine["sector"] != "symmetric":
        return "unbalanced"
    return "zero-bias" if machine["recipe"].get("zero_bias") else "other"
