"""Tables of a TOML file, read key by key; a key that no reader has asked for is an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from thermorbm.errors import InputError, unknown_name

MOST_VALUES = 100_000


class Table:
    """One table. Getters name the key by its full path in errors; `finish` refuses what is left over.

    `given` reads keys that are fields of a dataclass, by the types of the fields.
    """

    def __init__(self, values: Mapping[str, Any], path: str = "") -> None:
        self._values, self._path, self._asked = values, path, set[str]()

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def path(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def raw(self, key: str, default: Any = None) -> Any:
        self._asked.add(key)
        return self._values.get(key, default)

    def given(self, kind: type, *names: str) -> dict[str, Any]:
        """The values of these fields of a dataclass; without those that are absent and have a default."""
        hints, defaults = get_type_hints(kind), {item.name: item.default for item in fields(kind)}
        self._asked.update(names)
        wanted = [name for name in names if name in self or defaults[name] is MISSING]
        values = {name: self._getter(hints[name])(name) for name in wanted}
        return {name: value for name, value in values.items() if value is not None}

    def _getter(self, hint: Any) -> Callable[[str], Any]:
        """What reads a field of that type, whether or not it may also be None."""
        if get_origin(hint) is UnionType:
            (hint,) = (each for each in get_args(hint) if each is not NoneType)
        getters: dict[Any, Callable[[str], Any]] = {
            str: self.text,
            bool: self.flag,
            int: self.whole,
            float: self.number,
            tuple[int, ...]: self.wholes,
            tuple[float, ...]: self.numbers,
            tuple[str, ...]: self.texts,
        }
        return getters[hint]

    def text(self, key: str) -> str:
        value = self.raw(key)
        if not isinstance(value, str) or any(ord(letter) < 32 for letter in value):
            raise self.refused(key, value, "a line of text")
        return value

    def flag(self, key: str) -> bool:
        value = self.raw(key, False)
        if not isinstance(value, bool):
            raise self.refused(key, value, "true or false")
        return value

    def whole(self, key: str) -> int:
        value = self.raw(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refused(key, value, "a whole number")
        return value

    def wholes(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers, or one alone; empty where the key is absent."""
        values = self.listed(key)
        if any(isinstance(value, bool) or not isinstance(value, int) for value in values):
            raise self.refused(key, values, "whole numbers")
        return tuple(values)

    def numbers(self, key: str) -> tuple[float, ...]:
        """A list of numbers, or one, or {from = a, to = b, count = n}; empty where the key is absent."""
        if isinstance(self.raw(key), dict):
            return self._spaced(key)
        values = self.listed(key)
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
            raise self.refused(key, values, "numbers")
        return tuple(self._float(key, value) for value in values)

    def number(self, key: str) -> float | None:
        """One number; None where the key is absent."""
        values = self.numbers(key)
        if len(values) > 1:
            raise self.refused(key, list(values), "one number")
        return values[0] if values else None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, or one alone; empty where the key is absent."""
        values = self.listed(key)
        if not all(isinstance(value, str) for value in values):
            raise self.refused(key, values, "texts")
        return tuple(values)

    def table(self, key: str) -> Table:
        """A table within this one, empty where the key is absent."""
        value = self.raw(key, {})
        if not isinstance(value, dict):
            raise self.refused(key, value, f"a table [{self.path(key)}]")
        return Table(value, self.path(key))

    def each(self, key: str) -> list[Table]:
        """The tables of an array [[key]]; each is called by its name if it has one, else by its number."""
        values = self.raw(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise self.refused(key, values, f"tables [[{self.path(key)}]]")
        return [
            Table(value, f"{self.path(key)}.{_label(value, place)}") for place, value in enumerate(values, 1)
        ]

    def listed(self, key: str) -> list[Any]:
        value = self.raw(key, [])
        values = value if isinstance(value, list) else [value]
        if len(values) > MOST_VALUES:
            raise self.refused(key, len(values), f"at most {MOST_VALUES} values")
        return values

    def finish(self) -> None:
        """Refuses keys that were never asked for."""
        for key in self._values:
            if key not in self._asked:
                raise unknown_name(
                    f"key in [{self._path}]" if self._path else "key", key, sorted(self._asked)
                )

    def refused(self, key: str, value: object, wanted: str) -> InputError:
        got = "nothing" if value is None else _short(value)
        return InputError(self.path(key), got, wanted)

    def _float(self, key: str, value: float) -> float:
        try:
            return float(value)
        except OverflowError as error:
            raise self.refused(key, "a huge whole number", "finite numbers") from error

    def _spaced(self, key: str) -> tuple[float, ...]:
        inner = self.table(key)
        low, high, count = inner.number("from"), inner.number("to"), inner.whole("count")
        inner.finish()
        if low is None or high is None or not math.isfinite(high - low) or not low < high:
            raise self.refused(key, self.raw(key), "{from = a, to = b, count = n} with a < b")
        if not 2 <= count <= MOST_VALUES:
            raise self.refused(key, count, f"a count between 2 and {MOST_VALUES}")
        # Rounded, so that the same grid written out as a list gives the same numbers.
        return tuple(round(float(value), 10) for value in np.linspace(low, high, count))


def _label(value: Mapping[str, Any], place: int) -> str:
    name = value.get("name")
    return name if isinstance(name, str) and name.isprintable() and 0 < len(name) <= 40 else str(place)


def _short(value: object) -> object:
    """The value itself, or the beginning of it where it would not fit on a line."""
    text = repr(value)
    return value if len(text) <= 80 else text[:80] + " ..."
