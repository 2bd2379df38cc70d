"""Commands that show what a run directory holds: report, explore, publish, critical."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thermorbm.cli.app import app
from thermorbm.cli.console import print_json, print_table, say
from thermorbm.cli.options import ForceOption, JsonOption, WorkersOption, real_option

if TYPE_CHECKING:
    from thermorbm.study.results import CriticalTemperature, FamilyResults, Results

EPILOG = """\b
Exit codes:
  0    success
  2    not a run directory, nothing in it yet, or it cannot be written
"""
TABLE_EPILOG = """\b
Exit codes:
  0    success
  2    not a run directory, or nothing in it yet
"""


@app.command(epilog=EPILOG)
def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    workers: WorkersOption = None,
) -> int:
    """Make the report of a study from what is done so far.

    While it runs or afterwards. Writes report.html, figures/*.svg, figures/*.png and tables/*.csv into the
    run directory. Parts that are not there yet are left out, and the report says so.

    \b
    Example:
      thermorbm report runs/desk
    """
    refresh_results(directory)
    typer.echo(make_report(directory, workers))
    return 0


@app.command(epilog=EPILOG)
def explore(
    directory: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Default RUN/explore.html.")
    ] = None,
    size: Annotated[float, real_option("--size", metavar="MB", help="How large the file may be.")] = 40.0,
    force: ForceOption = False,
) -> int:
    """Make a page in which the machines of a study run live.

    Chains, filters, real configurations beside new ones, in one HTML file for any browser, without server or
    network. What is not there yet is named on the page.

    \b
    Examples:
      thermorbm explore runs/desk
      thermorbm explore runs/paper -o lecture.html --size 20
    """
    from thermorbm.explorer import build_explorer
    from thermorbm.storage import check_target

    if output is not None:
        check_target(output, overwrite=force)
    refresh_results(directory)
    page = build_explorer(directory, output, size)
    say(f"{page.stat().st_size / 1e6:.1f} MB")
    typer.echo(page)
    return 0


@app.command(epilog=EPILOG)
def publish(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory with its report.")],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET", help="Directory to publish to; what was published there before is replaced."
        ),
    ],
) -> int:
    """Copy what is worth keeping of a study.

    That is results, tables, figures and reduced results. Machines and configurations stay behind. `thermorbm
    report` makes the report again in a copy of TARGET.

    \b
    Example:
      thermorbm publish runs/paper results/paper
    """
    from thermorbm.report import publish as module

    sizes = module.publish(directory, target)
    for name, size in sizes.items():
        say(f"{size / 1e6:8.2f} MB  {name}")
    say(f"{sum(sizes.values()) / 1e6:8.2f} MB  together")
    typer.echo(target)
    return 0


def make_report(directory: Path, workers: int | None) -> Path:
    """The path of the page."""
    from thermorbm.report import build
    from thermorbm.runner.pool import wanted_workers

    say("drawing the report")
    return build(directory, wanted_workers(workers))


def report_is_current(directory: Path) -> bool:
    """Whether the page was drawn after the last change of the results, and its figures are there."""
    page, results = directory / "report.html", directory / "results.json"
    if not page.exists() or not (directory / "figures").is_dir():
        return False
    return page.stat().st_mtime_ns >= results.stat().st_mtime_ns


def refresh_results(directory: Path) -> None:
    """Collects what is done into results.json; a directory with nothing but results.json stays as it is."""
    from thermorbm.report.publish import unpack
    from thermorbm.runner.rundir import existing_run, read_plan
    from thermorbm.study.collect import collect
    from thermorbm.study.toml import load_study

    run, toml = existing_run(directory), directory / "study.toml"
    unpack(directory)
    if run.plan.exists() and toml.exists() and (directory / "reduced").is_dir():
        collect(load_study(toml), read_plan(run), run)


@app.command(epilog=TABLE_EPILOG)
def critical(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    as_json: JsonOption = False,
) -> None:
    """Show the critical temperature by every indicator of a study.

    Targets are peaks on the same finite lattice: of the heat capacity, exact where it is known, or of the
    susceptibility of |m| of the samples, which has no target itself. An interval is one of 95 %, where a peak
    lies between the temperatures of the study.

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
    _print(list(_sought(results)), results)
    _say_notes(results)


def show_headlines(results: Results, path: Path) -> None:
    """The verdicts on machines, and a table of the critical temperatures that matter most."""
    from thermorbm.study.quantities import is_headline

    rows = list(_sought(results))
    chosen = [(family, row) for family, row in rows if is_headline(row) and _is_determined(row)]
    # Of machines of several sizes the last, which is the largest.
    last = {(family.name, row.indicator, row.variant): (family, row) for family, row in chosen}
    _print(list(last.values()), results)
    machines = [machine for family in results.families for machine in family.machines]
    for as_paper, words in ((False, "machines"), (True, "machines trained as the paper's")):
        verdicts = Counter(each.verdict.status for each in machines if bool(each.as_paper) == as_paper)
        if verdicts:
            counts = ", ".join(f"{number} {status}" for status, number in verdicts.most_common())
            say(f"{verdicts.total()} {words}: {counts}")
    if rows:
        n_determined = sum(_is_determined(row) for _, row in rows)
        give = f"give a {_symbol(results)}; all of them: thermorbm critical {path}"
        say(f"{n_determined} of {len(rows)} indicators {give}")


def _sought(results: Results) -> Iterator[tuple[FamilyResults, CriticalTemperature]]:
    """All that stands in the table; a variant of a few temperatures has none."""
    for family in results.families:
        for row in family.critical_temperatures:
            if row.is_shown and row.was_sought:
                yield family, row


def _is_determined(row: CriticalTemperature) -> bool:
    return row.estimate is not None and row.problem is None


def _symbol(results: Results) -> str:
    """T_c, or the like for another control parameter."""
    return f"{results.study.control.symbol}_c"


def _print(rows: list[tuple[FamilyResults, CriticalTemperature]], results: Results) -> None:
    from thermorbm.study.quantities import indicator_text

    cells = [
        (family.name, indicator_text(row.indicator, row.feature), _machines(row), *_numbers(row))
        for family, row in rows
    ]
    if cells:
        control = results.study.control
        title = f"critical {control.name}; target: the peak on the same finite lattice"
        columns = "", "indicator", "machines", _symbol(results), "target", "off"
        print_table(title, columns, cells, right=False)


def _machines(row: CriticalTemperature) -> str:
    if row.variant is None:
        return "(data)"
    variant = "" if row.variant == "main" else f"{row.variant}, "
    return f"{variant}n_h = {row.n_hidden}"


def _numbers(row: CriticalTemperature) -> tuple[str, str, str]:
    if row.estimate is None or row.problem is not None:
        return row.words, "", ""
    target = "" if row.target is None else f"{row.target.value:.4f}"
    if row.interval is not None:  # 95 %: a distance from its middle would say nothing
        return row.words, target, ""
    off = "" if row.relative_to_target is None else f"{100 * row.relative_to_target:+.2f} %"
    return str(row.estimate), target, off


def _say_notes(results: Results) -> None:
    """What is to be said beside the numbers, such as second peaks."""
    from thermorbm.study.quantities import indicator_text

    for family, row in _sought(results):
        if row.note and row.estimate is not None:
            name = indicator_text(row.indicator, row.feature)
            say(" ".join(part for part in (family.name, name, _machines(row)) if part) + f": {row.note}")
