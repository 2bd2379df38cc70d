"""Commands for single files: info, which knows every file that we write, and init, which writes a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thermorbm.cli.app import EPILOG, app
from thermorbm.cli.console import say, show_summary
from thermorbm.cli.data import dataset_summary, show_dataset
from thermorbm.cli.options import ForceOption, JsonOption
from thermorbm.cli.study import show_run

if TYPE_CHECKING:
    from thermorbm.study.spec import Family

# What stands in a run directory beside files that tell their kind themselves.
PARTS = {
    "results.json": "results of a study",
    "run.json": "name of a study",
    "plan.json": "tasks of a study",
    "state.json": "what a run was at last",
    "lock": "who runs a study",
    "shards": "who runs a share of a study",
    "report.html": "report of a study",
    "explore.html": "explorer of a study",
    "tables": "table of a study",
    "figures": "figure of a study",
    "logs": "log of a task",
    "failed": "error of a task",
    "reduced": "results of tasks",
    "reduced.tar.xz": "results of all tasks",
    "cache": "configurations and machines",
}

TEMPLATE = Path(__file__).with_name("template.toml")


@app.command(epilog=EPILOG)
def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Any file of thermorbm, or a run directory.")],
    as_json: JsonOption = False,
) -> None:
    """Check a file and show what it holds.

    Datasets: lattice, temperature, method, certificate. Machines: size, recipe, verdict, data. Checkpoints
    and the results of single tasks: what they belong to. Studies: lattices, temperatures, number of tasks.
    Run directories: how far the study is; files in them: what they are, and of which study.

    \b
    Examples:
      thermorbm info data.h5 --json
      thermorbm info rbm.h5
      thermorbm info runs/desk
    """
    from thermorbm.storage import read_kind

    if (file / "run.json").exists():
        show_run(file, as_json, file=str(file), kind="run directory")
        return
    if file.exists() and file.suffix != ".h5" and (content := _of_text(file)):
        show_summary({"file": str(file), **content}, str(file), as_json)
        return
    kind = read_kind(file)
    if kind == "dataset":
        from thermorbm.dataset import Dataset

        show_dataset({"file": str(file), **dataset_summary(Dataset.load(file))}, str(file), as_json)
        return
    content = _of_machine(file) if kind.endswith("rbm") else _of_other(file, kind)
    show_summary({"file": str(file), "kind": kind, **content}, str(file), as_json)


@app.command(epilog=EPILOG)
def init(
    study: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The file to write.")],
    force: ForceOption = False,
) -> None:
    """Write a commented study to begin with.

    \b
    Example:
      thermorbm init mine.toml
      thermorbm run mine.toml
    """
    from thermorbm.checks import NAME
    from thermorbm.errors import FileError
    from thermorbm.storage import atomic_path, check_target

    if study.suffix != ".toml":
        raise FileError(study, "its name does not end in .toml", "run would take it for a built-in study")
    check_target(study, overwrite=force)
    name = study.stem if NAME.fullmatch(study.stem) else "mine"
    with atomic_path(study) as temporary:
        temporary.write_text(TEMPLATE.read_text(encoding="utf-8").replace("mine", name), encoding="utf-8")
    say(f"wrote {study}; next: thermorbm run {study}")


def _of_machine(file: Path) -> dict[str, Any]:
    import thermorbm

    machine = thermorbm.load_machine(file)
    origin, training = dict(machine.provenance), machine.noted("training")
    return {
        "machine": repr(machine),
        "n_hidden": machine.n_hidden,
        "n_visible": machine.n_visible,
        "recipe": machine.recipe_name,
        "seed": training.get("seed"),
        **{name: origin[name] for name in ("data", "verdict", "versions") if name in origin},
    }


def _of_other(file: Path, kind: str) -> dict[str, Any]:
    """What a checkpoint or the result of a task says of itself, and the shapes of its arrays."""
    from thermorbm.storage import read_hdf5

    arrays, metadata = read_hdf5(file, kind)
    shapes = {name: "x".join(map(str, array.shape)) or "one number" for name, array in arrays.items()}
    return {**metadata, "arrays": shapes}


def _of_text(file: Path) -> dict[str, Any]:
    """What a file of a run directory, or a study anywhere, says; empty if it is neither."""
    if file.suffix == ".toml":
        return {"kind": "study", **_of_study(file)}
    place = next((parent for parent in file.parents if (parent / "run.json").exists()), None)
    part = "" if place is None else file.relative_to(place).parts[0]
    if place is None or part not in PARTS:
        return {}
    origin = {"kind": PARTS[part], "run directory": str(place)}
    return {**origin, **(_of_results(file) if part == "results.json" else {})}


def _of_study(file: Path) -> dict[str, Any]:
    from thermorbm.study.plan import plan_study
    from thermorbm.study.toml import load_study

    study = load_study(file)
    return {
        "name": study.name,
        "title": study.title,
        "seed": study.seed,
        "families": [_of_family(family) for family in study.families],
        "tasks": len(plan_study(study).tasks),
    }


def _of_family(family: Family) -> str:
    sides = "x".join(map(str, family.shape or ())) or "users' configurations"
    n_values = len(family.temperatures) or len(family.data)
    return f"{family.name}: {sides}, {n_values} temperatures, {len(family.variants)} variants"


def _of_results(file: Path) -> dict[str, Any]:
    from thermorbm.study.results import read_results

    results = read_results(file)
    return {
        "study": results.study.name,
        "title": results.study.title,
        "seed": results.study.seed,
        "families": [family.name for family in results.families],
        "machines": sum(len(family.machines) for family in results.families),
        "tasks": f"{results.tasks.done} of {results.tasks.total} done",
        "versions": dict(results.versions),
    }
