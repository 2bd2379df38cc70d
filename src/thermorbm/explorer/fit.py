"""Which machines the page holds, and in which format, so that it is no larger than allowed.

float16 for all machines if they fit, else int8. If that is too large as well, machines are taken in this
order until the page is full: symmetric ones, dense ones, dense ones as the paper's; of each kind temperatures
far apart first, and then those between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from thermorbm.explorer.codec import Stored, store
from thermorbm.explorer.content import FamilyContent, Point, ShownMachine

FORMATS = ("float16", "int8")
ORDER = ("symmetric", "dense", "as-paper")
LEFT_OUT = "it is left out of this page to keep the file small"

# A machine of the page: family, value, kind.
Key = tuple[str, float, str]


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
    return Fitted(stored, missing, _notes(len(stored), len(missing)))


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
        self._places = {key: place for family in families for key, place in _places(family)}
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


def _places(family: FamilyContent) -> Iterator[tuple[Key, tuple[Point, ShownMachine]]]:
    for point in family.points:
        for kind, machine in point.machines.items():
            if machine.load is not None:
                yield (family.name, point.value, kind), (point, machine)


def _notes(n_stored: int, n_missing: int) -> list[str]:
    if not n_missing:
        return []
    n_all = n_stored + n_missing
    return [f"To keep the file small, {n_missing} of {n_all} machines are left out; the page says where."]
