"""Everything that a study found, put together from the reduced results: `results.json` and `tables/*.csv`."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

from thermorbm.errors import FileError
from thermorbm.exact import TC_2D, TC_3D
from thermorbm.study.csv import write_csv
from thermorbm.study.records import as_plain
from thermorbm.study.reduced import Reduced, read_values
from thermorbm.study.results import FORMAT, Results, make_results, write_results
from thermorbm.study.rundir import RunDirectory, read_json
from thermorbm.study.spec import Family, Study
from thermorbm.study.summary import known_entropies, summary_row
from thermorbm.study.tasks import Task

Values = dict[str, Any]

PACKAGES = ("thermorbm", "numpy", "scipy", "numba", "torch", "h5py")
TABLES = (
    "data",
    "energies",
    "summary",
    "machines",
    "observations",
    "critical_temperatures",
    "extrapolations",
)
MACHINE_LABELS = ("value", "group", "role", "union", "sector", "n_hidden", "seed_index")


def collect(study: Study, tasks: Mapping[str, Task], directory: RunDirectory) -> Results:
    """Writes `results.json` and `tables/*.csv` from what is there, and gives the content of the former."""
    results = {
        task_id: replace(result, task=task)  # with the labels of this plan
        for task_id, task in tasks.items()
        if (result := _read(directory, task_id)) is not None
    }
    content = {
        "format": FORMAT,
        "study": _study(study),
        "versions": {**{name: version(name) for name in PACKAGES}, "python": platform.python_version()},
        "families": [_family(family, results) for family in study.families],
        "extrapolations": [_extrapolation(result) for result in results.values() if _joins_families(result)],
        "tasks": _tasks(tasks, results, directory),
        "timings": _timings(results),
    }
    found = make_results(content)
    write_results(directory.results, found)
    (directory.path / "tables").mkdir(exist_ok=True)
    for name, rows in _tables(found).items():
        write_csv(directory.path / "tables" / f"{name}.csv", rows)
    return found


def _read(directory: RunDirectory, task_id: str) -> Reduced | None:
    try:
        return read_values(directory.reduced(task_id))
    except FileError:  # failed or not done yet; a damaged one is made again by the next run
        return None


def _study(study: Study) -> Values:
    known = {"name": study.name, "title": study.title, "seed": study.seed, "precision": study.precision}
    return {**known, "control": asdict(study.control)}


def _family(family: Family, results: Mapping[str, Reduced]) -> Values:
    mine = {task_id: r for task_id, r in results.items() if r.task.labels["family"] == family.name}
    curves = [_estimates(result) for result in _of_kind(mine, "estimate")]
    thermodynamics = next((item for item in curves if item.pop("what") == "thermodynamics"), None)
    indicators = [item for item in curves if item is not thermodynamics]
    return {
        "name": family.name,
        "shape": family.shape,
        "n_sites": None if family.lattice is None else family.lattice.n_sites,
        "hamiltonian": family.hamiltonian,
        "parts": family.parts,
        "critical_temperature": _critical(family),
        "data": [_dataset(result, mine) for result in _of_kind(mine, "sample", "import")],
        "energies": [_energies(result) for result in _of_kind(mine, "energies")],
        "machines": [_machine(result, mine) for result in _of_kind(mine, "train")],
        "thermodynamics": thermodynamics,
        "indicators": indicators,
        "critical_temperatures": _critical_temperatures(family, thermodynamics, indicators),
    }


def _critical_temperatures(
    family: Family, thermodynamics: Values | None, indicators: Sequence[Values]
) -> list[Values]:
    """What every indicator says of T_c, beside its target on this lattice and T_c of the infinite one."""
    known = thermodynamics or {}
    targets, infinite = known.get("targets", {}), _critical(family)
    rows = list(known.get("critical", []))
    for item in indicators:
        place = {name: item.get(name) for name in ("group", "role", "union", "n_hidden")}
        rows += [{**place, **row} for row in item.get("critical", [])]
    return [
        {
            **row,
            "is_shown": _is_shown(row["indicator"], family.shape),
            "target": targets.get(row["kind"]),
            "relative_to_target": _relative(row["estimate"], targets.get(row["kind"])),
            "relative_to_infinite": _relative(row["estimate"], {"value": infinite} if infinite else None),
        }
        for row in rows
    ]


def _is_shown(indicator: str, shape: Sequence[int] | None) -> bool:
    """Whether it stands in the table of T_c; of the correlations only one, at a sixteenth of the side.

    But not that of nearest neighbours: it tells how smooth filters are, not how far order reaches.
    """
    if not indicator.startswith("correlation_r") or shape is None:
        return True
    return indicator == f"correlation_r{2 ** int(math.log2(max(32, min(shape))) - 4)}"


def _relative(estimate: Values | None, truth: Values | None) -> float | None:
    return None if not estimate or not truth else float(estimate["value"] / truth["value"] - 1)


def _critical(family: Family) -> float | None:
    """T_c of the infinite lattice, None where it is not known."""
    if family.hamiltonian != "ising" or family.shape is None:
        return None
    return {2: TC_2D, 3: TC_3D}.get(len(family.shape))


def _of_kind(results: Mapping[str, Reduced], *kinds: str) -> list[Reduced]:
    return [result for result in results.values() if result.task.kind in kinds]


def _readers(result: Reduced, results: Mapping[str, Reduced], kind: str) -> list[Reduced]:
    """Results of that kind whose first input this one is."""
    return [other for other in _of_kind(results, kind) if other.task.inputs[0] == result.task.id]


def _dataset(result: Reduced, results: Mapping[str, Reduced]) -> Values:
    p, labels = result.task.parameters, result.task.labels
    measured = next(iter(_readers(result, results, "measure")), None)
    return {
        "value": labels["value"],
        "sector": labels["sector"],
        "seed": p["seed"],
        "method": p.get("method", "import"),
        **result.values,
        **({} if measured is None else measured.values),
        "file": None if measured is None else _file(measured),
    }


def _energies(result: Reduced) -> Values:
    p = result.task.parameters
    return {"value": p["temperature"], "samples": p["samples"], "seed": p["seed"], **result.values}


def _machine(result: Reduced, results: Mapping[str, Reduced]) -> Values:
    task = result.task
    weights = next(iter(_readers(result, results, "weights")), None)
    partition = next(iter(_readers(result, results, "partition")), None)
    learned = next(iter(_readers(result, results, "interactions")), None)
    symmetric = {
        key: task.parameters[key] for key in ("filters", "kernel", "point_group") if key in task.parameters
    }
    return {
        **{name: task.labels.get(name) for name in MACHINE_LABELS},
        **{name: task.parameters[name] for name in ("seed", "recipe", "samples", "proportions", "threads")},
        **symmetric,
        **result.values,
        "file": _file(result),
        "interactions": None if learned is None else {**learned.values, "file": _file(learned)},
        "weights": None if weights is None else {**weights.values, "file": _file(weights)},
        "partition": None if partition is None else dict(partition.values),
        "observations": _observations(result, results),
    }


def _observations(result: Reduced, results: Mapping[str, Reduced]) -> list[Values]:
    """What the machine says at each value; arrays are those of the observation proper."""
    found: dict[float, Values] = {}
    for other in _readers(result, results, "bracket"):
        found[other.task.labels["value"]] = {**other.values, "file": None}
    for other in _readers(result, results, "observe"):
        found.setdefault(other.task.labels["value"], {}).update(other.values, file=_file(other))
    return [{"value": value, **found[value]} for value in sorted(found)]


def _estimates(result: Reduced) -> Values:
    labels = {name: value for name, value in result.task.labels.items() if name != "family"}
    return {"what": result.task.parameters["what"], **labels, **result.values, "file": _file(result)}


def _file(result: Reduced) -> str:
    """Where the arrays are, relative to the run directory."""
    return f"reduced/{result.task.id}.h5"


def _tasks(tasks: Mapping[str, Task], results: Mapping[str, Reduced], directory: RunDirectory) -> Values:
    failed = [
        {"task": task_id, "error": read_json(directory.failure(task_id)).get("error")}
        for task_id in tasks
        if task_id not in results and directory.failure(task_id).exists()
    ]
    known = {item["task"] for item in failed} | set(results)
    missing = [task_id for task_id in tasks if task_id not in known]
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


def _joins_families(result: Reduced) -> bool:
    return result.task.parameters.get("what") == "extrapolation"


def _extrapolation(result: Reduced) -> Values:
    return {"name": result.task.labels["extrapolation"], **result.values}


def _tables(results: Results) -> dict[str, list[Values]]:
    """Rows of every table; a row begins with the name of its family, or of what joins families."""
    tables: dict[str, list[Values]] = {name: [] for name in TABLES}
    for item in results.extrapolations:
        tables["extrapolations"] += [{"extrapolation": item.name, **as_plain(row)} for row in item.rows]
    for family in results.families:
        name = {"family": family.name}
        for table in ("data", "energies", "machines", "critical_temperatures"):
            tables[table] += [{**name, **as_plain(row)} for row in getattr(family, table)]
        entropies = known_entropies(family)
        for machine in family.machines:
            tables["summary"].append({**name, **summary_row(machine, entropies)})
            place = {**name, **{key: as_plain(machine)[key] for key in MACHINE_LABELS if key != "value"}}
            tables["observations"] += [{**place, **as_plain(row)} for row in machine.observations]
    return tables
