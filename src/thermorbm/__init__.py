"""thermorbm: thermodynamics of spin configurations, read by restricted Boltzmann machines."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thermorbm.kernelcache import provide_cache

if TYPE_CHECKING:
    from thermorbm import exact as exact, plots as plots
    from thermorbm.dataset import Dataset as Dataset
    from thermorbm.hamiltonians import Hamiltonian as Hamiltonian, hamiltonian as hamiltonian
    from thermorbm.interchange import (
        from_rbms as from_rbms,
        from_sklearn as from_sklearn,
        to_rbms as to_rbms,
        to_sklearn as to_sklearn,
    )
    from thermorbm.lattice import Lattice as Lattice
    from thermorbm.model import RBM as RBM, SymmetricRBM as SymmetricRBM, load_machine as load_machine
    from thermorbm.reading.analysis import analyse as analyse, bracket_entropy as bracket_entropy
    from thermorbm.reading.configurations import hold_out as hold_out
    from thermorbm.reading.entropy import correlations_learnt as correlations_learnt
    from thermorbm.reading.generation import generate as generate
    from thermorbm.runs import load_run as load_run, run as run
    from thermorbm.samples import sample as sample
    from thermorbm.series import Series as Series
    from thermorbm.stats import Estimate as Estimate
    from thermorbm.torch import to_torch as to_torch
    from thermorbm.training import Recipe as Recipe, train as train

provide_cache()

__version__ = "0.1.0"  # the one place: packaging reads it from here

# Imported on first use, so that `thermorbm --help` does not wait for the compilers.
_ROOMS = ("exact", "plots")
_HOMES = {
    "samples": ("sample",),
    "dataset": ("Dataset",),
    "hamiltonians": ("Hamiltonian", "hamiltonian"),
    "interchange": ("from_rbms", "from_sklearn", "to_rbms", "to_sklearn"),
    "lattice": ("Lattice",),
    "model": ("RBM", "SymmetricRBM", "load_machine"),
    "reading.analysis": ("analyse", "bracket_entropy"),
    "reading.configurations": ("hold_out",),
    "reading.entropy": ("correlations_learnt",),
    "reading.generation": ("generate",),
    "runs": ("load_run", "run"),
    "series": ("Series",),
    "stats": ("Estimate",),
    "torch": ("to_torch",),
    "training": ("Recipe", "train"),
}
__all__ = sorted([*_ROOMS, *(name for names in _HOMES.values() for name in names)])


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"thermorbm.{name}")
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"thermorbm.{module}"), name)
    raise AttributeError(f"module 'thermorbm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
