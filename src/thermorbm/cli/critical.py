"""Critical temperatures of a study: those that matter most at the end of `run`, all by `critical`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thermorbm.cli.app import app
from thermorbm.cli.console import print_json, print_table, say
from thermorbm.cli.options import JsonOption

if TYPE_CHECKING:
    from thermorbm.study.results import CriticalTemperature, Family, Results

EPILOG = """\b
Exit codes:
  0    success
  2    not a run directory, or nothing in it yet
"""
COLUMNS = "", "indicator", "machines", "T_c", "target", "off"


@app.command(epilog=EPILOG)
def critical(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    as_json: JsonOption = False,
) -> None:
    """Show the critical temperature by every indicator of a study.

    Targets are peaks on the same finite lattice: of the heat capacity, or of the susceptibility of |m|. An
    interval is one of 95 %, where a peak lies between the temperatures of the study.

    \b
    Example:
      thermorbm critical runs/desk
    """
    from thermorbm.records import as_plain
    from thermorbm.runs import load_run

    results = load_run(directory).results
    if as_json:
        rows = [{"family": family.name, **as_plain(row)} for family, row in _sought(results)]
        print_json({"critical_temperatures": rows})
        return
    _print(list(_sought(results)))
    _say_notes(results)


def show_headlines(results: Results, path: Path) -> None:
    """The verdicts on machines, and a table of the critical temperatures that matter most."""
    from thermorbm.study.quantities import is_headline

    rows = list(_sought(results))
    chosen = [(family, row) for family, row in rows if is_headline(row) and _is_determined(row)]
    # Of machines of several sizes the last, which is the largest.
    _print(
        list({(family.name, row.indicator, row.variant): (family, row) for family, row in chosen}.values())
    )
    verdicts = Counter(machine.verdict.status for family in results.families for machine in family.machines)
    if verdicts:
        counts = ", ".join(f"{number} {status}" for status, number in verdicts.most_common())
        say(f"{verdicts.total()} machines: {counts}")
    if rows:
        n_determined = sum(_is_determined(row) for _, row in rows)
        say(f"{n_determined} of {len(rows)} indicators give a T_c; all of them: thermorbm critical {path}")


def _sought(results: Results) -> Iterator[tuple[Family, CriticalTemperature]]:
    """All that stands in the table; a variant of a few temperatures has none."""
    for family in results.families:
        for row in family.critical_temperatures:
            if row.is_shown and row.was_sought:
                yield family, row


def _is_determined(row: CriticalTemperature) -> bool:
    return row.estimate is not None and row.problem is None


def _print(rows: list[tuple[Family, CriticalTemperature]]) -> None:
    from thermorbm.study.quantities import indicator_text

    cells = [
        (family.name, indicator_text(row.indicator, row.feature), _machines(row), *_numbers(row))
        for family, row in rows
    ]
    if cells:
        print_table("critical temperatures", COLUMNS, cells, right=False)


def _machines(row: CriticalTemperature) -> str:
    return "" if row.variant is None else f"{row.variant} {row.n_hidden}"


def _numbers(row: CriticalTemperature) -> tuple[str, str, str]:
    if row.estimate is None or row.problem is not None:
        return row.words, "", ""
    target = "" if row.target is None else f"{row.target.value:.3f}"
    if row.interval is not None:  # 95 %: a distance from its middle would say nothing
        return row.words, target, ""
    off = "" if row.relative_to_target is None else f"{100 * row.relative_to_target:+.1f} %"
    return str(row.estimate), target, off


def _say_notes(results: Results) -> None:
    """What is to be said beside the numbers, such as second peaks."""
    from thermorbm.study.quantities import indicator_text

    for family, row in _sought(results):
        if row.note and row.estimate is not None:
            name = indicator_text(row.indicator, row.feature)
            say(" ".join(part for part in (family.name, name, _machines(row)) if part) + f": {row.note}")
