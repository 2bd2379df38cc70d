"""What `import thermorbm` shows: the rooms joined for users."""

from __future__ import annotations

import platform
import warnings
from importlib.metadata import version
from typing import Any

from thermorbm.dataset import Dataset
from thermorbm.errors import CertificateWarning
from thermorbm.lattice import Lattice
from thermorbm.sampling.sampler import Sector, draw
from thermorbm.sampling.schedule import Progress


def sample(
    lattice: Lattice,
    temperature: float,
    n_samples: int,
    seed: int = 0,
    method: str = "metropolis",
    sector: Sector = "symmetric",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Independent, certified Boltzmann samples of the Ising model at `temperature` (units of J/k_B).

    method: "metropolis" (multispin-coded single flips), "swendsen-wang" or "wolff". sector: "symmetric" gives
    every sample a random global sign, "positive" makes m >= 0, a number in [0, 1] is the probability of m > 0
    (where m is not 0).
    threads: cores to use, all by default. progress(stage, done, total) is called now and then. The result
    depends on nothing but the first six arguments. A certificate that fails raises a CertificateWarning and
    stays with the dataset.
    """
    result = draw(lattice, temperature, n_samples, seed, method, sector, threads, progress)
    if not result.certificate.passed:
        warnings.warn("; ".join(result.certificate.failures), CertificateWarning, stacklevel=2)
    side = sector if isinstance(sector, str) else float(sector)
    provenance = {"seed": int(seed), "method": method, "sector": side, "versions": _versions()}
    return Dataset(result.packed, lattice, temperature, provenance, result.certificate)


def _versions() -> dict[str, Any]:
    packages = {name: version(name) for name in ("thermorbm", "numpy", "numba")}
    return {**packages, "python": platform.python_version()}
