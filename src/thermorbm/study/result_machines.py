"""Results of a study at one temperature: configurations, and the machines that were trained on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thermorbm.reading.values import (
    Bracket,
    ExactValues,
    Generation,
    Hidden,
    Interactions,
    Likelihood,
    Quality,
    VisibleEnergy,
    Weights,
)
from thermorbm.records import NotDone, other_values
from thermorbm.stats import Estimate
from thermorbm.study.result_curves import GROUP
from thermorbm.study.spec import Sector

NOT_READ = NotDone("it is not in the results")
OF_DENSE = ("weights", "likelihood", "visible_energy", "hidden", "generation", "quality")
OF_ONE_TEMPERATURE = ("generation", "quality")
OF_MACHINE = ("weights", "partition", "interactions")
OF_OBSERVATION = ("likelihood", "visible_energy", "hidden", "generation", "quality", "bracket")


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

    file: of the histogram of m and of the correlations, relative to the run directory. is_constant: whether
    all configurations are one and the same.
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
    is_constant: bool = False


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
class MachineResults:
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


def say_why(family: dict[str, Any]) -> None:
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


def add_roles(family: dict[str, Any]) -> None:
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
