"""Commands for whole studies: run, status."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thermorbm.cli.app import INTERRUPTED, NOT_CERTIFIED, TERMINATED, Terminated, app
from thermorbm.cli.console import display, print_json, print_table, say
from thermorbm.cli.options import JsonOption, WorkersOption
from thermorbm.cli.report import make_report, report_is_current, show_headlines
from thermorbm.shown import visible

if TYPE_CHECKING:
    from thermorbm.runner.progress import Status
    from thermorbm.runner.run import RunSummary
    from thermorbm.study.results import Results

TASK_FAILED = 1

RUN_EPILOG = """\b
Exit codes:
  0    success
  1    some tasks failed; all others are done, and the same command tries the failed ones again
  2    bad input; one line on stderr says which value and what to do
  3    all is done, but the certificate of some configurations did not pass, or a training diverged
  130  interrupted by Ctrl-C; the same command continues
  143  ended by SIGTERM, SIGHUP or SIGUSR1; the same command continues
"""

STATUS_EPILOG = """\b
Exit codes:
  0    everything so far went well
  1    some tasks failed
  2    not a run directory
"""


def _names(incomplete: str) -> list[str]:
    """Built-in studies and TOML files that begin so, for the completion of the shell."""
    from thermorbm.study.toml import builtin_studies

    files = [path.name for path in Path().glob("*.toml")]
    return [name for name in (*builtin_studies(), *sorted(files)) if name.startswith(incomplete)]


@app.command(epilog=RUN_EPILOG)
def run(
    study: Annotated[
        str,
        typer.Argument(metavar="STUDY", help="A built-in study, or a TOML file.", autocompletion=_names),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Run directory; runs/NAME by default.")
    ] = None,
    workers: WorkersOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier results in the directory.")] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Leave the report to a later command.")
    ] = False,
    shard: Annotated[
        str | None, typer.Option("--shard", metavar="I/N", help="Do one of N shares, as a job of an array.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="Dask at tcp://host:8786; local, slurm start one."),
    ] = None,
) -> int:
    """Run a study, or what is not done yet of it.

    Every result is named by what determines it, so that stopping and starting again, or adding a temperature,
    repeats nothing. Ends with the critical temperatures that matter most (`thermorbm critical DIR` has all)
    and with the path of the report, DIR/report.html.

    \b
    Built-in studies:
      tiny         a first look at 8x8 spins, in seconds
      desk         every figure, table and claim of the paper on small lattices, in minutes
      scaling      T_c and exponents by finite-size scaling, without machines, in minutes
      frustrated   triangular and other lattices beside exact results
      paper        the whole paper at full size, in hours; its parts: paper-2d, paper-3d, paper-union
      paper-plus   beyond the paper: T_c with errors over seeds, and of the infinite lattice, in hours

    \b
    Examples:
      thermorbm run tiny
      thermorbm run desk
      thermorbm run mine.toml --out runs/mine --workers 4
      thermorbm run paper --cluster tcp://host:8786
      thermorbm run paper --shard 3/16
    """
    from thermorbm.runner.shards import Shard
    from thermorbm.study.run import run_shard, run_study
    from thermorbm.study.toml import find_study

    path, part = find_study(study), None if shard is None else Shard.parse(shard)
    if part and (fresh or cluster):
        raise typer.BadParameter("--shard cannot be joined with --fresh or --cluster")
    try:
        with display() as listener:
            if part:
                summary = run_shard(path, out, listener, part, workers)
            else:
                summary = run_study(path, out, listener, workers, fresh, cluster)
        code = _conclude(summary)
        if summary.results is not None and not no_report:
            here = None if cluster else workers  # those of a cluster are elsewhere
            typer.echo(f"report: {_report(summary, here)}")
    except Terminated:
        say(f"ended on request; to continue: {_again(study, out, shard)}")
        return TERMINATED
    except KeyboardInterrupt:
        say(f"interrupted; to continue: {_again(study, out, shard)}")
        return INTERRUPTED
    return code


@app.command(epilog=STATUS_EPILOG)
def status(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    as_json: JsonOption = False,
) -> int:
    """Show how far a study is, while it runs or afterwards.

    \b
    Example:
      thermorbm status runs/desk --json
    """
    progress = show_run(directory, as_json)
    return TASK_FAILED if progress.failed else 0


def _again(study: str, out: Path | None, shard: str | None) -> str:
    place = "" if out is None else f" --out {out}"
    return f"thermorbm run {study}{place}" + ("" if shard is None else f" --shard {shard}")


def _report(summary: RunSummary[Results], workers: int | None) -> Path:
    """The page; it is not drawn again where nothing has changed since."""
    path = summary.directory.path
    if report_is_current(path):
        say(f"the report is up to date; to draw it again: thermorbm report {path}")
        return path / "report.html"
    return make_report(path, workers)


def _conclude(summary: RunSummary[Results]) -> int:
    outcome, path = summary.outcome, summary.directory.path
    if summary.results is not None:
        show_headlines(summary.results, path)
    if summary.n_before == summary.n_tasks:
        say(f"nothing to do: all {summary.n_tasks} tasks were done before; results in {path}")
    else:
        # What was done before and could not be used was done again.
        n_before = min(summary.n_before, summary.n_tasks - len(outcome.done))
        n_done = n_before + len(outcome.done)
        before = f", {n_before} of them before" if n_before else ""
        say(f"{n_done} of {summary.n_tasks} tasks done{before}; results in {path}")
    if not summary.is_complete:
        say(f"{len(outcome.failed)} tasks failed, {len(outcome.skipped)} skipped; see {path / 'failed'}")
        return TASK_FAILED
    if summary.results is None:
        say(f"other shards are not done; the last one joins them, or: thermorbm report {path}")
        return 0
    return _warn(summary.results)


def _warn(results: Results) -> int:
    """Says what not to rely on; the exit code."""
    if results.mixed_versions:
        say(f"WARNING: several versions made these results: {'; '.join(results.mixed_versions)}")
    if results.not_certified:
        say(f"WARNING: certificate did NOT pass: {', '.join(results.not_certified)}")
    if results.diverged:
        say(f"WARNING: training diverged: {'; '.join(results.diverged)}")
    return NOT_CERTIFIED if results.not_certified or results.diverged else 0


def show_run(directory: Path, as_json: bool, **more: str) -> Status:
    """Shows how far a study is, and what it is at. more: values to print before it as JSON."""
    from thermorbm.runner.progress import read_status
    from thermorbm.runner.rundir import existing_run

    progress = read_status(existing_run(directory))
    if as_json:
        print_json({**more, **asdict(progress)})
    else:
        _print_status(progress)
    return progress


def _print_status(progress: Status) -> None:
    from thermorbm.study.watch import WORDS, time_left

    counts = ", ".join(f"{number} {state}" for state, number in progress.counts.items() if number)
    rows = [(WORDS.get(kind, kind), f"{done}/{total}") for kind, (done, total) in progress.stages.items()]
    print_table(f"{progress.study}: {counts}", ("stage", "done"), rows, right=True)
    if progress.runner:
        who, left = progress.runner, time_left(progress.eta_seconds)
        _print_line(f"running: pid {who['pid']} on {who['host']}, {left}")
    for name, who in progress.shards.items():
        _print_line(f"shard {name}: pid {who['pid']} on {who['host']}")
    for task in progress.running:
        _print_line(f"  {task.name} {100 * task.fraction:.0f} %, {task.seconds:.0f} s")
    for task_id, error in progress.failed.items():
        _print_line(f"failed: {task_id}: {error}")
    if progress.last_error and not progress.failed:
        _print_line(f"last error: {progress.last_error}")


def _print_line(line: str) -> None:
    """One line on stdout; names and errors come from files."""
    typer.echo(visible(line))
