"""Studies from Python: run one, or read a run directory, and go on with its tables and figures."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thermorbm.checks import optional_module
from thermorbm.errors import FileError, ThermorbmError, unknown_name
from thermorbm.report.run import read_run
from thermorbm.runner.progress import Listener, Snapshot, read_status
from thermorbm.runner.rundir import existing_run
from thermorbm.shown import html_table, is_watched, live_line
from thermorbm.storage import check_readable
from thermorbm.study.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class StudyRun:
    """The results of a study in its run directory.

    path: the directory. results: every number of `results.json`, typed (see `study.results`).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.results: Results = _read(self.path)

    def __repr__(self) -> str:
        tasks = self.results.tasks
        return f"StudyRun({self.results.study.name}, {tasks.done} of {tasks.total} tasks done, {self.path})"

    def _repr_html_(self) -> str:
        results = self.results
        facts = {
            "title": results.study.title,
            "directory": self.path,
            "tasks": f"{results.tasks.done} of {results.tasks.total} done",
            "families": ", ".join(family.name for family in results.families),
            "tables": ", ".join(self.tables),
            "not certified": ", ".join(results.not_certified) or None,
        }
        return html_table(f"StudyRun: {results.study.name}", facts)

    @property
    def tables(self) -> list[str]:
        """Names that `to_dataframe` takes."""
        return sorted(path.stem for path in (self.path / "tables").glob("*.csv"))

    def to_dataframe(self, table: str) -> Any:
        """One of the tables as a pandas DataFrame, such as "machines"; nested values have dotted names."""
        pandas = optional_module("pandas", "tables")
        if not self.tables:
            raise FileError(self.path / "tables", "is not there", f"try: thermorbm report {self.path}")
        if table not in self.tables:
            raise unknown_name("table", table, self.tables)
        file = self.path / "tables" / f"{table}.csv"
        check_readable(file)
        try:
            return pandas.read_csv(file, low_memory=False).rename_axis("row")
        except ValueError as error:  # the base of all that pandas raises on a damaged file
            problem = f"is not a table: {' '.join(str(error).split())}"
            raise FileError(file, problem, f"try: thermorbm report {self.path}") from error

    def to_xarray(self, table: str) -> Any:
        """The same as an xarray Dataset along `row`, with the study and its seed as attributes."""
        xarray, study = optional_module("xarray", "tables"), self.results.study
        labelled: Any = xarray.Dataset.from_dataframe(self.to_dataframe(table))
        return labelled.assign_attrs(study=study.name, title=study.title, seed=study.seed)

    def figure(self, name: str) -> Figure:
        """A figure of the report by its name, such as "fig-8-2d", drawn with matplotlib.

        A figure of all families together, such as "fig-8", is found under the name of each of them, too.
        """
        from thermorbm.report.section import Gap
        from thermorbm.report.sections import all_figures
        from thermorbm.report.style import our_style

        candidates = [figure for figure in all_figures() if str(name).startswith(figure.id)]
        run, reasons = read_run(self.path), []
        with our_style():
            for result in (result for figure in candidates for result in figure.attempts(run)):
                if isinstance(result, Gap):
                    reasons.append(result)
                    continue
                for chart in result:
                    if name in (chart.id, *(f"{chart.id}-{family.name}" for family in run.families)):
                        return chart.figure
        if reasons:
            raise FileError(self.path, f"has no figure {name}: {reasons[0].reason}")
        raise unknown_name("figure", name, self._figure_names())

    def _figure_names(self) -> list[str]:
        from thermorbm.report.sections import all_figures

        drawn = sorted(path.stem for path in (self.path / "figures").glob("*.png"))
        return drawn or [f"{figure.id}-FAMILY" for figure in all_figures()]


def load_run(path: str | Path) -> StudyRun:
    """Reads the results in a run directory.

    FileError if it is no run directory, or if its study is under way or was stopped; it says how far.
    """
    return StudyRun(path)


def run(
    study: str | Path,
    out: str | Path | None = None,
    workers: int | None = None,
    fresh: bool = False,
    progress: bool | None = None,
) -> StudyRun:
    """Runs a study, or what is not done yet of it, as `thermorbm run` does, without the report.

    study: a built-in study such as "tiny", or a TOML file. out: the run directory, runs/NAME by default.
    workers: processes, one per core by default. fresh: forget earlier results in the directory. progress: a
    line in terminals and notebooks unless False.
    """
    from thermorbm.study.run import run_study
    from thermorbm.study.toml import find_study
    from thermorbm.study.watch import LiveListener

    with live_line() if is_watched(progress) else nullcontext() as line:
        listener: Listener = Silent() if line is None else LiveListener(line)
        directory = None if out is None else Path(out)
        summary = run_study(find_study(str(study)), directory, listener, workers, fresh)
    if not summary.is_complete:
        failed = summary.directory.path / "failed"
        raise ThermorbmError(f"{len(summary.outcome.failed)} tasks of {study} failed; see {failed}")
    return StudyRun(summary.directory.path)


class Silent:
    """Shows nothing of a run; notes stay in the run directory."""

    def note(self, text: str) -> None: ...

    def update(self, snapshot: Snapshot) -> None: ...


def _read(path: Path) -> Results:
    directory = existing_run(path)
    if not directory.results.exists() and directory.plan.exists():
        status = read_status(directory)
        far = f"{status.counts['done']} of {sum(status.counts.values())} tasks are done"
        if status.runner or status.shards:
            raise FileError(path, f"is under way: {far}", f"wait for it, or see: thermorbm status {path}")
        remedy = f"run it again to go on, or collect what there is: thermorbm report {path}"
        raise FileError(path, f"was stopped: {far}", remedy)
    return read_run(path).results
