"""Configurations at one temperature, sampled here or on a ladder that several temperatures share.

The last `held_out` of them are not for training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thermorbm.exact import TC_2D, TC_3D
from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import BASE_MEMORY, REPEATED, Cost, Note, Progress, Task
from thermorbm.study.named import hamiltonian_of, n_sites_of
from thermorbm.study.steps.ladder import (
    FLIPS_PER_SECOND,
    fraction_sampled,
    taken_from_ladder,
    tempering_cost,
)
from thermorbm.study.steps.step import Rows, StudyStep

if TYPE_CHECKING:
    from thermorbm.dataset import Dataset


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    p = task.parameters
    data = sampled(task, store, progress)
    assert data.certificate is not None
    values = {
        "n_train": p["samples"],
        "n_held_out": p["held_out"],
        "n_sites": data.n_sites,
        "certificate": data.certificate.to_dict(),
    }
    if p["method"] == "auto":
        values["method"] = data.provenance["method"]
    return Product(values, large=with_held_out(data, p["held_out"]))


def sampled(task: Task, store: Store, progress: Progress) -> Dataset:
    """Boltzmann samples with their certificate, as a task asks for them: of the ladder that is its input."""
    from thermorbm.samples import sample

    p = task.parameters
    if task.inputs:
        return taken_from_ladder(store, task.inputs[0], p["temperature"])
    model, sector = hamiltonian_of(p), p.get("sector", "symmetric")
    assert model is not None
    return sample(
        model, p["temperature"], _n_samples(task), p["seed"], p["method"], sector, threads=1,
        progress=fraction_sampled(progress),
    )  # fmt: skip


def _n_samples(task: Task) -> int:
    return int(task.parameters["samples"] + task.parameters.get("held_out", 0))


def with_held_out(data: Dataset, n_held_out: int) -> Dataset:
    """The same data, which know how many of them are held out."""
    return replace(data, n_held_out=n_held_out)


def sampling_cost(task: Task, inputs: Sequence[Task]) -> Cost:
    """Samples five autocorrelation times apart, after a pilot of as long again."""
    p, n_samples = task.parameters, _n_samples(task)
    shape, n_sites = p["shape"], n_sites_of(p)
    if inputs:  # only the file of the ladder is read
        n_bytes = len(inputs[0].parameters["temperatures"]) * n_samples * n_sites // 8
        return Cost(0.2 + 4e-9 * n_bytes, BASE_MEMORY + 4 * n_bytes)
    if "named" in p:  # a ladder at worst
        return tempering_cost(n_samples, n_sites)
    critical = {2: TC_2D, 3: TC_3D}.get(len(shape), 2.0 * len(shape))
    length = min(max(shape), 0.5 / max(abs(p["temperature"] / critical - 1), 1e-9))
    sweeps = 5 * (1 + 0.03 * length**2.1)
    seconds = 0.3 + 1.5 * n_samples * n_sites * sweeps / FLIPS_PER_SECOND
    return Cost(seconds, BASE_MEMORY + n_samples * n_sites)


def leave(rows: Rows, result: Reduced) -> None:
    """A row of the data of its family."""
    p, labels = result.task.parameters, result.task.labels
    place = {"value": labels["value"], "sector": labels["sector"]}
    origin = {"seed": p["seed"], "method": p.get("method", "import")}
    rows.add(result, "data", {**place, **origin, **result.values, "file": None})


STEP = StudyStep(
    "sample",
    version=1,
    run=run,
    cost=sampling_cost,
    leave=leave,
    makes_large=True,
    reads_large=True,
    sharing=REPEATED,
)
