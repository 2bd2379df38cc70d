"""Checks of values that users give; each raises InputError with the key, the value and what is wanted."""

from __future__ import annotations

import contextlib
import math
import operator
import re
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from numbers import Real
from typing import Any

from thermorbm.errors import InputError, ThermorbmError, unknown_name

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
LARGEST = 1 << 40  # nobody means a larger count
MOST_VALUES = 10_000  # in one list of a study


def check_name(key: str, name: str) -> None:
    if not NAME.fullmatch(name):
        raise InputError(key, name, "up to 40 letters, digits, '.', '_' and '-', a letter or digit first")


def check_member(key: str, value: object, valid: Sequence[str]) -> None:
    if value not in valid:
        raise unknown_name(key, value, valid)


def whole_number(key: str, value: object, least: int, most: int = LARGEST) -> int:
    """The number as an int; InputError unless it is a whole one in that range, of Python or NumPy."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(key, value, f"a whole number >= {least}")
    if number > most:
        raise InputError(key, value, f"at most {most}")
    return number


def positive_temperature(temperature: object) -> float:
    """The temperature as a float; InputError unless it is one finite number > 0."""
    number = math.nan
    if isinstance(temperature, Real) and not isinstance(temperature, bool):
        with contextlib.suppress(OverflowError):  # a whole number of hundreds of digits
            number = float(temperature)
    if not 0 < number < math.inf:
        raise InputError("temperature", temperature, "a finite number > 0")
    return number


def check_count(key: str, value: object, least: int = 1) -> None:
    """A whole number from `least` on, and not so large that it must be a mistake."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < LARGEST:
        raise InputError(key, value, f"a whole number >= {least}")


def check_seed(key: str, seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 63:
        raise InputError(key, seed, "a whole number >= 0")


def check_counts(key: str, values: Sequence[int]) -> None:
    for value in values:
        check_count(key, value)
    check_distinct(key, values)


def check_temperatures(key: str, values: Sequence[float]) -> None:
    """One or more rising numbers > 0."""
    if not values:
        raise InputError(key, list(values), "one or more temperatures")
    for value in values:
        if not 0 < value < math.inf:
            raise InputError(key, value, "finite numbers > 0")
    check_rising(key, values)


def check_rising(key: str, values: Sequence[float]) -> None:
    for before, after in pairwise(values):
        if after == before:
            raise InputError(key, after, "all different", "it stands there twice")
        if not after > before:
            raise InputError(key, [before, after], "sorted, lowest first")


def check_distinct(key: str, values: Sequence[object]) -> None:
    if len(values) > MOST_VALUES:
        raise InputError(key, f"{len(values)} values", f"at most {MOST_VALUES} values")
    seen = set()
    for value in values:
        if value in seen:
            raise InputError(key, value, "all different", "it stands there twice")
        seen.add(value)


def optional_module(name: str, extra: str) -> Any:
    """A module that is not always installed; ThermorbmError that names the extra if it is not."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ThermorbmError(f"{name} is not installed; try: pip install 'thermorbm[{extra}]'") from error
