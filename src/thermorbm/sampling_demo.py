"""A sampling demonstration of a few seconds: Monte Carlo averages beside exact values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from thermorbm import exact, samples
from thermorbm.lattice import Lattice

SIDE = 32
TEMPERATURES = (1.5, 2.0, 2.25, exact.TC_2D, 2.5, 3.0, 4.0)


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
