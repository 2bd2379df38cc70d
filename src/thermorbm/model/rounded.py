"""A dense machine with weights of 16 bits, whose matrix products are exact sums of 8-bit integers.

Annealing is all products of units with W, and processors take those of 8-bit integers several times as fast
as those of floating-point numbers. W is rounded to multiples of max |W| / 32512, and each multiple is written
as 256 times one byte plus another. The sums are exact, so that this is a machine like any other, with
energies, chains and ln Z that fit each other; it differs from the one it was made of by some 1e-5 nats per
visible unit.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from thermorbm.model.dense import RBM

LARGE = 1 << 20  # weights, from which on products of integers are worth their preparation
HALF = 256
LEVELS = 127 * HALF


AnyMachine = TypeVar("AnyMachine")


class RoundedRBM(RBM):
    """The machine nearest to another among those with so many levels of W on either side of 0.

    Where units are whole numbers, as +-1 are, products are taken in integers; else as of any machine.
    """

    _spacing: np.float32
    _halves: list[NDArray[np.int8]]  # (n_hidden, n_visible)
    _turned: list[NDArray[np.int8]]  # (n_visible, n_hidden), because products like rows that are contiguous

    def __init__(self, machine: RBM) -> None:
        spacing = max(float(np.abs(machine.W).max()), 1e-30) / LEVELS
        # Many weights of a filter are nearly equal, and would all be rounded the same way; with even noise
        # before it each is rounded up as often as it should.
        noise = np.random.default_rng(0).uniform(-0.5, 0.5, machine.W.shape)
        levels = np.clip(np.rint(machine.W / spacing + noise), -LEVELS, LEVELS).astype(np.int32)
        high = (levels + HALF // 2) // HALF
        W = (levels * spacing).astype(np.float32)
        super().__init__(W, machine.b.astype(np.float32), machine.c.astype(np.float32), machine.provenance)
        halves = [part.astype(np.int8) for part in (high, levels - HALF * high)]
        object.__setattr__(self, "_spacing", np.float32(spacing))
        object.__setattr__(self, "_halves", halves)
        object.__setattr__(self, "_turned", [np.ascontiguousarray(half.T) for half in halves])

    def hidden_inputs(self, v: NDArray[Any]) -> NDArray[Any]:
        """W v + c. (n, n_visible) -> (n, n_hidden)."""
        units = v.astype(np.int8)
        if not np.array_equal(units, v):
            return super().hidden_inputs(v)
        return self._scaled([_product(units, half) for half in self._turned], self.c)

    def visible_inputs(self, h: NDArray[Any]) -> NDArray[Any]:
        """W^T h + b. (n, n_hidden) -> (n, n_visible)."""
        units = h.astype(np.int8)
        if not np.array_equal(units, h):
            return super().visible_inputs(h)
        return self._scaled([_product(units, half) for half in self._halves], self.b)

    def _scaled(self, sums: list[NDArray[np.int32]], bias: NDArray[Any]) -> NDArray[Any]:
        """One number from those of both halves, in units of the spacing, and the bias."""
        high, low = sums
        high *= HALF
        high += low
        inputs = high.astype(np.float32)
        inputs *= self._spacing
        inputs += bias
        return inputs


def as_annealed(machine: AnyMachine) -> AnyMachine | RoundedRBM:
    """The machine whose chains are followed: itself, or a large dense one with weights rounded to 16 bits.

    Energies that are joined with ln Z are to be of the same machine. Then nothing is approximate: the entropy
    lies below the likelihood of every machine.
    """
    if isinstance(machine, RBM) and machine.dtype == np.float32 and machine.W.size >= LARGE:
        return RoundedRBM(machine)
    return machine


def _product(units: NDArray[np.int8], weights: NDArray[np.int8]) -> NDArray[np.int32]:
    """Matrix product, exactly. (n, k), (k, m) -> (n, m)."""
    import torch  # only where it is used: it takes a second to load

    sums: NDArray[np.int32] = torch._int_mm(torch.from_numpy(units), torch.from_numpy(weights)).numpy()
    return sums
