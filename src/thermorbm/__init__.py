"""thermorbm: thermodynamics of spin configurations, read by restricted Boltzmann machines."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thermorbm.kernelcache import provide_cache

if TYPE_CHECKING:
    from thermorbm import exact, plots
    from thermorbm.api import sample
    from thermorbm.dataset import Dataset
    from thermorbm.hamiltonians import Hamiltonian, hamiltonian
    from thermorbm.interchange import from_rbms, from_sklearn, to_rbms, to_sklearn
    from thermorbm.lattice import Lattice
    from thermorbm.model import RBM, SymmetricRBM, load_machine
    from thermorbm.reading.analysis import analyse, bracket_entropy
    from thermorbm.reading.configurations import hold_out
    from thermorbm.reading.entropy import correlations_learnt
    from thermorbm.reading.generation import generate
    from thermorbm.runs import load_run, run
    from thermorbm.series import Series
    from thermorbm.stats import Estimate
    from thermorbm.torch import to_torch
    from thermorbm.training import Recipe, train

provide_cache()

__version__ = "0.1.0"  # the one place: packaging reads it from here

__all__ = [
    "RBM",
    "Dataset",
    "Estimate",
    "Hamiltonian",
    "Lattice",
    "Recipe",
    "Series",
    "SymmetricRBM",
    "analyse",
    "bracket_entropy",
    "correlations_learnt",
    "exact",
    "from_rbms",
    "from_sklearn",
    "generate",
    "hamiltonian",
    "hold_out",
    "load_machine",
    "load_run",
    "plots",
    "run",
    "sample",
    "to_rbms",
    "to_sklearn",
    "to_torch",
    "train",
]

# Imported on first use, so that `thermorbm --help` does not wait for the compilers.
_HOMES = {
    "Dataset": "thermorbm.dataset",
    "Estimate": "thermorbm.stats",
    "Hamiltonian": "thermorbm.hamiltonians",
    "Lattice": "thermorbm.lattice",
    "RBM": "thermorbm.model",
    "Recipe": "thermorbm.training",
    "Series": "thermorbm.series",
    "SymmetricRBM": "thermorbm.model",
    "analyse": "thermorbm.reading.analysis",
    "bracket_entropy": "thermorbm.reading.analysis",
    "correlations_learnt": "thermorbm.reading.entropy",
    "from_rbms": "thermorbm.interchange",
    "from_sklearn": "thermorbm.interchange",
    "generate": "thermorbm.reading.generation",
    "hamiltonian": "thermorbm.hamiltonians",
    "hold_out": "thermorbm.reading.configurations",
    "load_machine": "thermorbm.model",
    "load_run": "thermorbm.runs",
    "run": "thermorbm.runs",
    "sample": "thermorbm.api",
    "to_rbms": "thermorbm.interchange",
    "to_sklearn": "thermorbm.interchange",
    "to_torch": "thermorbm.torch",
    "train": "thermorbm.training",
}


_ROOMS = ("exact", "plots")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"thermorbm.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'thermorbm' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
