"""What a machine remembers of the configurations it was trained on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset

_ROWS_PER_BLOCK = 1 << 14


def data_hash(data: Dataset) -> str:
    """SHA-256 of the packed configurations, in order."""
    digest = hashlib.sha256()
    for packed in _packed_blocks(data):
        digest.update(packed.data)
    return digest.hexdigest()


def describe(data: Dataset) -> dict[str, Any]:
    """Number, lattice shape, Hamiltonian, temperature, <|m|> and certificate, each None if unknown."""
    return {
        "n_samples": len(data),
        "shape": list(data.lattice.shape) if data.lattice else None,
        "hamiltonian": data.hamiltonian.to_dict() if data.hamiltonian else None,
        "temperature": data.temperature,
        "mean_abs_magnetization": mean_abs_magnetization(data),
        "certified": data.certificate.passed if data.certificate else None,
    }


def mean_abs_magnetization(data: Dataset) -> float:
    """<|m|> per spin over all configurations, counted from the packed bits."""
    total = 0.0
    for packed in _packed_blocks(data):
        n_up = np.bitwise_count(packed).sum(axis=1, dtype=np.int64)
        total += float(np.abs(2 * n_up - data.n_sites).sum()) / data.n_sites
    return total / len(data)


def _packed_blocks(data: Dataset) -> Iterator[NDArray[np.uint8]]:
    """(at most _ROWS_PER_BLOCK, n_bytes) contiguous rows at a time; slices of a dataset may have strides."""
    for start in range(0, len(data), _ROWS_PER_BLOCK):
        yield np.ascontiguousarray(data.packed[start : start + _ROWS_PER_BLOCK])
