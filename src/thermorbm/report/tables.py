"""Tables of the page: what was done, machines, recipes, timings, versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from thermorbm.report.labels import N_HIDDEN, control_symbol, short, with_error
from thermorbm.report.run import Family, Run, Values, estimate, look, role_of

Cell = Markup | str

ROLES = {
    "main": "one temperature each",
    "symmetric": "the same filters at every site",
    "union": "all temperatures together",
    "union-proportions": "all temperatures in other proportions",
    "zero-bias": "without biases",
    "unbalanced": "unequal signs",
    "other": "another recipe",
}


@dataclass(frozen=True)
class Table:
    """caption: one line. note: what else is to be said. is_open: shown although it could be folded away."""

    columns: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    caption: Cell = ""
    note: Cell = ""
    is_open: bool = False


def done_table(run: Run) -> Table:
    """A row per family: lattice, temperatures, configurations, machines."""
    symbol = control_symbol(run).markup
    columns = ["Data", "Lattice", "Hamiltonian", symbol, "Configurations", "Machines"]
    return Table(columns, [_done(family) for family in run.families])


def _done(family: Family) -> list[Cell]:
    rows, shape = family.data(), family.values.get("shape")
    values = [row["value"] for row in rows]
    span = f"{len(values)} values, {min(values):g} to {max(values):g}" if values else "–"
    sizes = sorted({(row.get("n_train"), row.get("n_held_out")) for row in rows}, key=str)
    counts = ", ".join(f"{train} + {held_out} held out" for train, held_out in sizes)
    return [
        family.name,
        "none" if shape is None else "×".join(map(str, shape)) + ", periodic",
        str(family.values.get("hamiltonian")),
        span,
        f"{counts} each" if counts else "–",
        _machine_counts(family),
    ]


def _machine_counts(family: Family) -> Markup:
    counts: dict[tuple[str, int], int] = {}
    for machine in family.values.get("machines", []):
        key = role_of(machine), int(machine["n_hidden"])
        counts[key] = counts.get(key, 0) + 1
    told = [
        Markup("{} of {} = {} ({})").format(number, N_HIDDEN.markup, n_hidden, ROLES[role])
        for (role, n_hidden), number in sorted(counts.items())
    ]
    return Markup("; ").join(told) or Markup("none")


def machine_tables(run: Run) -> list[Table]:
    """Every machine with its training and what it reached."""
    return [_machine_table(family) for family in run.families if family.values.get("machines")]


def _machine_table(family: Family) -> Table:
    columns: list[Cell] = [
        "Group",
        control_symbol(family.run).markup,
        N_HIDDEN.markup,
        "Seed",
        "Recipe",
        "Epochs",
    ]
    columns += [
        "Training",
        "Converged",
        Markup("<i>L̃</i>/<i>N</i>"),
        "CE",
        Markup("NLL/<i>N</i>"),
        Markup("⟨ℰ<sub>θ</sub>⟩/<i>N</i>"),
    ]
    columns += [Markup("Var ℰ<sub>θ</sub>/<i>N</i>")]
    rows = [_machine_row(machine) for machine in family.values["machines"]]
    return Table(columns, rows, f"{family.name}: {len(rows)} machines")


def _machine_row(machine: Values) -> list[Cell]:
    status = str(look(machine, "verdict", "status"))
    seen = machine["observations"][0] if machine["value"] is not None and machine["observations"] else None
    n_sites = look(seen, "n_sites") or 1
    return [
        str(machine["group"]),
        "all" if machine["value"] is None else f"{machine['value']:g}",
        str(machine["n_hidden"]),
        str(machine["seed_index"]),
        str(look(machine, "recipe", "name")),
        short(look(machine, "last_record", "epoch"), 3),
        f"{machine.get('n_train')}",
        status,
        _cell(estimate(seen, "likelihood", "held_out", "pseudo_likelihood_per_spin")),
        _cell(estimate(seen, "likelihood", "held_out", "cross_entropy")),
        _cell(estimate(seen, "bracket", "nll_per_spin")),
        _cell(estimate(seen, "visible_energy", "train", "mean"), n_sites),
        _cell(estimate(seen, "visible_energy", "train", "variance"), n_sites),
    ]


def _cell(pair: tuple[float, float] | None, scale: float = 1) -> str:
    return "–" if pair is None else with_error(pair[0] / scale, pair[1] / scale)


def recipe_table(run: Run) -> Table:
    """Every recipe that was used, one column each; sizes of a group that have one of their own are named."""
    found: dict[str, Values] = {}
    for family in run.families:
        for machine in family.values.get("machines", []):
            name = f"{family.name} {machine['group']}"
            if found.setdefault(name, machine["recipe"]) != machine["recipe"]:
                found[f"{name} {machine['n_hidden']}"] = machine["recipe"]
    names = list(dict.fromkeys(name for recipe in found.values() for name in recipe))
    rows = [
        [name.replace("_", " "), *(str(recipe.get(name, "–")) for recipe in found.values())] for name in names
    ]
    return Table(["", *found], rows, "Recipes as they were used")


def timing_table(run: Run) -> Table:
    known = run.results.get("timings") or {}
    seconds = known.get("cpu_seconds_by_kind") or {}
    rows = [[kind, short(value)] for kind, value in seconds.items()]
    rows.append(["all", short(known.get("cpu_seconds"))])
    return Table(
        ["Kind of task", "CPU seconds"], rows, f"{known.get('processor', '')}, {known.get('platform', '')}"
    )


def version_table(run: Run) -> Table:
    versions = run.results.get("versions") or {}
    return Table(["Program", "Version"], [[name, str(version)] for name, version in versions.items()])
