"""What `thermorbm demo` and `thermorbm bench` try out on this machine.

Samples beside exact values in a few seconds, and how fast the kernels run; `benchmarks/` sets the same speeds
beside those of other programs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence

from thermorbm import exact, samples
from thermorbm.dataset import Dataset
from thermorbm.lattice import Lattice
from thermorbm.sampling.blocks import MetropolisBlock
from thermorbm.sampling.metropolis import REFUSAL_PROBABILITY

CASES = (((64, 64), 2.269), ((16, 16, 16), 4.511))
N_VISIBLE, BATCH, UPDATES_PER_EPOCH = 4096, 128, 390
HIDDEN_SIZES = (400, 1600, 2500)
SIDE = 32
TEMPERATURES = (1.5, 2.0, 2.25, exact.TC_2D, 2.5, 3.0, 4.0)


@dataclass(frozen=True)
class SamplingSpeed:
    """Attempted Metropolis updates per nanosecond on one core, the best of several timed stretches."""

    shape: tuple[int, ...]
    temperature: float
    updates_per_ns: float


def sampling_speed(
    shape: tuple[int, ...], temperature: float, n_sweeps: int = 400, repeats: int = 5
) -> SamplingSpeed:
    """Times the multispin kernel at equilibrium; attempts refused whatever they cost do not count.

    Processor time, so that what else the computer does is not taken for slowness.
    """
    lattice = Lattice(shape)
    block = MetropolisBlock(
        lattice, temperature, SeedSequence(1), np.zeros(MetropolisBlock.n_chains, np.bool_)
    )
    block.advance(n_sweeps)
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        block.advance(n_sweeps)
        seconds.append(time.process_time() - start)
    updates = (1 - REFUSAL_PROBABILITY) * lattice.n_sites * block.n_chains * n_sweeps
    return SamplingSpeed(shape, temperature, updates / min(seconds) * 1e-9)


@dataclass(frozen=True)
class TrainingSpeed:
    """Seconds per epoch of 50 000 configurations of 4096 spins on one core, and of the bare products."""

    n_hidden: int
    seconds_per_epoch: float
    seconds_of_products: float


def training_speed(n_hidden: int, seconds: float = 4.0) -> TrainingSpeed:
    """Times the `paper` recipe (CD-5) on random configurations, and its 13 products in the same precision."""
    from thermorbm.training.devices import torch_threads  # brings torch with it, which a demo does not need

    with torch_threads(1):
        ours, bare = training_update(n_hidden), products_update(n_hidden)
        return TrainingSpeed(n_hidden, epoch_seconds(ours, seconds), epoch_seconds(bare, seconds))


def training_update(n_hidden: int, precision: str = "auto") -> Callable[[], object]:
    """One update of the `paper` recipe, to be called again and again."""
    import torch

    from thermorbm.training.design import DenseDesign
    from thermorbm.training.devices import choose_precision
    from thermorbm.training.recipe import RECIPES
    from thermorbm.training.trainer import Trainer

    rng, cpu = np.random.default_rng(0), torch.device("cpu")
    packed = rng.integers(0, 256, (BATCH * UPDATES_PER_EPOCH, N_VISIBLE // 8), dtype=np.uint8)
    data = Dataset(packed, n_sites=N_VISIBLE)
    design = DenseDesign(n_hidden, N_VISIBLE)
    return Trainer(data, design, RECIPES["paper"], 0, cpu, choose_precision(precision, cpu)).step


def products_update(n_hidden: int) -> Callable[[], object]:
    """The matrix products of one CD-5 update and nothing else: 6 W v, 5 W^T h, 2 h v^T."""
    import torch

    from thermorbm.training.devices import choose_precision

    dtype = choose_precision("auto", torch.device("cpu"))
    W = torch.randn(n_hidden, N_VISIBLE).mul_(0.02).to(dtype)
    v = torch.randn(BATCH, N_VISIBLE).sign().to(dtype)
    h = torch.randn(BATCH, n_hidden).sign().to(dtype)

    def update() -> None:
        for _ in range(6):
            torch.mm(v, W.t())
        for _ in range(5):
            torch.mm(h, W)
        for _ in range(2):
            torch.mm(h.t(), v)

    return update


def epoch_seconds(update: Callable[[], object], seconds: float) -> float:
    """Seconds per epoch, from calling `update` for about `seconds`."""
    update()
    n_updates, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        update()
        n_updates += 1
    return UPDATES_PER_EPOCH * (time.perf_counter() - start) / n_updates


@dataclass(frozen=True)
class DemoRow:
    """Averages per spin at one temperature; the exact energy is that of the same finite lattice."""

    temperature: float
    energy: float
    energy_error: float
    energy_exact: float
    abs_magnetization: float
    magnetization_exact: float  # of the infinite lattice; 0 from the critical point on
    certified: bool

    @property
    def z_score(self) -> float:
        return (self.energy - self.energy_exact) / self.energy_error


def demo_rows(
    n_samples: int = 4096, seed: int = 1, progress: Callable[[str, int, int], None] | None = None
) -> Iterator[DemoRow]:
    """Samples a SIDE x SIDE lattice at each of TEMPERATURES; progress counts the temperatures."""
    lattice = Lattice((SIDE, SIDE))
    for i, temperature in enumerate(TEMPERATURES, start=1):
        data = samples.sample(lattice, temperature, n_samples, seed=seed)
        spins = data.spins()
        energies = lattice.energy(spins) / lattice.n_sites
        yield DemoRow(
            temperature,
            float(energies.mean()),
            float(energies.std(ddof=1)) / math.sqrt(n_samples),  # samples are spaced to be independent
            float(exact.kaufman(SIDE, temperature).energy),
            float(np.abs(lattice.magnetization(spins)).mean()),
            float(exact.onsager(temperature).magnetization),
            data.certificate is not None and data.certificate.passed,
        )
        if progress is not None:
            progress("sampling", i, len(TEMPERATURES))
