"""Everything that a study found, put together from the reduced results: `results.json` and `tables/*.csv`."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thermorbm.errors import FileError
from thermorbm.observables.order_parameter import MAGNETIZATION, order_kind
from thermorbm.records import as_plain
from thermorbm.runner.rundir import RunDirectory
from thermorbm.runner.store import Reduced, read_values, versions
from thermorbm.runner.task import Task
from thermorbm.stats import Estimate
from thermorbm.storage import read_json, write_csv
from thermorbm.study.named import bond_label, described
from thermorbm.study.quantities import GIVE_TARGETS, ON_TRAINING_DATA, QUANTITIES
from thermorbm.study.results import (
    FORMAT,
    FamilyResults,
    MachineResults,
    Observation,
    Results,
    make_results,
    write_results,
)
from thermorbm.study.spec import Family, Study
from thermorbm.study.steps import STEPS
from thermorbm.study.steps.step import Rows

Values = dict[str, Any]

TABLES = (
    "data",
    "energies",
    "summary",
    "machines",
    "observations",
    "critical_temperatures",
    "extrapolations",
    "scalings",
)
OF_STUDY = ("name", "title", "seed", "precision", "control")
FILTER_SUMS = "filter_sum_abs_variance"
PLACE = ("group", "role", "as_paper", "union", "sector", "n_hidden", "seed_index")


def collect(study: Study, tasks: Mapping[str, Task], directory: RunDirectory) -> Results:
    """Writes `results.json` and `tables/*.csv` from what is there, and gives the content of the former."""
    try:
        collected = _join(study, tasks, directory)
        tables = _tables(collected)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        problem = f"holds results that do not fit its study: {type(error).__name__}: {error}"
        raise FileError(directory.path, problem, "run the study with --fresh") from error
    write_results(directory.results, collected)
    place = directory.path / "tables"
    if place.exists() and not place.is_dir():
        raise FileError(place, "is not a directory", "remove it")
    place.mkdir(exist_ok=True)
    for name, table in tables.items():
        write_csv(place / f"{name}.csv", table)
    return collected


def _join(study: Study, tasks: Mapping[str, Task], directory: RunDirectory) -> Results:
    """The results that are there as one."""
    results = {
        task_id: replace(result, task=task)  # with the labels of this plan
        for task_id, task in tasks.items()
        if (result := _read(directory, task_id)) is not None
    }
    families = [_family(family) for family in study.families]
    rows = Rows(families)
    for result in results.values():
        STEPS[result.task.kind].leave(rows, result)
    for family in families:
        family["critical_temperatures"] = _critical_temperatures(family)
    content = {
        "format": FORMAT,
        "study": {key: as_plain(getattr(study, key)) for key in OF_STUDY},
        "versions": _versions(results.values(), directory),
        "families": families,
        "extrapolations": rows.extrapolations,
        "scalings": rows.scalings,
        "tasks": _tasks(tasks, results, directory),
        "timings": _timings(results),
    }
    collected = make_results(content)
    return replace(collected, families=tuple(_with_learnt(family) for family in collected.families))


def _read(directory: RunDirectory, task_id: str) -> Reduced | None:
    """None if it failed or is not done; what is damaged, or of another task, the next run makes again."""
    try:
        result = read_values(directory.reduced(task_id))
    except FileError:
        return None
    return result if result.task.id == task_id else None


def _versions(results: Iterable[Reduced], directory: RunDirectory) -> dict[str, str]:
    """Of the programs that made the results, "2.9.0, 2.10.0" where they differ.

    Results of an older program do not say it; then what was collected before does.
    """
    made_by: dict[str, set[str]] = {}
    for result in results:
        for name, text in result.versions.items():
            made_by.setdefault(name, set()).add(text)
    if made_by or not directory.results.exists():
        return {name: ", ".join(sorted(texts)) for name, texts in made_by.items()} or dict(versions())
    before = read_json(directory.results).get("versions")
    return {str(name): str(text) for name, text in before.items()} if isinstance(before, dict) else {}


def _family(family: Family) -> Values:
    """What the study says of a family, and empty tables that the steps fill."""
    tables = ("data", "energies", "machines", "indicators")
    return {
        "name": family.name,
        "shape": None if family.lattice is None else family.lattice.shape,
        "n_sites": family.n_sites,
        "hamiltonian": family.hamiltonian,
        "parts": family.parts,
        "critical_temperature": family.critical_temperature,
        "model": _model(family),
        "thermodynamics": None,
        **{name: [] for name in tables},
    }


def _model(family: Family) -> Values | None:
    """What the report has to know of a Hamiltonian that the study names."""
    if family.named is None or family.model is None:
        return None
    H = family.model
    grid, uniform = H.grid, H.uniform and H.largest_order == 2
    pairs = H.products if uniform and H.products else ()
    return {
        "words": described(H),
        "order": order_kind(H),
        "n_cell": 1 if grid is None else grid.n_cell,
        "pairs": [{"r": bond_label(item, H), "coupling": item.coupling} for item in pairs],
        "field": float(H.field[0]) if H.uniform else None,
    }


def _critical_temperatures(family: Values) -> list[Values]:
    """What every indicator says of T_c, beside its target on this lattice and T_c of the infinite one."""
    configurations = family["thermodynamics"] or {}
    targets, infinite = configurations.get("targets", {}), family["critical_temperature"]
    rows = list(configurations.get("critical", []))
    for item in family["indicators"]:
        place = {name: item.get(name) for name in ("group", "role", "as_paper", "union", "n_hidden")}
        rows += [{**place, **row} for row in item.get("critical", [])]
    return [
        {
            **row,
            "is_shown": _is_shown(row, family),
            "target": _target(row, targets),
            "relative_to_target": _relative(row["estimate"], _target(row, targets)),
            "relative_to_infinite": _relative(row["estimate"], {"value": infinite} if infinite else None),
        }
        for row in rows
    ]


def _target(row: Values, targets: Values) -> Values | None:
    """None where the target is that same peak of the same samples: a comparison with itself says nothing."""
    target: Values | None = targets.get(row["kind"])
    is_itself = target is not None and target["source"] == "samples" and row["indicator"] in GIVE_TARGETS
    return None if is_itself else target


def _is_shown(row: Values, family: Values) -> bool:
    """Whether it stands in the table of T_c; of the correlations only one, at a sixteenth of the side.

    But not that of nearest neighbours: it tells how smooth filters are, not how far order reaches. What is
    scored on training data, as the paper does, is shown of machines that were trained as the paper's. Sums of
    filters tell of uniform order alone.
    """
    indicator: str = row["indicator"]
    model, shape = family["model"], family["shape"]
    if indicator == FILTER_SUMS and model is not None and model["order"] != MAGNETIZATION:
        return False
    if indicator in ON_TRAINING_DATA.values():
        return bool(row.get("as_paper"))
    if not indicator.startswith("correlation_r") or shape is None:
        return True
    return indicator == f"correlation_r{2 ** int(math.log2(max(32, min(shape))) - 4)}"


def _relative(estimate: Values | None, truth: Values | None) -> float | None:
    return None if not estimate or not truth else float(estimate["value"] / truth["value"] - 1)


def _tasks(tasks: Mapping[str, Task], results: Mapping[str, Reduced], directory: RunDirectory) -> Values:
    failed = [
        {"task": task_id, "error": read_json(directory.failure(task_id)).get("error")}
        for task_id in tasks
        if task_id not in results and directory.failure(task_id).exists()
    ]
    accounted = {item["task"] for item in failed} | set(results)
    missing = [task_id for task_id in tasks if task_id not in accounted]
    return {"total": len(tasks), "done": len(results), "failed": failed, "missing": missing}


def _timings(results: Mapping[str, Reduced]) -> Values:
    """Seconds of every task and their sums; two equal runs differ in nothing else."""
    totals: dict[str, float] = {}
    for result in results.values():
        kind = result.task.kind
        totals[kind] = round(totals.get(kind, 0.0) + float(result.timing["cpu_seconds"]), 3)
    return {
        "platform": platform.platform(),
        "processor": _processor(),
        "cpu_seconds_by_kind": totals,
        "cpu_seconds": round(sum(totals.values()), 3),
        "tasks": {task_id: dict(result.timing) for task_id, result in results.items()},
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _tables(results: Results) -> dict[str, list[Values]]:
    """Rows of every table; a row begins with the name of its family, or of what joins families."""
    tables: dict[str, list[Values]] = {name: [] for name in TABLES}
    for item in results.extrapolations:
        tables["extrapolations"] += [{"extrapolation": item.name, **as_plain(row)} for row in item.rows]
    tables["scalings"] = [as_plain(item) for item in results.scalings]
    for family in results.families:
        name = {"family": family.name}
        for table in ("data", "energies", "machines"):
            tables[table] += [{**name, **as_plain(row)} for row in getattr(family, table)]
        tables["critical_temperatures"] += [
            {**name, **as_plain(row), "T_c": row.words} for row in family.critical_temperatures
        ]
        entropies = known_entropies(family)
        for machine in family.machines:
            tables["summary"].append({**name, **summary_row(machine, entropies)})
            plain = as_plain(machine)
            place = {**name, **{key: plain[key] for key in PLACE}}
            tables["observations"] += [{**place, **as_plain(row)} for row in machine.observations]
    return tables


def summary_row(machine: MachineResults, entropies: Mapping[float, Estimate]) -> dict[str, Any]:
    """The row of a machine in `tables/summary.csv`; one for all temperatures has the means over them.

    entropies: S per spin by temperature, exact or integrated.
    """
    seen, recipe = machine.observations, machine.recipe
    shown = [quantity for quantity in QUANTITIES.values() if quantity.in_summary]
    means = {each.name: _mean([each.estimates(row, {}).get(each.name) for row in seen]) for each in shown}
    means["entropy_per_spin"] = _mean([entropies.get(row.value) for row in seen])
    return {
        "group": machine.variant,
        "value": machine.value,
        "n_hidden": machine.n_hidden,
        "seed_index": machine.seed_index,
        "recipe": recipe["name"],
        "epochs": recipe["epochs"],
        "epochs_done": machine.last_record.get("epoch"),
        "updates": machine.last_record.get("update"),
        "zero_bias": recipe["zero_bias"],
        "status": machine.verdict.status,
        "converged": machine.verdict.status == "converged",
        "n_values": len(seen),
        **as_plain(means),
        "partition_verdict": machine.partition.verdict if machine.partition else None,
    }


def _with_learnt(family: FamilyResults) -> FamilyResults:
    """With the share of correlations that each machine has learnt: it needs S, which comes from the data."""
    entropies = known_entropies(family)

    def share(row: Observation) -> Estimate | None:
        entropy = entropies.get(row.value)
        return row.bracket.learnt(entropy) if row.bracket and entropy is not None else None

    machines = [
        replace(m, observations=tuple(replace(row, correlations_learnt=share(row)) for row in m.observations))
        for m in family.machines
    ]
    return replace(family, machines=tuple(machines))


def known_entropies(family: FamilyResults) -> dict[float, Estimate]:
    """S per spin by temperature: exact on this very lattice where known, else from the samples."""
    curve = family.thermodynamics.curves.get("entropy_per_spin") if family.thermodynamics else None
    entropies = {} if curve is None else curve.points
    for row in family.data:
        if row.exact is not None and row.exact.is_of_this_lattice:
            entropies[row.value] = Estimate(row.exact.entropy_per_spin, 0.0)
    return entropies


def _mean(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """Mean of independent estimates; None if one is not known."""
    given = [item for item in estimates if item is not None]
    if not given or len(given) < len(estimates):
        return None
    error = math.sqrt(sum(item.error**2 for item in given)) / len(given)
    return Estimate(sum(item.value for item in given) / len(given), error)
