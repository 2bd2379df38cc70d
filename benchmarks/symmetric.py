"""One Gibbs step of a symmetric machine beside torch's convolutions and beside drawing the units alone.

python -m benchmarks.symmetric [--json]: medians over interleaved repetitions, one core, one process.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from thermorbm.model import SymmetricRBM, generator_state, sample_units
from thermorbm.training.symmetric import TorchFilters

CHAINS, REPETITIONS = 64, 30
CASES = (((64, 64), 4, 3), ((16, 16, 16), 4, 2), ((16, 16, 16), 4, 3))


def ours(machine: SymmetricRBM, v: np.ndarray) -> Callable[[], object]:
    state, h = generator_state(1), np.empty((CHAINS, machine.n_hidden), np.float32)

    def step() -> None:
        sample_units(machine.hidden_inputs(v), state, h)
        sample_units(machine.visible_inputs(h), state, v)

    return step


def by_torch(machine: SymmetricRBM, v: np.ndarray) -> Callable[[], object]:
    """torch's convolutions with circular borders, and torch.bernoulli."""
    layers = TorchFilters(machine.parameters, machine.shape, torch.device("cpu"))
    chains = torch.from_numpy(v.copy())

    def step() -> None:
        h = 2 * torch.bernoulli(torch.sigmoid(2 * layers.hidden_inputs(chains))) - 1
        chains.copy_(2 * torch.bernoulli(torch.sigmoid(2 * layers.visible_inputs(h))) - 1)

    return step


def drawing(machine: SymmetricRBM, v: np.ndarray) -> Callable[[], object]:
    state, x = generator_state(1), machine.hidden_inputs(v)
    h, y = np.empty_like(x), np.zeros_like(v)

    def step() -> None:
        sample_units(x, state, h)
        sample_units(y, state, v.copy())

    return step


def measure(shape: tuple[int, ...], n_filters: int, kernel: int) -> dict[str, object]:
    rng = np.random.default_rng(1)
    filters = rng.normal(0, 0.2, (n_filters, *[kernel] * len(shape))).astype(np.float32)
    machine = SymmetricRBM(filters, shape)
    v = rng.choice([-1, 1], (CHAINS, machine.n_visible)).astype(np.float32)
    steps = {"ours": ours(machine, v), "torch": by_torch(machine, v), "drawing": drawing(machine, v)}
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(REPETITIONS):
        for name, step in steps.items():
            began = time.process_time()
            step()
            seconds[name].append(time.process_time() - began)
    medians = {name: 1e3 * statistics.median(found[2:]) for name, found in seconds.items()}
    return {
        "shape": list(shape),
        "filters": n_filters,
        "kernel": kernel,
        **{f"{name}_ms": round(value, 3) for name, value in medians.items()},
        "torch_over_ours": round(medians["torch"] / medians["ours"], 2),
    }


def main() -> None:
    torch.set_num_threads(1)
    rows = [measure(*case) for case in CASES]
    if "--json" in sys.argv:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
