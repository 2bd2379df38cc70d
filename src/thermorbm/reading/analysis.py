"""What a machine says of configurations, and what its parameters look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm import observables
from thermorbm.checks import whole_number
from thermorbm.dataset import Dataset, as_dataset
from thermorbm.errors import InputError
from thermorbm.model import LogPartition, Machine
from thermorbm.model.random_units import seed_sequence
from thermorbm.observables import EntropyBracket
from thermorbm.observables.configurations import check_sites
from thermorbm.reading.configurations import is_ours
from thermorbm.reading.entropy import edges, log_partition
from thermorbm.reading.machine import filter_sum_variance, mean_and_variance, scores
from thermorbm.shown import Displayed, shown_progress
from thermorbm.stats import Estimate

if TYPE_CHECKING:
    from thermorbm.training.loop import Step as Step, TrainingResult

MOST_SAMPLES = 5000

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, repr=False)
class Spread(Displayed):
    """Mean and standard deviation of the elements of an array."""

    mean: float
    std: float


@dataclass(frozen=True, repr=False)
class Analysis(Displayed):
    """What a machine says of configurations, and what its parameters look like; energies in nats.

    n_samples: configurations that were used. abs_filter_sum_variance: over hidden units, of |sum_j W_ij|
    (figure 3b), nan for a single unit. training: recipe, seed, precision; data: what the machine was trained
    on; verdict: status and drift of L~ per visible unit. Each is None for a machine made otherwise.
    """

    n_samples: int
    n_visible: int
    n_hidden: int
    pseudo_likelihood_per_spin: Estimate
    cross_entropy: Estimate
    visible_energy: Estimate
    visible_energy_per_spin: Estimate
    visible_energy_variance: Estimate
    visible_energy_variance_per_spin: Estimate
    parameters: dict[str, Spread]
    abs_filter_sum_variance: Estimate
    verdict: dict[str, Any] | None
    training: dict[str, Any] | None
    training_data: dict[str, Any] | None
    certificate: dict[str, Any] | None

    def _facts(self) -> dict[str, Any]:
        """Without what is known of training and data, but for the verdict."""
        facts = super()._facts()
        for name in ("parameters", "verdict", "training", "training_data", "certificate"):
            del facts[name]
        return facts | self.parameters | {"verdict": self.verdict and self.verdict["status"]}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return asdict(self)


def analyse(
    machine: Machine,
    data: Dataset | ArrayLike,
    max_samples: int | None = MOST_SAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Analysis:
    """Reads L~, cross entropy and visible energy of random configurations, at most max_samples.

    max_samples=None takes all. data: a Dataset, or an array of +-1. Rows are chosen as studies choose them,
    so that the same machine, configurations and seed give the same numbers. progress(stage, done, total)
    counts what is read.
    """
    data = as_dataset("data", data)
    chosen = _chosen(machine, data, max_samples, seed)
    report = progress or (lambda stage, done, total: None)
    scored = scores(machine, chosen, len(chosen), seed)
    report("analysis", 1, 2)
    energy = mean_and_variance(observables.visible_energies(machine, chosen).full)
    report("analysis", 2, 2)
    made: Mapping[str, Any] = machine.provenance
    return Analysis(
        n_samples=len(chosen),
        n_visible=machine.n_visible,
        n_hidden=machine.n_hidden,
        pseudo_likelihood_per_spin=scored.pseudo_likelihood_per_spin,
        cross_entropy=scored.cross_entropy,
        visible_energy=energy.mean,
        visible_energy_per_spin=_scaled(energy.mean, machine.n_visible),
        visible_energy_variance=energy.variance,
        visible_energy_variance_per_spin=_scaled(energy.variance, machine.n_visible),
        parameters={name: _spread(array) for name, array in machine.parameters.items()},
        abs_filter_sum_variance=filter_sum_variance(machine),
        verdict=made.get("verdict"),
        training=made.get("training"),
        training_data=made.get("data"),
        certificate=_certificate(data),
    )


@dataclass(frozen=True, repr=False)
class EntropyReport(Displayed):
    """ln Z of a machine, total in nats, and the entropy bracket of configurations, nats per spin."""

    log_partition: LogPartition
    bracket: EntropyBracket

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {"log_partition": self.log_partition.to_dict(), "entropy_bracket": asdict(self.bracket)}


def bracket_entropy(
    machine: Machine,
    data: Dataset | ArrayLike,
    max_samples: int | None = MOST_SAMPLES,
    seed: int = 0,
    width: float | None = None,
    progress: Progress | bool | None = None,
) -> EntropyReport:
    """Encloses the entropy of configurations that training has not seen: S~ <= S <= upper edge.

    At most max_samples of them are used, chosen at random. The lower edge needs the Hamiltonian, known
    for data that thermorbm has sampled itself. width: of the sandwich around ln Z, nats; see
    `RBM.log_partition`. ln Z is exact for machines with a small layer. data: a Dataset, or an array of +-1.
    progress: bars in terminals and notebooks unless False.
    """
    data = as_dataset("data", data)
    chosen = _chosen(machine, data, max_samples, seed)
    partition_seed, bracket_seed = (int(s.generate_state(1)[0]) for s in seed_sequence(seed).spawn(2))
    with shown_progress(progress) as listener:
        ln_z = log_partition(machine, partition_seed, width, listener)
        both = edges(machine, chosen, ln_z, bracket_seed, is_ours(data), listener)
    return EntropyReport(ln_z, both)


def _chosen(machine: Machine, data: Dataset, max_samples: int | None, seed: int) -> Dataset:
    """max_samples random configurations in their order, or all if there are no more."""
    if not isinstance(machine, Machine):
        remedy = "a TrainingResult has it as .rbm"
        raise InputError("machine", type(machine).__name__, "an RBM or a SymmetricRBM", remedy)
    check_sites(machine, data)
    seed_sequence(seed)  # checked before the work
    n = len(data) if max_samples is None else min(len(data), whole_number("max_samples", max_samples, 2))
    if n < 2:
        raise InputError("data", f"{n} configuration", "two or more, for an error")
    if n == len(data):
        return data
    return data.select(np.sort(np.random.default_rng(seed).choice(len(data), size=n, replace=False)))


def _certificate(data: Dataset) -> dict[str, Any] | None:
    return {"passed": data.certificate.passed, **data.certificate.to_dict()} if data.certificate else None


def _spread(array: NDArray[Any]) -> Spread:
    return Spread(float(array.mean(dtype=np.float64)), float(array.std(dtype=np.float64)))


def _scaled(estimate: Estimate, n: int) -> Estimate:
    return Estimate(estimate.value / n, estimate.error / n)


def training_summary(result: TrainingResult) -> dict[str, Any]:
    """How a run went, as plain values: settings, scores of the machine at its last good record, verdict."""
    run, status = result.rbm.provenance["training"], result.verdict.status
    last = -2 if status == "diverged" else -1  # the last record of a diverged run is the bad one
    scores = {name: float(column[last]) for name, column in result.history.items() if len(column) >= -last}
    return {
        "n_visible": result.rbm.n_visible,
        "n_hidden": result.rbm.n_hidden,
        "recipe": run["recipe"]["name"],
        "seed": run["seed"],
        "device": run["device"],
        "precision": run["precision"],
        "epochs": scores.get("epoch", 0.0),
        "updates": int(scores.get("update", 0)),
        **_per_spin(scores, "", result.rbm.n_visible),
        **_per_spin(scores, "validation_", result.rbm.n_visible),
        "verdict": status,
        "drift": result.verdict.drift,
        "drift_error": result.verdict.drift_error,
    }


def _per_spin(scores: Mapping[str, float], prefix: str, n_visible: int) -> dict[str, Any]:
    if f"{prefix}pseudo_likelihood" not in scores:
        return {}
    value, error = (scores[f"{prefix}pseudo_likelihood{end}"] / n_visible for end in ("", "_error"))
    return {
        f"{prefix}pseudo_likelihood_per_spin": {"value": value, "error": error},
        f"{prefix}cross_entropy": scores[f"{prefix}cross_entropy"],
    }
