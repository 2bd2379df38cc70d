"""Errors that say what was got, what was wanted and what to do."""


class ThermorbmError(Exception):
    """Base of every error that a user can cause or mend; the command line shows it as one line."""


class InputError(ThermorbmError, ValueError):
    """A value outside its domain.

    >>> str(InputError("temperature", -1.0, "a number > 0"))
    'temperature must be a number > 0, got -1.0'
    """

    def __init__(self, name: str, got: object, wanted: str, remedy: str = "") -> None:
        self.name, self.got, self.wanted, self.remedy = name, got, wanted, remedy
        message = f"{name} must be {wanted}, got {got!r}"
        super().__init__(f"{message}; {remedy}" if remedy else message)


class FileError(ThermorbmError, OSError):
    """A file that cannot be read or written, or is not what it claims to be."""

    def __init__(self, path: object, problem: str, remedy: str = "") -> None:
        self.path, self.problem, self.remedy = path, problem, remedy
        message = f"{path}: {problem}"
        super().__init__(f"{message}; {remedy}" if remedy else message)


class CertificateWarning(UserWarning):
    """A dataset whose certificate did not pass: its samples may not follow the Boltzmann distribution."""
