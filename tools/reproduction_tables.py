"""Tables of docs/reproduction.md from published results."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from thermorbm.report.labels import cell, percent, short, with_error
from thermorbm.report.run import Run, read_run
from thermorbm.report.section import PageTable
from thermorbm.report.sections.extrapolation import best_indicators, extrapolation_tables
from thermorbm.study.results import CriticalTemperature, FamilyResults

Row = dict[str, str]

PER_MACHINE = ("train", "weights", "observe", "partition", "bracket")


@dataclass(frozen=True)
class Study:
    """What was published: results.json, and its tables as rows of texts."""

    path: Path
    run: Run
    claims: list[Row]
    summary: list[Row]

    def rows(self, family: str, group: str) -> list[Row]:
        return [row for row in self.summary if (row["family"], row["group"]) == (family, group)]


def read_study(path: Path) -> Study:
    tables = []
    for name in ("claims", "summary"):
        with open(path / "tables" / f"{name}.csv", newline="") as file:
            tables.append(list(csv.DictReader(file)))
    return Study(path, read_run(path), *tables)


def machines(study: Study) -> str:
    """A row per family, group and size; every machine has its own in tables/summary.csv."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in study.summary:
        groups.setdefault((row["family"], row["group"], int(row["n_hidden"])), []).append(row)
    columns = ["data", "group", "n_h", "machines", "recipe", "epochs", "converged", "ln Z ok",
               "mean L~ - S~", "mean NLL - S", "NLL < S by more than 4 errors"]  # fmt: skip
    return grid(columns, [[*map(str, key), *_machines(rows)] for key, rows in groups.items()])


def _machines(rows: list[Row]) -> list[str]:
    epochs = sorted({f"{float(row['epochs_done']):.3g}" for row in rows})
    return [
        str(len(rows)),
        ", ".join(sorted({row["recipe"] for row in rows})),
        ", ".join(epochs),
        str(sum(row["converged"] == "True" for row in rows)),
        str(sum(row["partition_verdict"] == "ok" for row in rows)),
        _mean_difference(rows, "pseudo_likelihood_per_spin", "entropy_lower_per_spin"),
        _mean_difference(rows, "nll_per_spin", "entropy_per_spin"),
        str(sum(_is_below(row, "nll_per_spin", "entropy_per_spin") for row in rows)),
    ]


def _mean_difference(rows: list[Row], first: str, second: str) -> str:
    known = [float(row[first]) - float(row[second]) for row in rows if row[first] and row[second]]
    return short(sum(known) / len(known), 3) if known else "–"


def _is_below(row: Row, first: str, second: str) -> bool:
    if not row[first] or not row[second]:
        return False
    error = (float(row[f"{first}_error"]) ** 2 + float(row[f"{second}_error"]) ** 2) ** 0.5
    return float(row[first]) < float(row[second]) - 4 * error


def recipes(study: Study) -> str:
    """Machines of one size and temperature by both recipes."""
    rows = []
    for slow in (row for row in study.summary if row["recipe"] == "paper"):
        for fast in study.rows(slow["family"], "main"):
            if (fast["value"], fast["n_hidden"]) == (slow["value"], slow["n_hidden"]):
                rows += [_recipe(fast), _recipe(slow)]
    if not rows:
        return "No machine was trained by the paper's recipe."
    columns = ["data", "T", "n_h", "recipe", "epochs", "converged", "L~/N", "cross entropy", "NLL/N", "S/N"]
    return grid(columns, rows)


def _recipe(row: Row) -> list[str]:
    place = [row["family"], row["value"], row["n_hidden"], row["recipe"], f"{float(row['epochs_done']):.3g}"]
    names = ("pseudo_likelihood_per_spin", "cross_entropy", "nll_per_spin", "entropy_per_spin")
    return [*place, row["status"], *(_value(row, name) for name in names)]


def symmetric(study: Study) -> str:
    """Entropy and temperature that symmetric machines find from configurations alone."""
    rows = []
    for family in study.run.results.families:
        known = {row["value"]: row for row in study.rows(family.name, "symmetric")}
        for machine in family.machines:
            row = known.get(str(machine.value)) if machine.role == "symmetric" else None
            if row is not None:
                learned = machine.interactions.temperature if machine.interactions else None
                names = ("entropy_per_spin", "nll_per_spin", "entropy_upper_per_spin")
                cells = [family.name, row["value"], *(_value(row, name) for name in names)]
                rows.append([*cells, row["partition_verdict"].split(":")[0], short(learned)])
    columns = ["data", "T", "S/N", "NLL/N", "upper bound of S/N", "ln Z", "T of the learned couplings"]
    return grid(columns, rows) if rows else "No symmetric machine was trained."


def configurations(study: Study) -> str:
    """Energies of the data beside the exact ones of the same lattice."""
    rows = []
    for family in study.run.results.families:
        for row in family.balanced_data():
            if row.exact and row.exact.source == "kaufman" and row.certificate:
                energy, p = row.thermal["energy_per_spin"], row.certificate.energy_histogram_p
                exact, z = f"{row.exact.energy_per_spin:.6f}", short(row.certificate.energy_z, 2)
                words = "one energy alone" if p is None else short(p, 2)
                rows.append([family.name, f"{row.value:g}", cell(energy), exact, z, words])
    columns = ["data", "T", "E/N sampled", "exact, this lattice", "z", "p of the exact P(E)"]
    return grid(columns, rows) if rows else "No exact results for these lattices."


