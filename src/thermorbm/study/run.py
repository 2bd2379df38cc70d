"""A study from its TOML file to `results.json`: what `thermorbm run` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from thermorbm.errors import FileError, InputError
from thermorbm.runner.progress import Listener
from thermorbm.runner.run import RunSummary, Work, run_all, run_share
from thermorbm.runner.rundir import RunDirectory
from thermorbm.runner.shards import Shard
from thermorbm.study.plan import plan_study
from thermorbm.study.steps import estimate_costs
from thermorbm.study.toml import load_study

if TYPE_CHECKING:
    from thermorbm.study.results import Results


def run_study(
    toml: Path,
    out: Path | None,
    listener: Listener,
    n_workers: int | None = None,
    fresh: bool = False,
    cluster: str | None = None,
) -> RunSummary[Results]:
    """Runs what is not done yet of the study in `toml`; see `runner.run.run_all`."""
    return run_all(_work(toml), out, listener, n_workers, fresh, cluster)


def run_shard(
    toml: Path, out: Path | None, listener: Listener, shard: Shard, n_workers: int | None = None
) -> RunSummary[Results]:
    """Runs one share of a study; see `runner.run.run_share`."""
    return run_share(_work(toml), out, listener, shard, n_workers)


def _work(toml: Path) -> Work[Results]:
    study = load_study(toml)
    try:
        plan = plan_study(study)
    except InputError as error:
        raise FileError(toml, str(error)) from error

    def collect(directory: RunDirectory) -> Results:
        from thermorbm.study.collect import collect  # brings scipy with it

        return collect(study, plan.tasks, directory)

    text = toml.read_text(encoding="utf-8")
    return Work(study.name, text, plan.tasks, estimate_costs(plan.tasks), collect)
