"""Tables of docs/reproduction.md from published results."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from thermorbm.report.labels import cell, percent, short, with_error
from thermorbm.report.run import Run, read_run
from thermorbm.report.section import PageTable
from thermorbm.report.sections.extrapolation import best_indicators, extrapolation_tables
from thermorbm.study.result_machines import Partition
from thermorbm.study.results import CriticalTemperature, FamilyResults

Row = dict[str, str]

LARGE_ERROR = 0.2  # of a share of correlations
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
               "mean L~ - S~", "mean NLL - S", "mean share learnt",
               "NLL < S by more than 4 errors"]  # fmt: skip
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
        _average([float(row["correlations_learnt"]) for row in rows if _has_share(row)], short),
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
    """One size and temperature: trained well, as the paper's, and as the paper's four times as far."""
    rows = []
    for far in (row for row in study.summary if row["group"] == "paper-recipe"):
        for group in ("main", "as-paper", "paper-recipe"):
            same = (row for row in study.rows(far["family"], group) if _place(row) == _place(far))
            rows += [_recipe(row) for row in same]
    if not rows:
        return "No machine was trained as far as the paper's longest."
    columns = [
        "data",
        "T",
        "n_h",
        "group",
        "epochs",
        "status",
        "L~/N, training data",
        "L~/N, held out",
        "NLL/N",
        "S/N",
    ]
    return grid(columns, rows)


def _place(row: Row) -> tuple[str, str]:
    return row["value"], row["n_hidden"]


def _recipe(row: Row) -> list[str]:
    place = [row["family"], row["value"], row["n_hidden"], row["group"], f"{float(row['epochs_done']):.3g}"]
    names = (
        "pseudo_likelihood_train_per_spin",
        "pseudo_likelihood_per_spin",
        "nll_per_spin",
        "entropy_per_spin",
    )
    return [*place, row["status"], *(_value(row, name) for name in names)]


def _has_share(row: Row) -> bool:
    """Whether there was something to learn: far in the cold the share is noise."""
    return bool(row["correlations_learnt"]) and float(row["correlations_learnt_error"]) < LARGE_ERROR


def shares(study: Study) -> str:
    """Share of the correlations that machines trained well have learnt, by temperature and size."""
    rows = [row for row in study.summary if row["group"] in ("main", "main-sizes") and _has_share(row)]
    sizes = sorted({int(row["n_hidden"]) for row in rows})
    found: dict[tuple[str, str], dict[int, str]] = {}
    for row in rows:
        place = found.setdefault((row["family"], row["value"]), {})
        place[int(row["n_hidden"])] = _value(row, "correlations_learnt")
    cells = [[*place, *(known.get(size, "–") for size in sizes)] for place, known in found.items()]
    return grid(["data", "T", *(f"n_h = {size}" for size in sizes)], cells) if rows else "Not measured."


def symmetric(study: Study) -> str:
    """Entropy and temperature from configurations alone, by symmetric machines; means over their seeds."""
    rows = []
    for family in study.run.results.families:
        known = study.rows(family.name, "symmetric")
        learned: dict[str, list[float]] = {}
        for machine in family.machines:
            if machine.role == "symmetric" and machine.interactions and machine.interactions.temperature:
                learned.setdefault(str(machine.value), []).append(machine.interactions.temperature)
        for value in dict.fromkeys(row["value"] for row in known):
            some = [row for row in known if row["value"] == value]
            rows.append([family.name, value, *_symmetric(some), _average(learned.get(value, []), short)])
    columns = [
        "data",
        "T",
        "seeds",
        "S/N",
        "NLL/N",
        "largest off S/N",
        "ln Z ok",
        "T of the learned couplings",
    ]
    return grid(columns, rows) if rows else "No symmetric machine was trained."


def _symmetric(seeds: list[Row]) -> list[str]:
    pairs = [
        (float(row["nll_per_spin"]), float(row["entropy_per_spin"])) for row in seeds if row["nll_per_spin"]
    ]
    off = max((nll - entropy for nll, entropy in pairs), key=abs, default=None)
    return [
        str(len(seeds)),
        _value(seeds[0], "entropy_per_spin"),
        _average([nll for nll, _ in pairs], "{:.5f}".format),
        "–" if off is None else f"{off:+.5f}",
        str(sum(row["partition_verdict"] == "ok" for row in seeds)),
    ]


def _average(numbers: list[float], words: Callable[[float], str]) -> str:
    return words(sum(numbers) / len(numbers)) if numbers else "–"


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


def partitions(study: Study) -> str:
    """How narrow ln Z of the families' own machines is, along how many rungs, and how long it takes."""
    rows = []
    for family in study.run.results.families:
        spent = _spent(study, family.name)
        for machine in family.machines:
            ln_z = machine.partition
            if machine.variant == "main" and isinstance(ln_z, Partition) and ln_z.method == "ais":
                place = (f"{machine.value:g}", machine.n_hidden)
                seconds = [_mean(spent.get((kind, *place), [])) for kind in ("partition", "bracket")]
                width = short((ln_z.upper - ln_z.lower) / machine.n_visible, 2)
                path = f"{ln_z.other['n_rungs']} x {ln_z.other['n_chains']}"
                rows.append([family.name, place[0], str(place[1]), width, path, *seconds, ln_z.verdict])
    columns = [
        "data",
        "T",
        "n_h",
        "width per spin",
        "rungs x chains",
        "ln Z, CPU s",
        "bound, CPU s",
        "verdict",
    ]
    return grid(columns, rows) if rows else "No ln Z was annealed."


def _spent(study: Study, family: str) -> dict[tuple[str, str, int], list[float]]:
    """CPU seconds of the tasks of a family's own machines by kind of task, temperature and size."""
    pattern = re.compile(rf"(\w+)/{re.escape(family)}-T([0-9.]+)-h([0-9]+)-(?:s[0-9]+-)?[0-9a-f]+")
    spent: dict[tuple[str, str, int], list[float]] = {}
    for task_id, timing in study.run.results.timings.tasks.items():
        if match := pattern.fullmatch(task_id):
            place = (match[1], match[2], int(match[3]))
            spent.setdefault(place, []).append(timing["cpu_seconds"])
    return spent


def per_machine(study: Study) -> str:
    """Mean CPU seconds of the families' own machines by kind of task and size."""
    spent: dict[tuple[str, int], list[float]] = {}
    for family in study.run.results.families:
        for (kind, _, size), seconds in _spent(study, family.name).items():
            spent.setdefault((kind, size), []).extend(seconds)
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
