"""Takes users' configurations at one value, in random order; the last ones are not for training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from thermorbm.errors import InputError
from thermorbm.runner.store import Product, Store
from thermorbm.runner.task import REPEATED, Note, Progress, Task
from thermorbm.study.named import hamiltonian_of
from thermorbm.study.steps.sample import leave, with_held_out
from thermorbm.study.steps.step import StudyStep, scan_cost


def run(task: Task, store: Store, progress: Progress, note: Note) -> Product:
    import numpy as np

    from thermorbm.dataset import Dataset
    from thermorbm.study.sources import Piece, read_source

    p, files = task.parameters, [Path(path) for path in task.labels["files"]]
    pieces = [Piece(path, **piece) for path, piece in zip(files, p["pieces"], strict=True)]
    model = hamiltonian_of(p)
    named = model if "named" in p else None
    data = read_source(pieces, p["value"], None if model is None else model.lattice, named)
    data = replace(data, hamiltonian=named)
    n_held_out = _held_out(len(data), p["held_out"])
    order = np.random.default_rng(p["seed"]).permutation(len(data))
    origin = {"method": "import", "value": p["value"], "files": [path.name for path in files]}
    temperature = p["value"] if p["is_temperature"] else None
    shuffled = Dataset(
        data.packed[order], data.lattice, temperature, origin, None, data.n_sites, data.hamiltonian
    )
    values = {"n_train": len(data) - n_held_out, "n_held_out": n_held_out, "n_sites": data.n_sites}
    return Product({**values, "certificate": None}, large=with_held_out(shuffled, n_held_out))


def _held_out(n_samples: int, wanted: int | None) -> int:
    if n_samples < 4:
        raise InputError("configurations", n_samples, "at least 4, two to train and two held out")
    n_held_out = wanted or max(2, n_samples // 10)
    if n_held_out > n_samples - 2:
        raise InputError("held_out", n_held_out, f"at most {n_samples - 2} of {n_samples} configurations")
    return n_held_out


STEP = StudyStep(
    "import",
    version=1,
    run=run,
    cost=scan_cost,
    leave=leave,
    makes_large=True,
    needs_local_files=True,
    sharing=REPEATED,
)
