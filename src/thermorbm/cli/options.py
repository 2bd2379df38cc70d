"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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


def yes_or_no_per_axis(text: str) -> list[bool]:
    """Axes that are open, such as 0 or 0,1, as one answer for each axis up to the last that is named."""
    axes = [whole_number(part) for part in text.split(",")]
    if min(axes) < 0:
        raise typer.BadParameter(f"{text!r} does not name axes from 0 up")
    return [axis in axes for axis in range(max(axes) + 1)]


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
FieldOption = Annotated[
    float, typer.Option("--field", parser=number, metavar="H", help="Field h of H = -J s s' - h s.")
]
ShareOption = Annotated[
    float | None, typer.Option("--p", parser=number, metavar="P", help="Share of +J bonds of pm-j.")
]
DisorderOption = Annotated[
    int | None,
    typer.Option(
        "--disorder-seed", parser=whole_number, metavar="N", help="Realisation of pm-j, gaussian or sk."
    ),
]
OpenOption = Annotated[
    str | None, typer.Option("--open", metavar="AXES", help="Axes with edges instead of periodic: 0 or 0,1.")
]
ShapeOption = Annotated[
    str, typer.Option("--shape", metavar="LxL", help="Sides of the periodic lattice, such as 64x64.")
]
TemperatureOption = Annotated[
    float,
    typer.Option("--temperature", "-T", parser=number, metavar="T", help="Temperature in J/k_B, > 0."),
]
CountOption = Annotated[
    int,
    typer.Option("--n-samples", "-n", parser=whole_number, metavar="N", help="Number of configurations."),
]
SeedOption = Annotated[
    int,
    typer.Option(
        "--seed", parser=whole_number, metavar="N", help="Seed; the same one gives the same result."
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads", parser=whole_number, metavar="N", help="Cores to use; the result does not depend on it."
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", parser=whole_number, metavar="N", help="Processes; one per core by default."),
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")]
MachineArgument = Annotated[Path, typer.Argument(metavar="RBM", help="A machine of thermorbm.")]
DataArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A dataset of thermorbm.")]
