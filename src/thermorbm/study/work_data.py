"""Tasks that make configurations, and that measure them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import api
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.observables import configuration_series, distribution, two_point_correlation
from thermorbm.study.sources import Piece, read_source
from thermorbm.study.store import Product, Store
from thermorbm.study.tasks import Task
from thermorbm.study.thermal import averages, exact_values, thermal_averages
from thermorbm.study.work import Progress

# <s_i s_j> needs a Fourier transform per configuration; so many tell it well enough.
CORRELATED_SAMPLES = 4096


def sample(task: Task, progress: Progress) -> Product:
    """Boltzmann samples with their certificate; the last `held_out` of them are not for training."""
    p = task.parameters
    data, certificate = _sampled(p, p["samples"] + p["held_out"], progress, p["sector"])
    values = {
        "n_train": p["samples"],
        "n_held_out": p["held_out"],
        "n_sites": data.n_sites,
        "certificate": certificate,
    }
    return Product(values, large=_with_held_out(data, p["held_out"]))


def _sampled(
    p: Mapping[str, Any], n_samples: int, progress: Progress, sector: str | float = "symmetric"
) -> tuple[Dataset, dict[str, Any]]:
    """Boltzmann samples as the parameters of a task ask for them, and their certificate."""

    def report(stage: str, done: int, total: int) -> None:
        progress(done / max(done, total, 1) if stage == "sample" else 0.0)

    lattice, seed = Lattice(p["shape"]), p["seed"]
    data = api.sample(
        lattice, p["temperature"], n_samples, seed, p["method"], sector, threads=1, progress=report
    )
    assert data.certificate is not None
    return data, data.certificate.to_dict()


def import_(task: Task) -> Product:
    """Users' configurations at one value, in random order; the last ones are not for training."""
    p = task.parameters
    pieces = [
        Piece(Path(path), **piece) for path, piece in zip(task.labels["files"], p["pieces"], strict=True)
    ]
    lattice = None if p["shape"] is None else Lattice(p["shape"])
    data = read_source(pieces, p["value"], lattice)
    if len(data) < 4:
        raise InputError("configurations", len(data), "at least 4, two to train and two held out")
    n_held_out = p["held_out"] or max(2, len(data) // 10)
    if n_held_out > len(data) - 2:
        raise InputError("held_out", n_held_out, f"at most {len(data) - 2} of {len(data)} configurations")
    order = np.random.default_rng(p["seed"]).permutation(len(data))
    shuffled = Dataset(
        data.packed[order],
        data.lattice,
        p["value"] if p["is_temperature"] else None,
        {
            "method": "import",
            "value": p["value"],
            "files": [Path(path).name for path in task.labels["files"]],
        },
        n_sites=data.n_sites,
    )
    values = {"n_train": len(data) - n_held_out, "n_held_out": n_held_out, "n_sites": data.n_sites}
    return Product({**values, "certificate": None}, large=_with_held_out(shuffled, n_held_out))


def _with_held_out(data: Dataset, n_held_out: int) -> Dataset:
    provenance = {**data.provenance, "held_out": n_held_out}
    return Dataset(
        data.packed, data.lattice, data.temperature, provenance, data.certificate, n_sites=data.n_sites
    )


def split(data: Dataset) -> tuple[Dataset, Dataset]:
    """Configurations for training, and those held out."""
    n_held_out = int(data.provenance["held_out"])
    return data[: len(data) - n_held_out], data[len(data) - n_held_out :]


def energies(task: Task, progress: Progress) -> Product:
    """Mean and variance of the energy at one temperature; the configurations are not kept."""
    p = task.parameters
    data, certificate = _sampled(p, p["samples"], progress)
    return Product(
        {
            "thermal": thermal_averages(data),
            "exact": exact_values(Lattice(p["shape"]), p["temperature"]),
            "certificate": certificate,
        }
    )


def measure(task: Task, store: Store) -> Product:
    """Averages over all configurations of a dataset, and exact values beside them where they are known."""
    data = store.dataset(task.inputs[0])
    if not task.parameters["thermal"]:
        return Product({})
    values: dict[str, Any] = {"thermal": averages(data)}
    arrays = _histogram(data)
    if task.parameters["hamiltonian"] == "ising" and data.lattice and data.temperature:
        values["thermal"] |= thermal_averages(data)
        values["exact"] = exact_values(data.lattice, data.temperature)
    if data.lattice is not None:
        curve = two_point_correlation(data[:CORRELATED_SAMPLES])
        arrays |= {f"correlation.{name}": column for name, column in asdict(curve).items()}
    return Product(values, arrays)


def _histogram(data: Dataset) -> dict[str, NDArray[Any]]:
    """The distribution of m on bins that are symmetric about 0."""
    found = distribution(configuration_series(data).magnetization, np.linspace(-1, 1, 102))
    return {"magnetization.edges": found.edges, "magnetization.density": found.density}
