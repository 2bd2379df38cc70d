"""The machine as a drawing (figure 1), methods, and everything that was trained, with recipes and times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes

from thermorbm.report.chart import Chart
from thermorbm.report.labels import N_HIDDEN, axis, cell, short
from thermorbm.report.run import FamilyView, Run
from thermorbm.report.section import Cell, PageTable, Section
from thermorbm.report.sections.energy import MEAN, VARIANCE
from thermorbm.report.style import BLACK, BLUE, GREY, SINGLE, VERMILION, new_figure
from thermorbm.study.results import MachineResults

SECTION = Section("machine", "The machine")
METHODS = Section("methods", "Methods")
MACHINES = Section("machines", "Machines")
PROVENANCE = Section("provenance", "Timings and versions")

N_HIDDEN_DRAWN, N_VISIBLE_DRAWN = 6, 9
OTHER_HAMILTONIANS = Markup(
    "<b>Other Hamiltonians.</b> Where the study names one, energies, <i>S̃</i>, certificates and exact values "
    "are its own. Where its terms compete, chains at a temperature change places with hotter ones (parallel "
    "tempering). A random sign, or that of a sublattice, is used where <i>H</i> has that symmetry. In the "
    "place of |<i>m</i>| stands the overlap with the ground state where one satisfies every term (the "
    "sublattice magnetisation of antiferromagnets), and else the component along the leading principal "
    "component of the data, found on the other half of them. A peak of the heat capacity need not be a "
    "transition there."
)


@SECTION.figure("fig-1", "Fig. 1", "The machine")
def draw_machine(run: Run) -> Chart:
    figure = new_figure(SINGLE, 2.0)
    ax = figure.subplots()
    hidden = [(1.5 + 1.2 * i, 1.0) for i in range(N_HIDDEN_DRAWN)]
    visible = [(float(j), 0.0) for j in range(N_VISIBLE_DRAWN)]
    for index, (x, y) in reversed(list(enumerate(hidden))):
        for x2, y2 in visible:
            first = index == 0
            style: dict[str, Any] = {
                "color": VERMILION if first else "#c8c8c8",
                "linewidth": 1.2 if first else 0.4,
            }
            ax.plot([x, x2], [y, y2], zorder=2 if first else 1, **style)
    _units(ax, hidden, "#fde3d0", VERMILION, "h")
    _units(ax, visible, "#d6e9f5", BLUE, "v")
    _legend_texts(ax)
    ax.set(xlim=(-1.6, 9.6), ylim=(-0.38, 1.38))
    ax.set_axis_off()
    caption = Markup(
        "A restricted Boltzmann machine with six hidden units <i>h<sub>i</sub></i> and nine visible units "
        "<i>v<sub>j</sub></i>, all ±1. Every line is a coupling <i>W<sub>ij</sub></i>; the filter of the "
        "first hidden unit is orange-red. Units of one layer are not coupled. <i>b<sub>j</sub></i> and "
        "<i>c<sub>i</sub></i> are biases. In this report the visible units are the spins of a "
        "configuration."
    )
    return Chart(caption, figure)


def _units(ax: Axes, places: list[tuple[float, float]], face: str, edge: str, name: str) -> None:
    for index, (x, y) in enumerate(places, 1):
        ax.plot([x], [y], "o", markersize=12.5, color=face, markeredgecolor=edge, markeredgewidth=1, zorder=3)
        ax.text(
            x, y - 0.012, f"${name}_{index}$", ha="center", va="center", fontsize=7, color=BLACK, zorder=4
        )


def _legend_texts(ax: Axes) -> None:
    ax.text(4.5, 1.27, r"hidden layer, biases $c_i$", ha="center", va="center", fontsize=7.5)
    ax.text(4.0, -0.27, r"visible layer, biases $b_j$", ha="center", va="center", fontsize=7.5)
    ax.text(-0.15, 0.62, r"filter $\mathbf{w}_1^T$", ha="right", va="center", fontsize=7.5, color=VERMILION)
    ax.text(8.4, 0.62, r"$W_{ij}$", ha="left", va="center", fontsize=7.5, color=GREY)


SAMPLING = Markup(
    "<b>Configurations.</b> Ising configurations are sampled on periodic lattices by checkerboard "
    "Metropolis updates of many independent replicas (or by cluster updates where the study says "
    "so). Burn-in and spacing come from measured autocorrelation times, and every dataset carries "
    "a certificate. A random global sign makes both signs of <i>m</i> equally frequent unless the "
    "study says otherwise."
)
RECEIVED = Markup(
    "<b>Configurations.</b> They were given by the user and are taken as they are. Nothing is known of "
    "the model behind them: energies, heat capacities, exact curves and pseudo-entropies are left out."
)
ABOUT_MACHINES = Markup(
    "<b>Machines.</b> Units are ±1; <i>E</i><sub>θ</sub>(<i>v</i>, <i>h</i>) = −<i>b·v</i> − "
    "<i>c·h</i> − <i>h·Wv</i>. The visible energy is ℰ<sub>θ</sub>(<i>v</i>) = −<i>b·v</i> − "
    "Σ<sub>i</sub> ln 2 cosh(<i>w<sub>i</sub>·v</i> + <i>c<sub>i</sub></i>), the pseudo-likelihood "
    "<i>L̃</i> = −⟨Σ<sub>i</sub> ln <i>p</i>(<i>v<sub>i</sub></i> | rest)⟩ over all sites. <i>L̃</i> and "
    "cross entropy are those of held-out configurations. The order of hidden units, and the sign of a "
    "filter together with that of its bias, are not unique: another seed gives other ones."
)
ENTROPIES = Markup(
    "<b>What <i>L̃</i> measures.</b> The pseudo-entropy <i>S̃</i> is <i>L̃</i> with the Ising model's own "
    "conditionals. Conditioning lowers entropy, so that <i>S̃</i> ≤ <i>S</i>, and a perfect machine has "
    "<i>L̃</i> = <i>S̃</i>, not <i>S</i>. Where <i>L̃</i> of a small machine comes close to <i>S</i>, two "
    "errors cancel."
)
TRANSITION = Markup(
    "<b>Where the transition is.</b> Each indicator is fitted by smooth random curves through its points; "
    "the spread of their maxima is the error."
)
TARGETS = Markup(
    " Heat-capacity-like indicators are set against the peak of the exact heat capacity of the same "
    "lattice, magnetisation-like ones against the peak of the susceptibility of |<i>m</i>|; the distance "
    "from the infinite lattice is shown beside it."
)
CORRECTED = Markup(
    "<b>Where the printed paper is corrected.</b> The pseudo-entropy has a logarithm; the linear "
    "interpolation of <i>p</i><sub>h</sub> falls from 1 at <i>T</i><sub>L</sub> to 1/2 at "
    "<i>T</i><sub>H</sub>; exact curves are those of the finite lattice (Kaufman), not of the "
    "infinite one (Onsager)."
)


@METHODS.set_words
def write_methods(run: Run) -> list[Markup]:
    """Methods, as far as they are the same in every study of the Ising model, or in all others."""
    kinds = [family.results for family in run.families]
    about_data = [SAMPLING] if run.speaks_of_paper else []
    about_data += [OTHER_HAMILTONIANS] if any(kind.model is not None for kind in kinds) else []
    about_data += [RECEIVED] if any(not kind.has_energy for kind in kinds) else []
    if run.speaks_of_paper:
        return [*about_data, ABOUT_MACHINES, ENTROPIES, TRANSITION + TARGETS, CORRECTED]
    return [*about_data, ABOUT_MACHINES, TRANSITION]


@METHODS.table
def recipe_tables(run: Run) -> list[PageTable]:
    """Every recipe that was used, one column each; sizes of a group that have one of their own are named."""
    recipes: dict[str, Mapping[str, Any]] = {}
    for family in run.families:
        for machine in family.results.machines:
            name = f"{family.name} {machine.variant}"
            if recipes.setdefault(name, machine.recipe) != machine.recipe:
                recipes[f"{name} {machine.n_hidden}"] = machine.recipe
    names = list(dict.fromkeys(name for recipe in recipes.values() for name in recipe))
    rows = [
        [name.replace("_", " "), *(str(recipe.get(name, "–")) for recipe in recipes.values())]
        for name in names
    ]
    return [PageTable(["", *recipes], rows, "Recipes as they were used")]


@MACHINES.set_words
def write_about_machines(run: Run) -> list[Markup]:
    return [
        Markup(
            "Every machine with its recipe, and whether training converged. <i>L̃</i> and CE (cross entropy) "
            "and visible energies, per spin, are those of held-out configurations; tables/summary.csv has "
            "those of training configurations too. Learnt is the share of the correlations, from 0 for spins "
            "that are independent but for their common order to 1 for a perfect machine; mere order says "
            "that a machine knows that order, is saturated, and knows no more."
        )
    ]


@MACHINES.family_table()
def machine_table(family: FamilyView) -> PageTable:
    """Every machine with its training and what it reached."""
    axes = [axis(name).html for name in ("nll_per_spin", MEAN, VARIANCE)]
    columns = [
        "Group", family.run.control_symbol.html, N_HIDDEN.html, "Seed", "Recipe", "Epochs", "Training",
        "Converged", axis("pseudo_likelihood_per_spin").html, "CE", *axes, "Learnt",
    ]  # fmt: skip
    rows = [_machine_row(machine) for machine in family.results.machines]
    return PageTable(columns, rows, f"{family.name}: {len(rows)} machines")


def _machine_row(machine: MachineResults) -> list[Cell]:
    seen = machine.observations[0] if machine.value is not None and machine.observations else None
    scores = seen.likelihood.held_out if seen and seen.likelihood else None
    energy = seen.visible_energy.held_out if seen and seen.visible_energy else None
    return [
        machine.variant,
        "all" if machine.value is None else f"{machine.value:g}",
        str(machine.n_hidden),
        str(machine.seed_index),
        str(machine.recipe["name"]),
        short(machine.last_record.get("epoch"), 3),
        str(machine.n_train),
        machine.verdict.status,
        cell(scores.pseudo_likelihood_per_spin if scores else None),
        cell(scores.cross_entropy if scores else None),
        cell(seen.bracket.nll_per_spin if seen and seen.bracket else None),
        cell(energy.mean if energy else None, seen.n_sites if seen else 1),
        cell(energy.variance if energy else None, seen.n_sites if seen else 1),
        cell(seen.correlations_learnt if seen else None),
    ]


@PROVENANCE.table
def provenance_tables(run: Run) -> list[PageTable]:
    """Times by kind of task, and versions of programs."""
    timings = run.results.timings
    rows = [[kind, short(seconds)] for kind, seconds in timings.cpu_seconds_by_kind.items()]
    rows.append(["all", short(timings.cpu_seconds)])
    computer = f"{timings.processor}, {timings.platform}"
    programs = [[name, version] for name, version in run.results.versions.items()]
    return [
        PageTable(["Kind of task", "CPU seconds"], rows, computer, style="plain"),
        PageTable(["Program", "Version"], programs, style="plain"),
    ]
