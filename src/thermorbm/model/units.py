"""Checks of configurations and of parameters at the public edge, and walks over rows in bounded memory."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError

_ELEMENTS_PER_BLOCK = 1 << 22  # 32 MB of float64


def as_units(name: str, values: ArrayLike, width: int) -> NDArray[Any]:
    """Checked (n, width) array of +-1, in its own type; a 1-d array is one configuration, (1, width).

    values: an array, also one laid out like the lattice, (n, L, L), or a Dataset.
    """
    units = real_array(name, values)
    is_grid = units.ndim > 2 and math.prod(units.shape[1:]) == width
    if not is_grid and (units.ndim not in (1, 2) or units.shape[-1] != width):
        raise InputError(name, units.shape, f"an array of shape (n, {width})")
    units = units.reshape(-1, width)
    for rows in row_blocks(len(units), width):
        block = units[rows]
        wrong = (block != 1) & (block != -1)
        if wrong.any():
            remedy = "turn 0/1 into spins with 2 * v - 1" if (block[wrong] == 0).all() else ""
            raise InputError(f"units of {name}", block[wrong][0].item(), "+1 or -1", remedy)
    return units


def real_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """The array of integers or floats that `values` is."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(name, type(values).__name__, "an array with rows of equal length") from None
    if array.dtype.kind not in "iuf":
        raise InputError(name, f"type {array.dtype}", "an array of real numbers")
    return array


def same_rows(v: NDArray[Any], h: NDArray[Any]) -> None:
    """Refuses layers of different numbers of configurations."""
    if len(v) != len(h):
        raise InputError("v and h", f"{len(v)} and {len(h)} rows", "arrays of as many rows")


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Consecutive slices that cover the rows, each of about 4 million elements."""
    step = max(1, _ELEMENTS_PER_BLOCK // width)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


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