def beyond(plus: Study) -> str:
    """T_c on fine grids against its own target, and extrapolated."""
    texts = [markdown(table) for table in extrapolation_tables(plus.run)]
    texts += [str(best_indicators(item)) for item in plus.run.results.extrapolations]
    found = [(family.name, row) for family in plus.run.results.families for row in _estimates(family)]
    columns = ["data", "indicator", "group", "n_h", "T_c", "own target", "off target"]
    best = [
        [*_estimate_cells(name, row), words]
        for name in dict.fromkeys(name for name, _ in found)
        for words, row in _best([row for other, row in found if other == name])
    ]
    texts += ["The best on every lattice:", grid([*columns, "of all"], best)]
    table = grid(columns, [_estimate_cells(name, row) for name, row in found])
    return "\n\n".join([*texts, "Every indicator on every lattice:", table])


def _estimates(family: FamilyResults) -> list[CriticalTemperature]:
    rows = [row for row in family.critical_temperatures if row.variant is not None]
    return [row for row in rows if row.estimate is not None and row.problem is None]


def _best(rows: list[CriticalTemperature]) -> list[tuple[str, CriticalTemperature]]:
    """Of dense and of symmetric machines: the smallest error, and the nearest to its target."""
    found = []
    for kind in ("dense", "symmetric"):
        some = [row for row in rows if (row.role == "symmetric") == (kind == "symmetric")]
        if some:
            found.append((f"{kind}: smallest error", min(some, key=lambda row: row.estimate.error)))
            found.append((f"{kind}: nearest", min(some, key=lambda row: abs(row.relative_to_target))))
    return found


def _estimate_cells(name: str, row: CriticalTemperature) -> list[str]:
    return [
        name,
        row.indicator,
        row.variant,
        str(row.n_hidden),
        cell(row.estimate),
        "–" if row.target is None else f"{row.target.value:.4f}",
        percent(row.relative_to_target, signed=True),
    ]


def starts(plus: Study) -> str:
    """L~ and NLL of machines from both starts, means over seeds, beside the entropies they estimate."""
    names = ("pseudo_likelihood_per_spin", "nll_per_spin")
    rows = []
    for family in plus.run.results.families:
        groups = {group: plus.rows(family.name, group) for group in ("main", "local")}
        for value in dict.fromkeys(row["value"] for row in groups["local"]):
            here = {g: [row for row in some if row["value"] == value] for g, some in groups.items()}
            known = [_mean_of(here["main"], f"entropy{end}") for end in ("_lower_per_spin", "_per_spin")]
            ours = [_mean_of(here[group], name) for name in names for group in groups]
            rows.append([family.name, f"{float(value):g}", *known, *ours])
    columns = ["data", "T", "S~/N", "S/N", "L~/N, Glorot", "L~/N, local", "NLL/N, Glorot", "NLL/N, local"]
    return grid(columns, rows)


def _mean_of(rows: list[Row], name: str) -> str:
    known = [float(row[name]) for row in rows if row[name]]
    return f"{sum(known) / len(known):.4f}" if known else "–"


def timings(study: Study) -> str:
    """CPU and wall seconds by kind of task; tasks run beside each other on several cores."""
    timings = study.run.results.timings
    wall, count = Counter[str](), Counter[str]()
    for task_id, timing in timings.tasks.items():
        kind = task_id.split("/")[0]
        wall[kind] += timing.get("seconds", 0.0)
        count[kind] += 1
    rows = [
        [kind, str(count[kind]), short(seconds), short(wall[kind])]
        for kind, seconds in sorted(timings.cpu_seconds_by_kind.items(), key=lambda item: -item[1])
    ]
    rows.append(["all", str(sum(count.values())), short(timings.cpu_seconds), short(sum(wall.values()))])
    machine = f"{timings.processor}, {timings.platform}, one core per task."
    return machine + "\n\n" + grid(["stage", "tasks", "CPU seconds", "seconds in tasks"], rows)


def per_machine(study: Study) -> str:
    """Mean CPU seconds of the families' own machines by kind of task and size."""
    known = study.run.results.timings.tasks
    spent: dict[tuple[str, int], list[float]] = {}
    for family in study.run.results.families:
        pattern = re.compile(rf"(\w+)/{re.escape(family.name)}-T[0-9.]+-h([0-9]+)-(?:s[0-9]+-)?[0-9a-f]+")
        for task_id, timing in known.items():
            if found := pattern.fullmatch(task_id):
                spent.setdefault((found[1], int(found[2])), []).append(timing["cpu_seconds"])
    sizes = sorted({size for _, size in spent})
    rows = [[kind, *(_mean(spent.get((kind, size), [])) for size in sizes)] for kind in PER_MACHINE]
    return grid(["CPU seconds per machine", *(f"n_h = {size}" for size in sizes)], rows)


def _mean(seconds: list[float]) -> str:
    return short(sum(seconds) / len(seconds), 3) if seconds else "–"


def _value(row: Row, name: str) -> str:
    return with_error(float(row[name]), float(row[f"{name}_error"] or 0)) if row[name] else "–"


def markdown(table: PageTable) -> str:
    text = grid([str(c) for c in table.columns], [[str(cell) for cell in row] for row in table.rows])
    return "\n\n".join(filter(None, [str(table.caption), text, str(table.note)]))


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "&#124;") for cell in line) + " |" for line in lines)
