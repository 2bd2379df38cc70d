"""Figures 7 and 8 show the same quantity for several kinds of machines side by side; this says which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from thermorbm.report.chart import curve_series, name_of
from thermorbm.report.labels import Label, plain, size_label
from thermorbm.report.panels import Series
from thermorbm.report.run import Family, Run, Values

MOST_COLUMNS = 3


@dataclass(frozen=True, eq=False)
class Column:
    """Machines of one role on one family's data."""

    family: Family
    role: str

    @property
    def title(self) -> Label:
        if self.role == "union":
            return plain(f"{self.family.name}, all temperatures")
        return name_of(self.family)

    @property
    def items(self) -> list[Values]:
        return self.family.indicators(self.role)


def columns(run: Run, has: Callable[[Column], bool]) -> list[Column]:
    """Machines for single temperatures of each family, then those for all temperatures, as in the paper."""
    found = [Column(family, role) for role in ("main", "union") for family in run.families]
    return [column for column in found if has(column)]


def chunks(found: list[Column]) -> list[list[Column]]:
    """At most three side by side."""
    return [found[start : start + MOST_COLUMNS] for start in range(0, len(found), MOST_COLUMNS)]


def per_size(column: Column, curve: str, **look: Any) -> list[Series]:
    """One curve for each number of hidden units."""
    found: list[Series] = []
    for index, item in enumerate(column.items):
        found += curve_series(size_label(item["n_hidden"]), item["curves"].get(curve), index, **look)
    return found
