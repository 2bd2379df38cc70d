"""The supplement: training curves, machines without biases, all filters, reconstruction errors."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from thermorbm.report.chart import (
    Chart,
    Column,
    control_panel,
    curve_series,
    curves_chart,
    landmarks,
    per_size,
    sheet_figure,
)
from thermorbm.report.labels import N_HIDDEN, Label, axis, percent, plain, size_label, text
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.rules import check_fall_with_size
from thermorbm.report.run import NO_MACHINES, ONE_SIZE, FamilyView, Missing, need, pair_of, points
from thermorbm.report.section import Ruling, Section, decide
from thermorbm.report.sections import filter_sums, remarks
from thermorbm.report.sections.entropy import NO_COMMON, NO_LIKELIHOOD, common_values, likelihoods
from thermorbm.report.style import colour, marker
from thermorbm.study.quantities import QUANTITIES
from thermorbm.study.results import MachineResults

SECTION = Section("supplement", "Further figures")

CROSS_ENTROPY = plain("cross entropy per unit")
WITHOUT_BIASES = ("pseudo_likelihood_per_spin", "visible_energy_variance_per_spin", "filter_sum_abs_variance")
RECONSTRUCTION = {
    "cross_entropy": CROSS_ENTROPY,
    "energy_per_spin": Label(r"$|\Delta E|/N$"),
    "heat_capacity_per_spin": Label(r"$|\Delta c_V|$"),
}


@SECTION.family_figure("supp-training", "Supp.", "Training curves")
def draw_training(family: FamilyView) -> Chart:
    """L~ and CE per epoch at the landmarks, and of the machines for all temperatures."""
    panels, n_sites = [], need(next(iter(family.results.data), None), "there are no data").n_sites
    for value in [*landmarks(family), None]:
        role, title = ("union", plain(family.run.all_values)) if value is None else ("main", family.at(value))
        machines = [machine for machine in family.results.first_seeds(role) if machine.value == value]
        for key, label, scale in (
            ("pseudo_likelihood", axis("pseudo_likelihood_per_spin"), n_sites),
            ("cross_entropy", CROSS_ENTROPY, 1),
        ):
            panels.append(Panel(title, plain("epoch"), label, _histories(family, machines, key, scale)))
    kept = [panel for panel in panels if panel.series]
    if not kept:
        raise Missing("training was too short to have curves")
    counts = Counter(machine.verdict.status for machine in family.results.machines)
    caption = text(
        "Pseudo-likelihood per spin and cross entropy against the epoch; full lines for training "
        "configurations, dotted ones for held-out configurations. All machines of this family: {}.",
        ", ".join(f"{number} {status}" for status, number in sorted(counts.items())),
    )  # fmt: skip
    return curves_chart(caption, kept, columns=2, height=1.9)


def _histories(
    family: FamilyView, machines: list[MachineResults], key: str, scale: float
) -> tuple[Series, ...]:
    curves = []
    for index, machine in enumerate(machines):
        arrays = family.run.arrays(machine.file)
        for prefix, dash in (("", "solid"), ("validation_", "dot")):
            values = arrays.get(f"history.{prefix}{key}")
            if values is not None and len(values) > 1:
                label = size_label(machine.n_hidden) + (" held out" if prefix else "")
                style: dict[str, Any] = {"colour": colour(index), "dash": dash}
                curves.append(series(label, arrays["history.epoch"], values / scale, **style))
    return tuple(curves)


@SECTION.family_figure("supp-zero-bias", "Supp.", "Machines without biases")
def draw_zero_bias(family: FamilyView) -> Chart:
    """Machines without biases beside those with them."""
    n_hidden = family.smallest("zero-bias")
    panels = [
        control_panel(family, axis(name), axis(name), curves)
        for name in WITHOUT_BIASES
        if (curves := _with_and_without(family, n_hidden, name))
    ]
    caption = text(
        "Machines whose biases were held at zero beside machines with biases, both with {}: "
        "pseudo-likelihood, variance of the visible energy, variance of the absolute filter sum.",
        size_label(n_hidden),
    )  # fmt: skip
    return curves_chart(caption, panels)


def _with_and_without(family: FamilyView, n_hidden: int, name: str) -> list[Series]:
    usual = family.curve("main", n_hidden, name)
    without = family.curve("zero-bias", n_hidden, name)
    return [
        *curve_series(plain("with biases"), usual, 0),
        *curve_series(plain("without biases"), without, 1, dash=None),
    ]


SECTION.include(filter_sums.SUPPLEMENT)


@SECTION.family_figure("supp-reconstruction", "Supp.", "Reconstruction error")
def draw_reconstruction(family: FamilyView) -> Chart:
    """How far generated configurations are from the data, against the number of hidden units."""
    if len(family.results.sizes()) < 2:
        raise Missing(ONE_SIZE if family.results.sizes() else NO_MACHINES["main"])
    panels = []
    for name, label in RECONSTRUCTION.items():
        curves = [
            curve
            for index, value in enumerate(landmarks(family))
            for curve in _against_size(family, value, name, index)
        ]
        panels += [Panel(label, N_HIDDEN, label, tuple(curves))] if curves else []
    caption = text(
        "Left: cross entropy between held-out configurations and their reconstruction. Then: distance of "
        "energy and heat capacity of <i>v</i><sup>(7)</sup>, seven steps from the <i>p</i><sub>h</sub> "
        "start, from the data. All against $n_h$."
    )  # fmt: skip
    return curves_chart(caption, panels)


def _against_size(family: FamilyView, value: float, name: str, index: int) -> list[Series]:
    pairs = [(n_hidden, _error(family, n_hidden, value, name)) for n_hidden in family.results.sizes()]
    rows = [(n_hidden, *pair) for n_hidden, pair in pairs if pair is not None]
    if not rows:
        return []
    style: dict[str, Any] = {"colour": colour(index), "marker": marker(index)}
    return [series(family.at(value), *zip(*rows, strict=True), **style)]


def _error(family: FamilyView, n_hidden: int, value: float, name: str) -> tuple[float, float] | None:
    seen, data = family.observation(n_hidden, value), family.data_at(value)
    if name == "cross_entropy":
        return pair_of(seen.likelihood.held_out.cross_entropy) if seen and seen.likelihood else None
    made = seen.generation.magnetization_chain.thermal.get(name) if seen and seen.generation else None
    true = data.thermal.get(name) if data else None
    if made is None or true is None:
        return None
    return abs(made.value - true.value), math.hypot(made.error, true.error)


SECTION.include(remarks.PART)


@SECTION.family_figure("supp-filters", "Supp.", "All filters")
def draw_all_filters(family: FamilyView) -> list[Chart]:
    """Every filter of the machines for which they were kept, which are some of the smallest."""
    charts = []
    for value, machine in family.smallest_machines():
        arrays = family.run.arrays(machine.weights.file if machine.weights else None)
        if "all_filters" in arrays and family.shape:
            filters = (arrays["all_filters"] * float(arrays["all_filters_scale"])).reshape(-1, *family.shape)
            charts.append(_sheet(family, value, machine.n_hidden, filters))
    if not charts:
        raise Missing("no machine's filters were all kept (`all_filters` in the study)")
    return charts


def _sheet(family: FamilyView, value: float, n_hidden: int, filters: np.ndarray[Any, Any]) -> Chart:
    layer = " One layer of the cube is shown." if len(family.shape or []) == 3 else ""
    words = "All {} filters of a machine at {}, in the order of the hidden units.{}"
    caption = text(words, len(filters), family.at(value), layer)
    id, title = f"-{value:g}-h{n_hidden}", ", " + family.at(value)
    return Chart(caption, sheet_figure(filters), lossy=True, id=id, title=title)


@SECTION.family_figure("supp-quantities", "Supp.", "Further quantities")
def draw_further_quantities(family: FamilyView) -> list[Chart]:
    """Quantities that are measured by a function of their own, which no other figure shows; often none."""
    data, panels = family.thermodynamics.curves, []
    for name, quantity in QUANTITIES.items():
        curves = curve_series(plain("Monte Carlo data"), points(data.get(name)), marker="circle-open")
        for role in ("main", "symmetric", "union"):
            curves += per_size(Column(family, role), name)
        if quantity.measure is not None and curves:
            panels.append(control_panel(family, axis(name), axis(name), curves))
    caption = text("Further quantities of this study, against {}.", family.run.control_symbol)
    return [curves_chart(caption, panels)] if panels else []


@SECTION.claim("zero-bias", "Supp.", "Machines without biases give the same physics.")
def same_without_biases(family: FamilyView) -> Ruling:
    """L~ within 5 % at every common temperature."""
    n_hidden = family.smallest("zero-bias")
    without = likelihoods(family, "zero-bias")[n_hidden]
    usual = need(likelihoods(family).get(n_hidden), NO_MACHINES["main"])
    common = common_values(without, usual, reason=NO_COMMON)
    worst, x = max((abs(without[x] / usual[x] - 1), x) for x in common)
    words = "<i>L̃</i> differs by at most {}, at {} ({})"
    return decide(worst <= 0.05, words, percent(worst), family.at(x), size_label(n_hidden))


@SECTION.claim("reconstruction", "Supp.", "The reconstruction error falls with $n_h$.")
def reconstruction_improves(family: FamilyView) -> Ruling:
    """The cross entropy of larger machines is lower at most temperatures, nowhere higher by 2 errors."""
    return check_fall_with_size("cross_entropy", NO_LIKELIHOOD)(family)
