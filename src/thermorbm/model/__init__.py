"""Machines of two layers of +-1 units: energies, conditionals, Gibbs chains, likelihoods, files."""

from __future__ import annotations

from pathlib import Path

from thermorbm.errors import FileError
from thermorbm.model.dense import RBM as RBM
from thermorbm.model.machine import Machine as Machine
from thermorbm.model.partition import LogPartition as LogPartition
from thermorbm.model.random_units import (
    generator_state as generator_state,
    mean_units as mean_units,
    sample_units as sample_units,
)
from thermorbm.model.symmetric import SymmetricRBM as SymmetricRBM
from thermorbm.storage import read_kind

_MACHINES: dict[str, type[RBM] | type[SymmetricRBM]] = {RBM.kind: RBM, SymmetricRBM.kind: SymmetricRBM}


def load_machine(path: str | Path) -> Machine:
    """Reads a file that a machine of any kind has saved; an altered or foreign file raises FileError."""
    kind = read_kind(path)
    if kind not in _MACHINES:
        raise FileError(path, f"is a {kind} file", "a machine is wanted")
    return _MACHINES[kind].load(path)
