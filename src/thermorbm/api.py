"""What `import thermorbm` shows: the rooms joined for users."""

from __future__ import annotations

import platform
import warnings
from importlib.metadata import version
from typing import Any

from thermorbm.dataset import Dataset
from thermorbm.errors import CertificateWarning
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.sampling.sampler import Sector, draw
from thermorbm.sampling.schedule import Progress


def sample(
    model: Hamiltonian | Lattice,
    temperature: float,
    n_samples: int,
    seed: int = 0,
    method: str = "auto",
    sector: Sector = "symmetric",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Independent, certified Boltzmann samples of a Hamiltonian at `temperature` (units of J/k_B).

    model: a Hamiltonian; a lattice stands for its ferromagnet with J = 1. method: "metropolis" (single flips,
    multispin-coded where couplings are few), "tempering" (chains that change places with hotter ones),
    "swendsen-wang" or "wolff" (pairs without frustration or field); "auto" is metropolis, or tempering where
    terms compete. sector: "symmetric" flips every sample by a random symmetry of the Hamiltonian, "positive"
    makes m >= 0, a number in [0, 1] is the probability of m > 0 (where m is not 0). Where the ground state is
    not uniform, m is the overlap with it.
    threads: cores to use, all by default. progress(stage, done, total) is called now and then. The result
    depends on nothing but the first six arguments. A certificate that fails raises a CertificateWarning and
    stays with the dataset.
    """
    H = as_hamiltonian(model)
    result = draw(H, temperature, n_samples, seed, method, sector, threads, progress)
    if not result.certificate.passed:
        warnings.warn("; ".join(result.certificate.failures), CertificateWarning, stacklevel=2)
    side = sector if isinstance(sector, str) else float(sector)
    provenance = {"seed": int(seed), "method": result.method, "sector": side, "versions": _versions()}
    return Dataset(
        result.packed, H.lattice, temperature, provenance, result.certificate, H.n_sites, hamiltonian=H
    )


def _versions() -> dict[str, Any]:
    packages = {name: version(name) for name in ("thermorbm", "numpy", "numba")}
    return {**packages, "python": platform.python_version()}
