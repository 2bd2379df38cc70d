"""What users do with trained machines: sum up the training, generate configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thermorbm import observables
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError, unknown_name
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.model.random_units import seed_sequence
from thermorbm.model.units import whole_number

if TYPE_CHECKING:
    from thermorbm.training.loop import Step as Step, TrainingResult

STARTS = ("p_h", "random", "data")
_SPINS_AT_ONCE = 1 << 20


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


def generate(
    machine: Machine,
    n_samples: int,
    start: str = "p_h",
    steps: int = 7,
    seed: int = 0,
    p_h: float | None = None,
    data: Dataset | None = None,
) -> Dataset:
    """v^(steps) of n_samples Gibbs chains as a dataset; section III B.

    start: "p_h" sets hidden unit i to sign(sum of its filter) with probability p_h, times one random sign per
    chain; "random" is p_h = 1/2; "data" begins with v^(0) from `data`. p_h: by default (<|m|> + 1) / 2, with
    <|m|> of `data` or else of the training data. Lattice and temperature are those of the training data.
    """
    n, number = whole_number("n_samples", n_samples, 1), whole_number("steps", steps, 0)
    seed_sequence(seed)  # checked before the work
    label = _label(machine, data)
    if start == "data":
        return _from_data(machine, n, number, seed, data, label)
    if start not in STARTS:
        raise unknown_name("start", start, STARTS)
    probability = 0.5 if start == "random" else _start_probability(machine, p_h, data)
    made = observables.generate(machine, probability, n, number, seed, *label)
    return _with_origin(made, start, number, seed, {"p_h": probability})


def _from_data(
    machine: Machine,
    n: int,
    steps: int,
    seed: int,
    data: Dataset | None,
    label: tuple[Lattice | None, float | None],
) -> Dataset:
    if data is None:
        raise InputError("data", None, "configurations to start from")
    if data.n_sites != machine.n_visible:
        raise InputError("data", f"{data.n_sites} sites", f"of {machine.n_visible}, like the machine")
    rows = np.arange(n, dtype=np.int64) * len(data) // n  # evenly spaced, and repeated if n > len(data)
    starts = data.select(rows)
    size = max(1, _SPINS_AT_ONCE // machine.width)
    seeds = seed_sequence(seed).spawn(-(-n // size))
    blocks = zip(starts.blocks(size), seeds, strict=True)
    packed = [Dataset.from_spins(machine.gibbs(v, steps, s), label[0]).packed for v, s in blocks]
    made = Dataset(np.concatenate(packed), *label, n_sites=machine.n_visible)
    return _with_origin(made, "data", steps, seed, {})


def _start_probability(machine: Machine, p_h: float | None, data: Dataset | None) -> float:
    if p_h is not None:
        return p_h
    if data is not None:
        series = observables.configuration_series(data)
        return observables.magnetization_probability(float(series.abs_magnetization.mean()))
    mean_abs_m = _training_data(machine).get("mean_abs_magnetization")
    if mean_abs_m is None:
        raise InputError(
            "p_h", None, "a probability", "the machine does not know <|m|> of its data: give p_h or data"
        )
    return observables.magnetization_probability(mean_abs_m)


def _label(machine: Machine, data: Dataset | None) -> tuple[Lattice | None, float | None]:
    """Lattice and temperature of the training data, or of `data` where the machine knows neither."""
    trained_on = _training_data(machine)
    if not trained_on and data is not None:
        return data.lattice, data.temperature
    shape = trained_on.get("shape")
    return Lattice(shape) if shape else None, trained_on.get("temperature")


def _training_data(machine: Machine) -> Mapping[str, Any]:
    """What training noted of its data; empty for machines made otherwise."""
    stored = machine.provenance.get("data")
    return stored if isinstance(stored, Mapping) else {}


def _with_origin(made: Dataset, start: str, steps: int, seed: int, more: Mapping[str, Any]) -> Dataset:
    origin = {"method": "generate", "start": start, "steps": steps, "seed": int(seed), **more}
    return Dataset(made.packed, made.lattice, made.temperature, origin, n_sites=made.n_sites)
