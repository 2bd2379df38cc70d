"""The supplement: training curves, machines without biases, all filters, reconstruction errors."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from thermorbm.report.chart import (
    Chart,
    control_panel,
    curve_series,
    curves_chart,
    landmarks,
)
from thermorbm.report.comparing import NOWHERE_HIGHER, check_fall_with_size
from thermorbm.report.images import sheet_figure
from thermorbm.report.labels import (
    ABS_VARIANCE,
    N_HIDDEN,
    PER_SPIN,
    PSEUDO_LIKELIHOOD,
    VISIBLE_VARIANCE,
    Label,
    percent,
    plain,
    size_label,
    text,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import (
    NO_MACHINES,
    ONE_SIZE,
    FamilyView,
    Missing,
    Values,
    estimate,
    look,
    need,
    points,
)
from thermorbm.report.section import Answer, FamilyFigure, Section, claim, decide
from thermorbm.report.sections import filter_sums, remarks
from thermorbm.report.sections.entropy import NO_COMMON, NO_LIKELIHOOD, common_values, likelihoods
from thermorbm.report.style import colour, marker

CROSS_ENTROPY = plain("cross entropy per unit")
ALL_TEMPERATURES = plain("all temperatures")
WITHOUT_BIASES = {
    "pseudo_likelihood_per_spin": PSEUDO_LIKELIHOOD + PER_SPIN,
    "visible_energy_variance_per_spin": VISIBLE_VARIANCE,
    "filter_sum_abs_variance": ABS_VARIANCE,
}
RECONSTRUCTION = {
    "cross_entropy": CROSS_ENTROPY,
    "energy_per_spin": Label(r"$|\Delta E|/N$", "|Δ<i>E</i>|/<i>N</i>"),
    "heat_capacity_per_spin": Label(r"$|\Delta c_V|$", "|Δ<i>c</i><sub>V</sub>|"),
}


def draw_training(family: FamilyView) -> Chart:
    """L~ and CE per epoch at the landmarks, and of the machines for all temperatures."""
    panels = []
    for value in [*landmarks(family), None]:
        role, title = ("union", ALL_TEMPERATURES) if value is None else ("main", family.at(value))
        machines = [machine for machine in family.machines(role) if machine["value"] == value]
        for key, label, scale in (
            ("pseudo_likelihood", PSEUDO_LIKELIHOOD + PER_SPIN, family.n_sites or 1),
            ("cross_entropy", CROSS_ENTROPY, 1),
        ):
            panels.append(Panel(title, plain("epoch"), label, _histories(family, machines, key, scale)))
    kept = [panel for panel in panels if panel.series]
    if not kept:
        raise Missing("training was too short to have curves")
    counts = Counter(str(look(machine, "verdict", "status") or "unknown") for machine in family.all_machines)
    caption = text(
        "Pseudo-likelihood per spin and cross entropy against the epoch; full lines for training "
        "configurations, dotted ones for held-out configurations. All machines of this family: {}.",
        ", ".join(f"{number} {status}" for status, number in sorted(counts.items())),
    )  # fmt: skip
    return curves_chart(caption, kept, columns=2, height=1.9)


def _histories(family: FamilyView, machines: list[Values], key: str, scale: float) -> tuple[Series, ...]:
    curves = []
    for index, machine in enumerate(machines):
        arrays = family.run.arrays(machine.get("file"))
        for prefix, dash in (("", "solid"), ("validation_", "dot")):
            values = arrays.get(f"history.{prefix}{key}")
            if values is not None and len(values) > 1:
                label = size_label(machine["n_hidden"]) + (" held out" if prefix else "")
                style: dict[str, Any] = {"colour": colour(index), "dash": dash}
                curves.append(series(label, arrays["history.epoch"], values / scale, **style))
    return tuple(curves)


def draw_zero_bias(family: FamilyView) -> Chart:
    """Machines without biases beside those with them."""
    n_hidden = family.smallest("zero-bias")
    panels = [
        control_panel(family, label, label, curves)
        for name, label in WITHOUT_BIASES.items()
        if (curves := _with_and_without(family, n_hidden, name))
    ]
    caption = text(
        "Machines whose biases were held at zero beside machines with biases, both with {}: "
        "pseudo-likelihood, variance of the visible energy, variance of the absolute filter sum.",
        size_label(n_hidden),
    )  # fmt: skip
    return curves_chart(caption, panels)


def _with_and_without(family: FamilyView, n_hidden: int, name: str) -> list[Series]:
    usual = points(family.indicators_of("main", n_hidden), "curves", name)
    without = points(family.indicators_of("zero-bias", n_hidden), "curves", name)
    return [
        *curve_series(plain("with biases"), usual, 0),
        *curve_series(plain("without biases"), without, 1, dash=None),
    ]


def draw_all_filters(family: FamilyView) -> list[Chart]:
    """Every filter of the machines for which they were kept, which are some of the smallest."""
    charts = []
    for machine in family.smallest_machines():
        arrays = family.run.arrays(look(machine, "weights", "file"))
        if "all_filters" in arrays and family.shape:
            filters = (arrays["all_filters"] * float(arrays["all_filters_scale"])).reshape(-1, *family.shape)
            charts.append(_sheet(family, machine, filters))
    if not charts:
        raise Missing("no machine's filters were all kept (`all_filters` in the study)")
    return charts


def _sheet(family: FamilyView, machine: Values, filters: np.ndarray[Any, Any]) -> Chart:
    value = machine["value"]
    layer = " One layer of the cube is shown." if len(family.shape or []) == 3 else ""
    words = "All {} filters of a machine at {}, in the order of the hidden units.{}"
    caption = text(words, len(filters), family.at(value), layer)
    id, title = f"-{value:g}-h{machine['n_hidden']}", ", " + family.at(value)
    return Chart(caption, sheet_figure(filters), lossy=True, id=id, title=title)


def draw_reconstruction(family: FamilyView) -> Chart:
    """How far generated configurations are from the data, against the number of hidden units."""
    if len(family.sizes()) < 2:
        raise Missing(ONE_SIZE if family.sizes() else NO_MACHINES["main"])
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
        "start, from the data. All against {}.", N_HIDDEN,
    )  # fmt: skip
    return curves_chart(caption, panels)


def _against_size(family: FamilyView, value: float, name: str, index: int) -> list[Series]:
    pairs = [(n_hidden, _error(family, n_hidden, value, name)) for n_hidden in family.sizes()]
    rows = [(n_hidden, *pair) for n_hidden, pair in pairs if pair is not None]
    if not rows:
        return []
    style: dict[str, Any] = {"colour": colour(index), "marker": marker(index)}
    return [series(family.at(value), *zip(*rows, strict=True), **style)]


def _error(family: FamilyView, n_hidden: int, value: float, name: str) -> tuple[float, float] | None:
    seen = family.observation("main", n_hidden, value)
    if name == "cross_entropy":
        return estimate(seen, "likelihood", "held_out", name)
    data = estimate(family.data_at(value), "thermal", name)
    made = estimate(seen, "generation", "magnetization_chain", name)
    if data is None or made is None:
        return None
    return abs(made[0] - data[0]), (made[1] ** 2 + data[1] ** 2) ** 0.5


@claim(
    "zero-bias",
    "Supp.",
    "Machines without biases give the same physics.",
    "L~ within 5 % at every common temperature",
)
def same_without_biases(family: FamilyView) -> Answer:
    n_hidden = family.smallest("zero-bias")
    without = likelihoods(family, "zero-bias")[n_hidden]
    usual = need(likelihoods(family).get(n_hidden), NO_MACHINES["main"])
    common = common_values(without, usual, reason=NO_COMMON)
    worst, x = max((abs(without[x] / usual[x] - 1), x) for x in common)
    words = "<i>L̃</i> differs by at most {}, at {} ({})"
    return decide(worst <= 0.05, words, percent(worst), family.at(x), size_label(n_hidden))


RECONSTRUCTION_IMPROVES = claim(
    "reconstruction",
    "Supp.",
    "The reconstruction error falls with <i>n</i><sub>h</sub>.",
    "cross entropy: " + NOWHERE_HIGHER,
)(check_fall_with_size("cross_entropy", NO_LIKELIHOOD))

SECTION = Section(
    "supplement",
    "Supplement and side remarks",
    figures=(
        FamilyFigure("supp-training", "Supp.", "Training curves", draw_training),
        FamilyFigure("supp-zero-bias", "Supp.", "Machines without biases", draw_zero_bias),
        *filter_sums.SUPPLEMENT,
        FamilyFigure("supp-reconstruction", "Supp.", "Reconstruction error", draw_reconstruction),
        *remarks.FIGURES,
        FamilyFigure("supp-filters", "Supp.", "All filters", draw_all_filters),
    ),
    claims=(*remarks.CLAIMS, same_without_biases, RECONSTRUCTION_IMPROVES),
)
