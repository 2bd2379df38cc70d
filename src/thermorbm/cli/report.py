"""The command that makes the report of a run directory: report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thermorbm.cli.app import app
from thermorbm.cli.console import say
from thermorbm.cli.options import WorkersOption

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
    """Make the report of a study from what is done so far, while it runs or afterwards.

    Writes report.html, figures/*.svg, figures/*.png and tables/*.csv into the run directory. Parts that are
    not there yet are left out, and the report says so.

    \b
    Example:
      thermorbm report runs/desk
    """
    refresh_results(directory)
    typer.echo(make_report(directory, workers))
    return 0


def make_report(directory: Path, workers: int | None) -> Path:
    """The path of the page."""
    from thermorbm.report import build
    from thermorbm.study.pool import wanted_workers

    say("drawing the report")
    return build(directory, wanted_workers(workers))


def refresh_results(directory: Path) -> None:
    """Collects what is done into results.json; a directory with nothing but results.json stays as it is."""
    from thermorbm.study.collect import collect
    from thermorbm.study.rundir import existing_run, read_plan
    from thermorbm.study.toml import load_study

    run, toml = existing_run(directory), directory / "study.toml"
    if run.plan.exists() and toml.exists() and (directory / "reduced").is_dir():
        collect(load_study(toml), read_plan(run), run)
