"""What a reader sees first: what was done, warnings, and the study in one picture."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup
from matplotlib.figure import Figure

from thermorbm.report.chart import (
    Chart,
    Column,
    Picture,
    bare,
    control_panel,
    flat,
    landmark_machines,
    lattice_filters,
    per_size,
)
from thermorbm.report.labels import PSEUDO_LIKELIHOOD, Label, axis, plain, text
from thermorbm.report.panels import Panel, Series, add_legend, draw_panel
from thermorbm.report.run import FamilyView, Run, first_complete, need_some
from thermorbm.report.section import Cell, PageTable, Section
from thermorbm.report.sections.energy import VARIANCE
from thermorbm.report.sections.entropy import entropy_series, pseudo_entropy_series
from thermorbm.report.style import DIVERGING, DOUBLE, new_figure, symmetric_limit

SECTION = Section("summary", "Summary")

FILTERS = 3
ROLES = {
    "main": "one dataset each",
    "symmetric": "the same filters at every site",
    "union": "all data together",
    "union-proportions": "all data in other proportions",
    "zero-bias": "without biases",
    "unbalanced": "unequal signs",
    "scatter": "the same again from other seeds",
    "other": "another recipe",
}


def write_lead(run: Run) -> Markup:
    """One sentence: what was done."""
    n_machines, n_data, n_energies = (
        sum(len(getattr(family, name)) for family in run.results.families)
        for name in ("machines", "data", "energies")
    )
    energies = f"; energies were measured at {n_energies} more" if n_energies else ""
    machines = f"{n_machines} restricted Boltzmann machines were trained on " if n_machines else ""
    words = "{}{} sets of spin configurations, each of one {}{}."
    return text(words, machines, n_data, run.results.study.control.name, energies)


@SECTION.set_words
def write_warnings(run: Run) -> list[Markup]:
    """What a reader must know before anything else."""
    words = []
    tasks, diverged, mixed = run.results.tasks, run.results.diverged, run.results.mixed_versions
    if diverged:
        names = "; ".join(diverged[:5]) + ("; …" if len(diverged) > 5 else "")
        words.append(text("The training of {} machines diverged ({}).", len(diverged), names))
    if mixed:
        words.append(text("Several versions of programs made these results: {}.", "; ".join(mixed)))
    if tasks.failed:
        names = ", ".join(item.task for item in tasks.failed[:5]) + (", …" if len(tasks.failed) > 5 else "")
        words.append(text("{} of {} tasks failed ({}).", len(tasks.failed), tasks.total, names))
    if tasks.missing:
        words.append(
            text(
                "{} of {} tasks are not done yet: the report shows what there is.",
                len(tasks.missing),
                tasks.total,
            )
        )
    if run.results.not_certified:
        places = ", ".join(run.results.not_certified)
        words.append(text("The certificate of these configurations did not pass: {}.", places))
    constant = [
        f"{family.name} at {row.value:g}" for family in run.results.families for row in family.data
        if row.is_constant
    ]  # fmt: skip
    if constant:
        sentence = "All configurations of a dataset are one and the same, so that nothing can be learned: {}."
        words.append(text(sentence, ", ".join(constant)))
    machines = [machine for family in run.results.families for machine in family.machines]
    still_open = [machine for machine in machines if machine.verdict.status != "converged"]
    n_paper = sum(bool(machine.as_paper) for machine in still_open)
    if still_open:
        sentence = (
            "{} of {} machines are not converged{}: training for as long again may change their "
            "pseudo-likelihood <i>L̃</i> by 0.002 per spin or more."
        )
        of_paper = f" ({n_paper} of them were trained as the paper's)" if n_paper else ""
        words.append(text(sentence, len(still_open), len(machines), of_paper))
    return words


@SECTION.table
def done_table(run: Run) -> list[PageTable]:
    """A row per family: lattice, temperatures, configurations, machines."""
    symbol = run.control_symbol.html
    columns = ["Data", "Lattice", "Hamiltonian", symbol, "Configurations", "Machines"]
    return [PageTable(columns, [_done(family) for family in run.views], style="wide cards-when-narrow")]


def _done(family: FamilyView) -> list[Cell]:
    rows = family.results.balanced_data()
    values = [row.value for row in rows]
    sizes = sorted({(row.n_train, row.n_held_out) for row in rows}, key=str)
    counts = ", ".join(f"{train} + {held_out} held out" for train, held_out in sizes)
    return [
        family.name,
        _lattice(family),
        family.results.hamiltonian if family.results.model is None else family.results.model.words,
        f"{len(values)} values, {min(values):g} to {max(values):g}" if values else "–",
        f"{counts} each" if counts else "–",
        _machine_counts(family),
    ]


def _lattice(family: FamilyView) -> str:
    model = family.results.model
    if model is not None and model.n_cell > 1:
        return f"{family.results.n_sites} sites, {model.n_cell} per cell"
    if family.shape is None:
        return "none"
    return "×".join(map(str, family.shape)) + ("" if model else ", periodic")


def _machine_counts(family: FamilyView) -> Markup:
    counts = Counter((machine.role, machine.n_hidden) for machine in family.results.machines)
    words = [
        text("{} of $n_h$ = {} ({})", number, n_hidden, ROLES[role])
        for (role, n_hidden), number in sorted(counts.items())
    ]
    return Markup("; ").join(words) or Markup("none")


@SECTION.figure("overview", "", "At a glance")
def draw_overview(run: Run) -> Chart:
    """Filters, the visible energy's variance, and the entropy, of the first family that has them all."""
    return first_complete(run.families, _overview, "there is nothing to show")


