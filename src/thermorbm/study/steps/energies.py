"""Measures energies at one temperature of the grid for integration and reweighting; keeps no spins."""

from __future__ import annotations

from thermorbm.records import as_plain
from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import Note, Progress, Task
from thermorbm.study.steps.sample import sampled, sampling_cost
from thermorbm.study.steps.step import Rows, StudyStep


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.reading.configurations import exact_values, thermal_averages
    from thermorbm.study.reweighted import sample_arrays

    data = sampled(task, store, progress)
    assert data.certificate is not None
    assert data.hamiltonian is not None
    assert data.temperature is not None
    values = {"thermal": thermal_averages(data), "exact": exact_values(data.hamiltonian, data.temperature)}
    return Product({**as_plain(values), "certificate": data.certificate.to_dict()}, sample_arrays(data))


def leave(rows: Rows, result: Reduced) -> None:
    """A row of the energies of its family."""
    p = result.task.parameters
    place = {"value": p["temperature"], "samples": p["samples"], "seed": p["seed"]}
    rows.add(result, "energies", {**place, **result.values})


STEP = StudyStep("energies", version=2, run=run, cost=sampling_cost, leave=leave, reads_large=True)
