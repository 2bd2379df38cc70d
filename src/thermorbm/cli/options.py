"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a number") from error


def whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a whole number") from error


def number_or_name(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def numbers(text: str) -> list[float]:
    """One number, or several joined by commas."""
    return [number(part) for part in text.split(",")]


def axes(text: str) -> tuple[int, ...]:
    """Axes such as 0 or 0,1."""
    return tuple(whole_number(part) for part in text.split(","))


def whole_option(*flags: str, help: str, metavar: str = "N") -> Any:
    """An option that takes a whole number."""
    return typer.Option(*flags, parser=whole_number, metavar=metavar, help=help)


def real_option(*flags: str, help: str, metavar: str) -> Any:
    """An option that takes a number."""
    return typer.Option(*flags, parser=number, metavar=metavar, help=help)


LatticeOption = Annotated[
    str | None,
    typer.Option(
        "--lattice",
        metavar="NAME",
        help="triangular, honeycomb, kagome, j1j2, pm-j ...; by default hypercubic.",
    ),
]
CouplingOption = Annotated[
    str,
    typer.Option("--coupling", metavar="J[,J...]", help="J, or one per axis, direction or shell: 1,0.5."),
]
FieldOption = Annotated[float, real_option("--field", metavar="H", help="Field h of H = -J s s' - h s.")]
ShareOption = Annotated[float | None, real_option("--p", metavar="P", help="Share of +J bonds of pm-j.")]
DisorderOption = Annotated[
    int | None, whole_option("--disorder-seed", help="Realisation of pm-j, gaussian or sk.")
]
OpenOption = Annotated[
    str | None, typer.Option("--open", metavar="AXES", help="Axes with edges instead of periodic: 0 or 0,1.")
]
ShapeOption = Annotated[
    str, typer.Option("--shape", metavar="LxL", help="Sides of the periodic lattice, such as 64x64.")
]
TemperatureOption = Annotated[
    float, real_option("--temperature", "-T", metavar="T", help="Temperature in J/k_B, > 0.")
]
CountOption = Annotated[int, whole_option("--n-samples", "-n", help="Number of configurations.")]
SeedOption = Annotated[int, whole_option("--seed", help="Seed; the same one gives the same result.")]
ThreadsOption = Annotated[
    int | None, whole_option("--threads", help="Cores to use; the result does not depend on it.")
]
WorkersOption = Annotated[int | None, whole_option("--workers", help="Processes; one per core by default.")]
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")]
MachineArgument = Annotated[Path, typer.Argument(metavar="RBM", help="A machine of thermorbm.")]
DataArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A dataset of thermorbm.")]
