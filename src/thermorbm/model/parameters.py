"""Checks of what a machine is made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError
from thermorbm.model.units import real_array


def parameter(name: str, values: ArrayLike, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A read-only copy of finite numbers in that shape and type."""
    given = real_array(name, values)
    if given.shape != shape:
        raise InputError(name, given.shape, f"an array of shape {shape}")
    with np.errstate(over="ignore"):  # what does not fit becomes infinite and is refused below
        array = np.array(given, dtype=dtype, order="C")
    wrong = ~np.isfinite(array)
    if wrong.any():
        raise InputError(name, given[wrong][0].item(), "an array of finite numbers")
    array.setflags(write=False)
    return array


def floating_type(weights: NDArray[Any]) -> np.dtype[Any]:
    """float32 for weights of that type, float64 for all others."""
    return np.dtype(np.float32 if weights.dtype == np.float32 else np.float64)


def checked_provenance(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy that JSON can hold."""
    try:
        return dict(json.loads(json.dumps(dict(given or {}))))
    except (TypeError, ValueError):
        raise InputError("provenance", given, "a mapping that JSON can hold") from None
