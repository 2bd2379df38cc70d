"""Tables as CSV: one column per number, an estimate as two columns, the second for its error."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from thermorbm.storage import atomic_path


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes rows of nested values, atomically; lists are left out, inner names are joined by dots."""
    flat = [flatten(row) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    with atomic_path(path) as temporary, open(temporary, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(flat)


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """{"a": {"value": 1, "error": 2}, "b": {"c": 3}} -> {"a": 1, "a_error": 2, "b.c": 3}."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            if set(value) == {"value", "error"}:
                flat |= {name: value["value"], f"{name}_error": value["error"]}
            else:
                flat |= flatten(value, f"{name}.")
        elif not isinstance(value, list | tuple):
            flat[name] = value
    return flat