def _overview(family: FamilyView) -> Chart:
    role = "union" if family.results.indicators_of("union") else "main"
    shown = family.from_random_weights
    filters = [
        (shown.at(value), lattice_filters(shown, machine)[0])
        for value, machine, _ in landmark_machines(shown)
    ]
    variances = per_size(Column(family, role), VARIANCE)
    entropies = [*entropy_series(family), *pseudo_entropy_series(family)]
    entropies += per_size(Column(family, "main"), "pseudo_likelihood_per_spin", dash=None)
    panels = [
        _panel(family, "Visible energy, variance", axis(VARIANCE), variances),
        _panel(family, "Entropy and pseudo-likelihood", plain("nats per spin"), entropies),
    ]
    which = "one machine for all data together" if role == "union" else "a machine for each"
    caption = text(
        "Left: filters of machines{} below, near and above the transition. Middle: the variance of the "
        "visible energy, of {}; no machine is told {}. Right: {} of held-out configurations beside "
        "entropies.",
        " trained as the paper's" if shown.as_paper else "", which, family.run.control_label,
        PSEUDO_LIKELIHOOD,
    )  # fmt: skip
    return Chart(caption, _arrange(filters, panels), title=": " + family.title)


def _panel(family: FamilyView, title: str, label: Label, curves: list[Series]) -> Panel:
    need_some(curves, "curves of the machines were not computed")
    return control_panel(family, plain(title), label, curves)


def _arrange(filters: list[tuple[Label, Picture]], panels: list[Panel]) -> Figure:
    figure = new_figure(DOUBLE, 2.75)
    grid = figure.add_gridspec(FILTERS, 3, width_ratios=(0.42, 1, 1))
    for row, (label, pictures) in enumerate(filters):
        ax = figure.add_subplot(grid[row, 0])
        picture = flat(pictures)[min(1, len(pictures) - 1)]  # the first may carry the order, and is uniform
        limit = symmetric_limit(picture)
        ax.imshow(picture, cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
        ax.set_ylabel(label.tex, fontsize=7)
        bare(ax)
    for place, panel in enumerate(panels, 1):
        ax = figure.add_subplot(grid[:, place])
        draw_panel(ax, panel)
        ax.set_title(panel.title.tex, loc="left", pad=12)
    add_legend(figure, panels)
    return figure
