"""Which machines the page holds, and in which format, so that it is no larger than allowed.

float16 for all machines if they fit, else int8. If that is too large as well, machines are taken in this
order until the page is full: symmetric ones, dense ones, dense ones as the paper's; of each kind temperatures
far apart first, and then those between them.

A machine is text in the page: weights in one or two bytes, compressed, in base64. A dense machine is its W,
b and c. A symmetric one is stored in the same way: one row of W for each filter, one b, and one c for each
filter. Bytes of a machine, before compression: b and c as float32, then W. float16: all low bytes, then all
high ones, which compress better apart. int8: first a scale for each row, float32; W = scale * integer.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.explorer.content import FamilyContent
from thermorbm.model import RBM, Machine, SymmetricRBM

LEVELS = 127  # int8 without its -128
COMPRESSION = 6
Floats = NDArray[np.float32]
ORDER = ("symmetric", "dense", "as-paper")
LEFT_OUT = "it is left out of this page to keep the file small"
# A machine of the page: family, value, kind.
Key = tuple[str, float, str]


@dataclass(frozen=True, eq=False)
class Stored:
    """A machine as the page holds it. text: base64 of compressed bytes.

    rows, columns: of W as stored. shape, window, n_cell: of symmetric machines the lattice and the filters in
    cells, and the sites of a cell; shape and window are None for dense ones. weight_error: the largest of a
    single weight. energy_error: standard deviation of the change of visible energies, total in nats; None
    where it was not looked at.
    """

    format: str
    text: str
    rows: int
    columns: int
    shape: tuple[int, ...] | None
    window: tuple[int, ...] | None
    n_cell: int
    weight_error: float
    energy_error: float | None


def store(machine: Machine, format: str, v: NDArray[np.int8] | None = None) -> Stored:
    """The machine in that format, "float16" or "int8". v: (n, n_visible), on which the error is measured."""
    W, b, c = _parts(machine)
    content, rounded = FORMATS[format](W)
    biases = np.concatenate([b, c]).astype("<f4").tobytes()
    rows, columns = W.shape
    symmetric = machine if isinstance(machine, SymmetricRBM) else None
    return Stored(
        format,
        packed_text(biases + content),
        rows,
        columns,
        symmetric.shape if symmetric else None,
        symmetric.window if symmetric else None,
        symmetric.n_cell if symmetric else 1,
        float(np.abs(rounded - W.astype(np.float64)).max()),
        _energy_error(machine, rounded, v),
    )


def _energy_error(machine: Machine, W: Floats, v: NDArray[np.int8] | None) -> float | None:
    if v is None or len(v) < 2:
        return None
    return float(np.std(with_weights(machine, W).visible_energy(v) - machine.visible_energy(v)))


def packed_text(content: bytes) -> str:
    """Compressed, in base64: letters that are no markup, whatever the content."""
    return base64.b64encode(zlib.compress(content, COMPRESSION)).decode()


def _parts(machine: Machine) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """W, b and c as they are stored: (n_hidden, n_visible) or (n_filters, n_taps) with their biases."""
    if isinstance(machine, SymmetricRBM):
        filters = machine.filters.reshape(machine.n_filters, -1)
        return filters, machine.visible_bias.reshape(1), machine.hidden_bias
    assert isinstance(machine, RBM)
    return machine.W, machine.b, machine.c


def with_weights(machine: Machine, W: Floats) -> Machine:
    """The machine that has these weights, as `_parts` orders them."""
    if isinstance(machine, SymmetricRBM):
        filters, biases = W.reshape(machine.filters.shape), (machine.visible_bias, machine.hidden_bias)
        return SymmetricRBM(filters, machine.shape, *biases, n_cell=machine.n_cell)
    assert isinstance(machine, RBM)
    return RBM(W, machine.b, machine.c)


def _as_float16(W: NDArray[Any]) -> tuple[bytes, Floats]:
    """Eleven bits of each number. Weights beyond 65504, which no training makes, become that."""
    halves = np.clip(W, -65504, 65504).astype("<f2")
    return halves.reshape(-1, 1).view(np.uint8).T.tobytes(), halves.astype(np.float32)


def _as_int8(W: NDArray[Any]) -> tuple[bytes, Floats]:
    """Whole multiples of a scale for each row, max |W_i| / 127; what rounding leaves goes to the next weight.

    No weight moves by more than the scale, and no sum of neighbouring weights by more than that either.
    Rounding each weight alone would take away all that are small, which together matter on ordered
    configurations: visible energies of a machine at T = 2.25 changed by 140 nats, and by 1.7 in this way.
    """
    scales = (np.abs(W).max(axis=1) / LEVELS).astype("<f4")
    steps = np.where(scales > 0, scales, 1).astype(np.float64)
    exact, integers, left = W.T / steps, np.empty(W.T.shape, np.int8), np.zeros(len(W))
    for column, wanted in enumerate(exact):
        left += wanted
        integers[column] = np.clip(np.rint(left), -LEVELS, LEVELS)
        left -= integers[column]
    rounded = np.ascontiguousarray(integers.T)
    return scales.tobytes() + rounded.tobytes(), rounded.astype(np.float32) * scales[:, None]


FORMATS: dict[str, Callable[[NDArray[Any]], tuple[bytes, Floats]]] = {
    "float16": _as_float16,
    "int8": _as_int8,
}


@dataclass(frozen=True, eq=False)
class Fitted:
    """stored: the machines of the page. missing: those that were left out for their size. notes: in words."""

    stored: Mapping[Key, Stored]
    missing: frozenset[Key]
    notes: Sequence[str]


def fit(families: Sequence[FamilyContent], limit: int) -> Fitted:
    """Machines whose texts take at most `limit` bytes together."""
    shelf = _Shelf(families)
    keys = _in_order(families)
    for format in FORMATS:
        kept = list(shelf.fitting(keys, format, limit))
        if len(kept) == len(keys):
            break
    missing = frozenset(keys) - frozenset(kept)
    stored = {key: shelf.stored(key, format) for key in sorted(kept)}
    words = (
        f"To keep the file small, {len(missing)} of {len(keys)} machines are left out; the page says where."
    )
    return Fitted(stored, missing, [words] if missing else [])


def _in_order(families: Sequence[FamilyContent]) -> list[Key]:
    """All machines with weights, those that are wanted most first."""
    ranked = [
        ((ORDER.index(kind), level), (family.name, point.value, kind))
        for family in families
        for level, point in zip(_levels(len(family.points)), family.points, strict=True)
        for kind, machine in point.machines.items()
        if machine.load is not None
    ]
    return [key for _, key in sorted(ranked)]


def _levels(n: int) -> list[int]:
    """0 for the first of n, and higher the finer the grid that an index is on: 0 4 3 4 2 4 3 4 1 ..."""
    finest = n.bit_length()
    return [finest - (index & -index).bit_length() + 1 if index else 0 for index in range(n)]


class _Shelf:
    """Machines of all families in both formats, each made when it is first asked for."""

    def __init__(self, families: Sequence[FamilyContent]) -> None:
        self._places = {
            (family.name, point.value, kind): (point, machine)
            for family in families
            for point in family.points
            for kind, machine in point.machines.items()
        }
        self._stored: dict[tuple[Key, str], Stored] = {}

    def stored(self, key: Key, format: str) -> Stored:
        wanted = "float16" if key[2] == "symmetric" else format
        if (key, wanted) not in self._stored:
            point, machine = self._places[key]
            assert machine.load is not None
            v = None if point.data is None else point.data.spins
            self._stored[key, wanted] = store(machine.load(), wanted, v)
        return self._stored[key, wanted]

    def fitting(self, keys: Sequence[Key], format: str, limit: int) -> Iterator[Key]:
        """The first keys, up to the one whose machine would take more than `limit` bytes with them."""
        total = 0
        for key in keys:
            total += len(self.stored(key, format).text)
            if total > limit:
                return
            yield key
