"""Errors that say what was got, what was wanted and what to do."""

import difflib
from collections.abc import Iterable
from typing import Any

_LONGEST = 200  # characters of a value in a message


class ThermorbmError(Exception):
    """Base of every error that a user can cause or mend; the command line shows it as one line."""


class InputError(ThermorbmError, ValueError):
    """A value outside its domain.

    >>> str(InputError("temperature", -1.0, "a number > 0"))
    'temperature must be a number > 0, got -1.0'
    """

    def __init__(self, name: str, got: object, wanted: str, remedy: str = "") -> None:
        self.name, self.got, self.wanted, self.remedy = name, got, wanted, remedy
        shown = " ".join(repr(got).split())  # an array has many lines
        shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
        message = f"{name} must be {wanted}, got {shown}"
        super().__init__(f"{message}; {remedy}" if remedy else message)

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would call the class with the message alone; errors travel between processes.
        return type(self), (self.name, self.got, self.wanted, self.remedy)


def unknown_name(name: str, got: object, valid: Iterable[str]) -> InputError:
    """The error for a name that is not among the valid ones; it suggests the nearest.

    >>> str(unknown_name("method", "wolf", ["metropolis", "wolff"]))
    "method must be one of metropolis, wolff, got 'wolf'; did you mean 'wolff'?"
    """
    names = list(valid)
    nearest = difflib.get_close_matches(str(got).lower(), names, n=1, cutoff=0.4)
    remedy = f"did you mean {nearest[0]!r}?" if nearest else ""
    return InputError(name, got, f"one of {', '.join(names)}", remedy)


class FileError(ThermorbmError, OSError):
    """A file that cannot be read or written, or is not what it claims to be."""

    def __init__(self, path: object, problem: str, remedy: str = "") -> None:
        self.path, self.problem, self.remedy = path, problem, remedy
        message = f"{path}: {problem}"
        super().__init__(f"{message}; {remedy}" if remedy else message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.problem, self.remedy)


class CertificateWarning(UserWarning):
    """A dataset whose certificate did not pass: its samples may not follow the Boltzmann distribution."""


class BinaryValuesWarning(UserWarning):
    """An array of 0 and 1 was taken as spins, 0 for -1."""
