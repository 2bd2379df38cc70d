"""Samples several temperatures by one ladder of tempering; tasks at single temperatures take theirs from it.

Chains that wander between temperatures need the hotter ones anyhow. A ladder for each temperature would climb
through the same temperatures again and again, and throw away what it finds there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import BASE_MEMORY, REPEATED, Cost, Note, Progress, Task
from thermorbm.sampling.choice import sharing_ladder
from thermorbm.study.named import hamiltonian_of, n_sites_of
from thermorbm.study.steps.step import Rows, StudyStep, read_dataset

if TYPE_CHECKING:
    from thermorbm.dataset import Dataset
    from thermorbm.study.spec import Family

FLIPS_PER_SECOND = 5e9
TEMPERED = 500  # sweeps for each sample, of all chains of a ladder together


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.dataset import Dataset
    from thermorbm.samples import sample

    p, model = task.parameters, hamiltonian_of(task.parameters)
    assert model is not None
    series = sample(
        model, temperatures=p["temperatures"], n_samples=p["samples"], seed=p["seed"], method=p["method"],
        sector=p["sector"], threads=1, progress=fraction_sampled(progress),
    )  # fmt: skip
    datasets = [data for data in series if isinstance(data, Dataset)]
    together = Dataset.concatenate(datasets)
    rungs = [_rung(data) for data in datasets]
    return Product({"temperatures": p["temperatures"]}, large=replace(together, provenance={"rungs": rungs}))


def _rung(data: Dataset) -> dict[str, Any]:
    """What a dataset knows of itself beside its configurations."""
    assert data.certificate is not None
    certificate, origin = data.certificate.to_dict(), dict(data.provenance)
    return {"temperature": data.temperature, "certificate": certificate, "provenance": origin}


def taken_from_ladder(store: Store, ladder: str, temperature: float) -> Dataset:
    """The configurations at one temperature of a ladder, the id of its task; with their certificate."""
    from thermorbm.sampling.certificate import Certificate

    together = read_dataset(store, ladder)
    rungs = together.provenance["rungs"]
    place, n_samples = [rung["temperature"] for rung in rungs].index(temperature), len(together) // len(rungs)
    return replace(
        together,
        packed=together.packed[place * n_samples :][:n_samples],
        temperature=temperature,
        provenance=rungs[place]["provenance"],
        certificate=Certificate.from_dict(rungs[place]["certificate"]),
    )


def fraction_sampled(progress: Progress) -> Callable[[str, int, int], None]:
    """What `sample` reports, as the fraction of a task that is done; nothing is while chains equilibrate."""

    def report(stage: str, done: int, total: int) -> None:
        progress(done / max(done, total, 1) if stage.endswith("sample") else 0.0)

    return report


def shared_temperatures(family: Family, temperatures: Sequence[float]) -> list[float]:
    """Those of a family that one ladder samples, ascending; none where tempering is not the method."""
    if family.data or family.method not in ("auto", "tempering") or family.model is None:
        return []
    return sharing_ladder(family.model, sorted(temperatures), family.method)


def tempering_cost(n_samples: int, n_sites: int, n_kept: int = 1) -> Cost:
    """Of a ladder of some dozen temperatures, n_kept of which keep n_samples each."""
    memory = BASE_MEMORY + 8 * n_samples * n_sites + n_kept * n_samples * n_sites // 2
    return Cost(1 + TEMPERED * n_samples * n_sites / FLIPS_PER_SECOND, memory)


def cost(task: Task, inputs: Sequence[Task]) -> Cost:
    p = task.parameters
    return tempering_cost(p["samples"], n_sites_of(p), len(p["temperatures"]))


def leave(rows: Rows, result: Reduced) -> None:
    """Nothing: each temperature has a row of its own, by the task that takes it from here."""


STEP = StudyStep("ladder", version=1, run=run, cost=cost, leave=leave, makes_large=True, sharing=REPEATED)
