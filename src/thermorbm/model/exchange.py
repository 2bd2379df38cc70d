"""The swap rule of replica exchange, for arrays of any library: who meets, and how likely they swap."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Rows = TypeVar("Rows")
Array = TypeVar("Array")


def meeting_rows(n_replicas: int, n_chains: int, parity: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of replicas parity, parity + 2, ... and of the next replica of each; replica by replica."""
    lower = np.arange(parity, n_replicas - 1, 2)
    rows = (lower[:, None] * n_chains + np.arange(n_chains)).ravel()
    return rows, rows + n_chains


def swap_log_ratio(energy: Callable[[Rows, Rows], Array], a: Rows, b: Rows) -> Array:
    """ln of the Metropolis ratio for rows a and b to swap their configurations; certain above 0.

    energy(rows, at): visible energy of the configurations in `rows` at the inverse temperatures of `at`. The
    ratio p_a(v_b) p_b(v_a) / p_a(v_a) p_b(v_b) keeps both distributions.
    """
    return energy(a, a) + energy(b, b) - energy(a, b) - energy(b, a)  # type: ignore[operator, no-any-return]
