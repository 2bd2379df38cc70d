"""What a machine says of configurations, and what its parameters look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import observables
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.model import LogPartition, Machine
from thermorbm.model.random_units import seed_sequence
from thermorbm.model.units import whole_number
from thermorbm.observables import EntropyBracket
from thermorbm.stats import Estimate, mean_estimate, variance_estimate

MOST_SAMPLES = 5000
_SPINS_AT_ONCE = 1 << 20
_EXACT_UNITS = 16  # a layer as small as this is summed over
_OUR_METHODS = ("metropolis", "swendsen-wang", "wolff")

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of the elements of an array."""

    mean: float
    std: float


@dataclass(frozen=True)
class Analysis:
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

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return asdict(self)


def analyse(
    machine: Machine,
    data: Dataset,
    max_samples: int | None = MOST_SAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Analysis:
    """Reads L~, cross entropy and visible energy over evenly spaced configurations, at most max_samples.

    None takes all. The data are unpacked a block at a time. progress(stage, done, total) counts them.
    """
    chosen = _chosen(machine, data, max_samples)
    scores = _scores(machine, chosen, seed, progress)
    energy, variance = mean_estimate(scores["energy"]), variance_estimate(scores["energy"])
    made: Mapping[str, Any] = machine.provenance
    return Analysis(
        n_samples=len(chosen),
        n_visible=machine.n_visible,
        n_hidden=machine.n_hidden,
        pseudo_likelihood_per_spin=mean_estimate(scores["likelihood"] / machine.n_visible),
        cross_entropy=mean_estimate(scores["cross_entropy"]),
        visible_energy=energy,
        visible_energy_per_spin=_scaled(energy, machine.n_visible),
        visible_energy_variance=variance,
        visible_energy_variance_per_spin=_scaled(variance, machine.n_visible),
        parameters={name: _spread(array) for name, array in machine.parameters.items()},
        abs_filter_sum_variance=_filter_sum_variance(machine),
        verdict=made.get("verdict"),
        training=made.get("training"),
        training_data=made.get("data"),
        certificate=_certificate(data),
    )


@dataclass(frozen=True)
class EntropyReport:
    """ln Z of a machine, total in nats, and the entropy bracket of configurations, nats per spin."""

    log_partition: LogPartition
    bracket: EntropyBracket

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {"log_partition": self.log_partition.to_dict(), "entropy_bracket": asdict(self.bracket)}


def bracket_entropy(
    machine: Machine,
    data: Dataset,
    max_samples: int | None = MOST_SAMPLES,
    seed: int = 0,
    width: float | None = None,
    progress: Progress | None = None,
) -> EntropyReport:
    """S~ <= S <= upper edge, from evenly spaced configurations that training has not seen.

    The lower edge needs the Hamiltonian, which is known for data that thermorbm has sampled itself. width: of
    the sandwich around ln Z, nats; see `RBM.log_partition`. ln Z is exact for machines with a small layer.
    """
    chosen = _chosen(machine, data, max_samples)
    partition_seed, bracket_seed = (int(s.generate_state(1)[0]) for s in seed_sequence(seed).spawn(2))
    if min(machine.n_visible, machine.n_hidden) <= _EXACT_UNITS:
        log_partition = machine.log_partition("exact")
    else:
        options = {"seed": partition_seed, "width": width, "progress": progress}
        log_partition = machine.log_partition("ais", **options)
    is_ising = data.provenance.get("method") in _OUR_METHODS
    found = observables.entropy_bracket(
        machine, chosen, log_partition, bracket_seed, is_ising, progress=progress
    )
    return EntropyReport(log_partition, found)


def _chosen(machine: Machine, data: Dataset, max_samples: int | None) -> Dataset:
    if data.n_sites != machine.n_visible:
        raise InputError("data", f"{data.n_sites} sites", f"of {machine.n_visible}, like the machine")
    n = len(data) if max_samples is None else min(len(data), whole_number("max_samples", max_samples, 2))
    if n < 2:
        raise InputError("data", f"{n} configuration", "two or more, for an error")
    return data.select(evenly_spaced(len(data), n))


def _scores(
    machine: Machine, data: Dataset, seed: int, progress: Progress | None
) -> dict[str, NDArray[np.float64]]:
    """L~, cross entropy per unit and visible energy of every configuration, (n,) each."""
    size = max(1, _SPINS_AT_ONCE // machine.width)
    seeds = seed_sequence(seed).spawn(-(-len(data) // size))
    likelihood, entropy, energy = [], [], []
    for k, (v, block_seed) in enumerate(zip(data.blocks(size), seeds, strict=True)):
        likelihood.append(machine.pseudo_likelihood(v))
        entropy.append(machine.cross_entropy(v, block_seed))
        energy.append(machine.visible_energy(v))
        if progress:
            progress("analysis", k * size + len(v), len(data))
    columns = {"likelihood": likelihood, "cross_entropy": entropy, "energy": energy}
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def evenly_spaced(n_rows: int, n: int) -> NDArray[np.int64]:
    """n row numbers, so that all temperatures of a joined dataset are seen; repeated if n > n_rows."""
    return np.arange(n, dtype=np.int64) * n_rows // n


def _certificate(data: Dataset) -> dict[str, Any] | None:
    return {"passed": data.certificate.passed, **data.certificate.to_dict()} if data.certificate else None


def _filter_sum_variance(machine: Machine) -> Estimate:
    if machine.n_hidden < 2:
        return Estimate(float("nan"), float("nan"))
    return observables.filter_sums(machine).abs_variance


def _spread(array: NDArray[Any]) -> Spread:
    return Spread(float(array.mean(dtype=np.float64)), float(array.std(dtype=np.float64)))


def _scaled(estimate: Estimate, n: int) -> Estimate:
    return Estimate(estimate.value / n, estimate.error / n)
