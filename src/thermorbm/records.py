"""Frozen dataclasses as JSON and back: the field's type says how its value is read.

A field may be a number, a text, a flag, another dataclass, `tuple[X, ...]`, `Mapping[str, X]`, or one of
these or None. A float that JSON holds as null is nan. A field with the metadata {"stored": NAME} has that
name in the file. Keys that the dataclass does not have are refused, unless a field made by `other_values`
takes them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

Record = TypeVar("Record")


@dataclass(frozen=True)
class NotDone:
    """A part of the results that is not there, and why; it counts as false. JSON has null in its place."""

    reason: str

    def __bool__(self) -> Literal[False]:
        return False


class BadRecord(ValueError):
    """A value that does not fit: where it stands, what it is and what was wanted."""

    def __init__(self, path: str, got: object, wanted: str) -> None:
        super().__init__(f"{path or 'the file'} is {got!r:.60}, not {wanted}")


def other_values() -> Any:
    """The field that takes all values of the record that have no field of their own."""
    return field(default_factory=dict, metadata={"other": True})


def as_plain(record: Any) -> Any:
    """The record as dicts, lists, numbers and texts; arrays become lists, a part that is not done None."""
    if isinstance(record, NotDone):
        return None
    if isinstance(record, np.ndarray | np.generic):
        return record.tolist()
    if is_dataclass(record):
        plain: dict[str, Any] = {}
        for item in fields(record):
            value = as_plain(getattr(record, item.name))
            plain |= value if "other" in item.metadata else {_key(item): value}
        return plain
    if isinstance(record, Mapping):
        return {str(key): as_plain(value) for key, value in record.items()}
    return [as_plain(value) for value in record] if isinstance(record, list | tuple) else record


def from_plain(kind: type[Record], plain: Any, path: str = "") -> Record:
    """The record that `as_plain` made; BadRecord where a value does not fit. path: for the error."""
    record: Record = _read(kind, plain, path)
    return record


def _read(hint: Any, value: Any, path: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _read_union(get_args(hint), value, path)
    if origin is tuple:
        _check(isinstance(value, list | tuple), path, value, "a list")
        return tuple(_read(get_args(hint)[0], item, f"{path}[{n}]") for n, item in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        _check(isinstance(value, Mapping), path, value, "a table")
        return {key: _read(get_args(hint)[1], item, f"{path}.{key}") for key, item in value.items()}
    if hint is Any:
        return value
    if is_dataclass(hint):
        return _read_record(hint, value, path)
    return _read_scalar(hint, value, path)


def _read_scalar(hint: type, value: Any, path: str) -> Any:
    if hint is float:
        if value is None:
            return math.nan
        _check(isinstance(value, int | float) and not isinstance(value, bool), path, value, "a number")
        try:
            return float(value)
        except OverflowError as error:
            raise BadRecord(path, "a whole number of many digits", "a number of double precision") from error
    wanted = {int: "a whole number", str: "a text", bool: "true or false"}[hint]
    _check(isinstance(value, hint) and isinstance(value, bool) == (hint is bool), path, value, wanted)
    return value


def _read_union(hints: tuple[Any, ...], value: Any, path: str) -> Any:
    """One of several types: None and parts that are not done first, else the first that fits."""
    if isinstance(value, NotDone) and NotDone in hints:
        return value
    if value is None:
        if NoneType in hints:
            return None
        if NotDone in hints:
            return NotDone("it is not in the results")
    others = [hint for hint in hints if hint not in (NoneType, NotDone)]
    for hint in others[:-1]:
        try:
            return _read(hint, value, path)
        except BadRecord:
            continue
    return _read(others[-1], value, path)


def _read_record(kind: Any, value: Any, path: str) -> Any:
    _check(isinstance(value, Mapping), path, value, "a table")
    hints, members = _members(kind)
    left, given = dict(value), dict[str, Any]()
    rest = next((item.name for item in members if "other" in item.metadata), None)
    for item in members:
        key = _key(item)
        if key in left and item.name != rest:
            given[item.name] = _read(hints[item.name], left.pop(key), f"{path}.{key}".lstrip("."))
    if rest is not None:
        given[rest] = _read(hints[rest], left, path)
    elif left:
        raise BadRecord(path, sorted(left)[0], f"one of the values of {kind.__name__}")
    try:
        return kind(**given)
    except TypeError as error:  # a value without a default is absent
        raise BadRecord(path, sorted(value), f"a whole {kind.__name__}: {error}") from error


@cache
def _members(kind: Any) -> tuple[dict[str, Any], tuple[Field[Any], ...]]:
    return get_type_hints(kind), fields(kind)


def _key(item: Field[Any]) -> str:
    return str(item.metadata.get("stored", item.name))


def _check(is_right: bool, path: str, value: object, wanted: str) -> None:
    if not is_right:
        raise BadRecord(path, value, wanted)
