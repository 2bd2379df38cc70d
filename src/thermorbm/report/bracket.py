"""Tables of the entropy bracket, and of how well machines generate their data."""

from __future__ import annotations

from markupsafe import Markup

from thermorbm.report.labels import (
    ENTROPY,
    N_HIDDEN,
    PER_SPIN,
    PSEUDO_ENTROPY,
    PSEUDO_LIKELIHOOD,
    control_symbol,
    short,
    with_error,
)
from thermorbm.report.run import Family, Run, Values, estimate, look, observation
from thermorbm.report.tables import Cell, Table

SHOWN = ("main", "symmetric", "union", "other")  # roles of machines


def bracket_tables(run: Run) -> list[Table]:
    """Per family, a row for each machine and temperature: lower edge, entropy, upper edge, likelihoods."""
    found = []
    for family in run.families:
        rows = [_bracket_row(family, machine, row) for machine, row in _bracketed(family)]
        if rows:
            caption = f"{family.name}: entropy bracket"
            found.append(Table(_bracket_columns(family), rows, caption, _note(family)))
    return found


def _bracketed(family: Family) -> list[tuple[Values, Values]]:
    machines = [machine for role in SHOWN for machine in family.machines(role)]
    return [(m, row) for m in machines for row in m.get("observations", []) if look(row, "bracket")]


def _bracket_columns(family: Family) -> list[Cell]:
    per_spin = PER_SPIN.markup
    return [
        "Group",
        N_HIDDEN.markup,
        control_symbol(family.run).markup,
        PSEUDO_ENTROPY.markup + per_spin,
        ENTROPY.markup + per_spin,
        Markup("upper edge") + per_spin,
        Markup("NLL") + per_spin,
        PSEUDO_LIKELIHOOD.markup + per_spin,
        Markup("KL") + per_spin,
        Markup("<i>F</i>") + per_spin + " at least",
        Markup("ln <i>Z</i> verdict"),
    ]


def _bracket_row(family: Family, machine: Values, row: Values) -> list[Cell]:
    edges = row["bracket"]
    names = ("entropy_upper_per_spin", "nll_per_spin")
    return [
        str(machine["group"]),
        str(machine["n_hidden"]),
        f"{row['value']:g}",
        _cell(estimate(edges, "entropy_lower_per_spin")),
        short(_exact_entropy(family, row["value"]), 5),
        *(_cell(estimate(edges, name)) for name in names),
        _cell(estimate(row, "likelihood", "held_out", "pseudo_likelihood_per_spin")),
        _cell(estimate(edges, "kl_per_spin")),
        _cell(estimate(edges, "free_energy_lower_per_spin")),
        str(look(machine, "partition", "verdict") or "–"),
    ]


def _exact_entropy(family: Family, value: float) -> float | None:
    row = next((row for row in family.data() if row["value"] == value), None)
    found = look(row, "exact", "entropy_per_spin")
    return None if found is None else float(found)


def _note(family: Family) -> Markup:
    note = Markup(
        "Nats per spin, one standard error in brackets. The entropy of the data lies between {} and the "
        "upper edge, a bound from chains that anneal from held-out configurations; NLL uses ln <i>Z</i> of "
        "the machine and is too small if that is. {} bounds nothing."
    ).format(PSEUDO_ENTROPY.markup, PSEUDO_LIKELIHOOD.markup)
    if family.is_ising:
        return note
    return note + Markup(" There is no lower edge without a Hamiltonian.")


def quality_tables(run: Run) -> list[Table]:
    """Per family, a row for each machine: long chains beside the data in standard errors, and the verdict."""
    found = []
    for family in run.families:
        seen = [(m, observation(m)) for role in SHOWN for m in family.machines(role)]
        known = [(m, look(row, "quality")) for m, row in seen if look(row, "quality")]
        if known:
            found.append(_quality_table(family, known))
    return found


def _quality_table(family: Family, known: list[tuple[Values, Values]]) -> Table:
    names = list(dict.fromkeys(name for _, quality in known for name in quality["comparisons"]))
    columns: list[Cell] = ["Group", N_HIDDEN.markup, control_symbol(family.run).markup]
    columns += [*(name.replace("_", " ") for name in names), "Verdict"]
    rows = [
        [
            str(machine["group"]),
            str(machine["n_hidden"]),
            f"{machine['value']:g}",
            *(short(look(quality, "comparisons", name, "z_score"), 2) for name in names),
            str(quality["verdict"]),
        ]
        for machine, quality in known
    ]
    note = Markup(
        "Long Gibbs chains from random spins minus training data, in standard errors. Training in "
        "equilibrium makes the joint energy of both equal; other quantities may differ for want of hidden "
        "units."
    )
    return Table(columns, rows, f"{family.name}: quality of machines", note)


def _cell(pair: tuple[float, float] | None) -> str:
    return "–" if pair is None else with_error(*pair)
