"""Averages over all configurations of a dataset, and exact values beside them where they are known.

Energy and magnetisation of every configuration are left for reweighting, in 4 bytes each where they fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thermorbm.records import as_plain
from thermorbm.runner.store import Product, Reduced, Store
from thermorbm.runner.task import Note, Progress, Task
from thermorbm.study.quantities import measured_names, measured_values
from thermorbm.study.results import Data
from thermorbm.study.steps.step import DataPlace, Rows, StudyStep, read_dataset, scan_cost

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from thermorbm.dataset import Dataset

# <s_i s_j> needs a Fourier transform per configuration; so many tell it well enough.
CORRELATED_SAMPLES = 4096


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    from thermorbm.reading.configurations import averages, exact_values, thermal_averages
    from thermorbm.study.reweighted import sample_arrays

    if not task.parameters["thermal"]:
        return Product({})
    data = read_dataset(store, task.inputs[0])
    values: dict[str, Any] = {"thermal": averages(data)}
    model = data.hamiltonian or data.lattice
    if task.parameters["hamiltonian"] != "unknown" and model and data.temperature:
        values["thermal"] |= thermal_averages(data)
        values["exact"] = exact_values(model, data.temperature)
    if (data.packed == data.packed[0]).all():
        values["is_constant"] = True
    values["thermal"] |= measured_values(Data, task.parameters, data)
    samples = sample_arrays(data) if "exact" in values else {}
    return Product(as_plain(values), {**_arrays(data), **samples})


def _arrays(data: Dataset) -> dict[str, NDArray[Any]]:
    """The distribution of m on bins that are symmetric about 0, and the correlation of spins."""
    from dataclasses import asdict

    import numpy as np

    from thermorbm.observables import distribution, order_parameters, two_point_correlation

    histogram = distribution(order_parameters(data), np.linspace(-1, 1, 102))
    arrays = {"magnetization.edges": histogram.edges, "magnetization.density": histogram.density}
    if data.lattice is not None:
        curve = two_point_correlation(data[:CORRELATED_SAMPLES])
        arrays |= {f"correlation.{name}": column for name, column in asdict(curve).items()}
    return arrays


def of_data(place: DataPlace) -> list[Task]:
    family = place.family
    parameters = {"hamiltonian": family.hamiltonian, "thermal": "thermal" in family.parts}
    parameters |= measured_names(Data)
    return [STEP.task(place.dataset.name, parameters, [place.dataset], place.dataset.labels)]


def leave(rows: Rows, result: Reduced) -> None:
    """More columns of the row of its dataset."""
    rows.of_input(result).update(result.values, file=result.file)


STEP = StudyStep(
    "measure", version=2, run=run, cost=scan_cost, leave=leave, of_data=of_data, reads_large=True
)
