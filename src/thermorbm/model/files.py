"""Machines from files, where it does not matter of which kind they are."""

from __future__ import annotations

from pathlib import Path

from thermorbm.errors import FileError
from thermorbm.model.dense import RBM
from thermorbm.model.machine import Machine
from thermorbm.model.symmetric import SymmetricRBM
from thermorbm.storage import read_kind

_MACHINES: dict[str, type[RBM] | type[SymmetricRBM]] = {RBM.kind: RBM, SymmetricRBM.kind: SymmetricRBM}


def load_machine(path: str | Path) -> Machine:
    """Reads a file that a machine of any kind has saved; an altered or foreign file raises FileError."""
    kind = read_kind(path)
    if kind not in _MACHINES:
        raise FileError(path, f"is a {kind} file", "a machine is wanted")
    return _MACHINES[kind].load(path)
