"""Samples configurations at one temperature; the last `held_out` of them are not for training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thermorbm.exact import TC_2D, TC_3D
from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import BASE_MEMORY, REPEATED, Cost, Note, Progress, Task
from thermorbm.study.named import hamiltonian_of, n_sites_of
from thermorbm.study.steps.step import Rows, StudyStep

if TYPE_CHECKING:
    from thermorbm.dataset import Dataset

FLIPS_PER_SECOND = 5e9
TEMPERED = 500  # sweeps for each sample, of all chains of a ladder together


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    p = task.parameters
    data = sampled(p, p["samples"] + p["held_out"], progress, p["sector"])
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


def sampled(
    p: Mapping[str, Any], n_samples: int, progress: Progress, sector: str | float = "symmetric"
) -> Dataset:
    """Boltzmann samples with their certificate, as the parameters of a task ask for them."""
    from thermorbm.samples import sample

    def report(stage: str, done: int, total: int) -> None:
        progress(done / max(done, total, 1) if stage == "sample" else 0.0)

    model, method = hamiltonian_of(p), p["method"]
    assert model is not None
    return sample(model, p["temperature"], n_samples, p["seed"], method, sector, threads=1, progress=report)


def with_held_out(data: Dataset, n_held_out: int) -> Dataset:
    """The same data, which know how many of them are held out."""
    return replace(data, n_held_out=n_held_out)


def sampling_cost(task: Task, inputs: Sequence[Task]) -> Cost:
    """Samples five autocorrelation times apart, after a pilot of as long again."""
    p = task.parameters
    shape, n_samples = p["shape"], p["samples"] + p.get("held_out", 0)
    n_sites = n_sites_of(p)
    if "named" in p:  # a ladder of some dozen temperatures, at worst
        return Cost(
            1 + TEMPERED * n_samples * n_sites / FLIPS_PER_SECOND, BASE_MEMORY + 8 * n_samples * n_sites
        )
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
    "sample", version=1, run=run, cost=sampling_cost, leave=leave, makes_large=True, sharing=REPEATED
)
