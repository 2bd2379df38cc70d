"""Commands that show what a run directory holds: report, explore, publish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thermorbm.cli.app import app
from thermorbm.cli.console import say
from thermorbm.cli.options import WorkersOption, number

EPILOG = """\b
Exit codes:
  0    success
  2    not a run directory, nothing in it yet, or it cannot be written
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
    size: Annotated[
        float, typer.Option("--size", parser=number, metavar="MB", help="How large the file may be.")
    ] = 40.0,
) -> int:
    """Make a page in which the machines of a study run: chains, filters, real configurations beside new ones.

    One HTML file for any browser, without server or network. What is not there yet is named on the page.

    \b
    Examples:
      thermorbm explore runs/desk
      thermorbm explore runs/paper -o lecture.html --size 20
    """
    from thermorbm.explorer import build_explorer

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
