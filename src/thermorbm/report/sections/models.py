"""Hamiltonians that a study names: what they are, and their entropies beside exact ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from thermorbm.report.chart import Chart, Column, control_panel, curves_chart, per_size
from thermorbm.report.labels import ENTROPY, PER_SPIN, PSEUDO_ENTROPY, plain, short, text, with_error
from thermorbm.report.panels import Panel, Series
from thermorbm.report.run import FamilyView, Run
from thermorbm.report.section import Cell, PageTable, Section
from thermorbm.report.sections.entropy import entropy_series, pseudo_entropy_series
from thermorbm.report.style import BLUE, ORANGE
from thermorbm.study.results import Data, ExactValues, Model

SECTION = Section("models", "Hamiltonians")

MACHINES: dict[str, tuple[str, dict[str, Any]]] = {
    "symmetric": ("symmetric machine", {"colour": BLUE, "marker": "circle"}),
    "main": ("dense machine", {"colour": ORANGE, "marker": "diamond"}),
}
COMPARED = {"E/N": "energy_per_spin", "c": "heat_capacity_per_spin", "S/N": "entropy_per_spin"}


def named_families(run: Run) -> list[tuple[FamilyView, Model]]:
    """Families whose Hamiltonian the study names."""
    pairs = [(family, family.results.model) for family in run.families]
    return [(family, model) for family, model in pairs if model is not None]


@SECTION.figure("models-entropy", "Models", "Entropies of the Hamiltonians")
def draw_entropies(run: Run) -> list[Chart]:
    """Entropy per spin of every named Hamiltonian against the temperature; often there are none."""
    panels = [panel for family, _ in named_families(run) if (panel := _panel(family)).series]
    caption = text(
        "Entropy per spin against {}: exact curves, the entropy of all samples by reweighting from infinite "
        "temperature, {}, and the negative log-likelihood of held-out configurations under machines, which "
        "lies above {} but for errors.", run.control_symbol, PSEUDO_ENTROPY, ENTROPY,
    )  # fmt: skip
    return [curves_chart(caption, panels, columns=min(2, len(panels)), height=2.3)] if panels else []


def _panel(family: FamilyView) -> Panel:
    curves: list[Series] = [*entropy_series(family), *pseudo_entropy_series(family)]
    for role, (name, look) in MACHINES.items():
        for item in per_size(Column(family, role), "nll_per_spin", dash=None, **look)[-1:]:
            curves.append(replace(item, name=plain(f"NLL, {name}")))
    return control_panel(family, family.title, ENTROPY + PER_SPIN, curves)


@SECTION.table
def model_table(run: Run) -> list[PageTable]:
    """A row per named Hamiltonian."""
    columns: list[Cell] = ["Family", "Hamiltonian", "Sites", text("$T_c$, infinite"), "Order parameter"]
    rows = [_row(family, model) for family, model in named_families(run)]
    caption = "Hamiltonians of this study"
    return [PageTable([*columns, "Sampled by"], rows, caption, is_open=True)] if rows else []


def _row(family: FamilyView, model: Model) -> list[Cell]:
    methods = sorted({row.method for row in family.results.data})
    sites = str(family.results.n_sites)
    return [family.name, model.words, sites, short(family.critical, 6), model.order, ", ".join(methods)]


@SECTION.table
def exact_tables(run: Run) -> list[PageTable]:
    """Energy, heat capacity and entropy of the samples of each named Hamiltonian beside exact values."""
    tables = [_exact_table(family) for family, _ in named_families(run)]
    return [table for table in tables if table.rows]


def _exact_table(family: FamilyView) -> PageTable:
    columns: list[Cell] = [family.run.control_symbol.html]
    columns += [f"{name}{end}" for name in COMPARED for end in ("", ", exact")]
    pairs = [(row, row.exact) for row in family.results.balanced_data() if row.exact is not None]
    rows = [_exact_row(family, row, truth) for row, truth in pairs]
    of_this = all(truth.is_of_this_lattice for _, truth in pairs)
    where = "this very lattice" if of_this else "the infinite lattice"
    note = text("Exact values are those of {}. Entropies come from all samples by reweighting.", where)
    return PageTable(columns, rows, f"{family.name}: samples beside exact values", note)


def _exact_row(family: FamilyView, row: Data, truth: ExactValues) -> list[Cell]:
    entropies = family.data_curve("entropy_per_spin")
    pairs = {name: (value.value, value.error) for name, value in row.thermal.items()}
    for value, entropy, error in entropies:
        if value == row.value:
            pairs["entropy_per_spin"] = entropy, error
    cells: list[Cell] = [f"{row.value:g}"]
    for name in COMPARED.values():
        cells += [with_error(*pairs[name]) if name in pairs else "–", short(getattr(truth, name), 6)]
    return cells
