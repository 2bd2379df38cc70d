"""Visible energy: its mean and variance, and the paper's approximations to it (figure 7)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from markupsafe import Markup

from thermorbm.report.chart import (
    Chart,
    Column,
    as_theirs,
    column_charts,
    control_panel,
    curve_series,
    curves_chart,
    near_critical,
    peak_of,
    per_size,
)
from thermorbm.report.labels import Label, axis, by_size, percent, short, size_label, text, with_error
from thermorbm.report.panels import Panel
from thermorbm.report.rules import NO_TC, check_fall_with_size, check_peak, estimates_by, sized_items
from thermorbm.report.run import (
    NO_MACHINES,
    ONE_SIZE,
    FamilyView,
    Missing,
    Points,
    Run,
    need,
    need_some,
    points,
)
from thermorbm.report.section import Ruling, Section, compare, decide
from thermorbm.report.style import GREY, ORANGE, SKY
from thermorbm.study.results import Indicators, MachineResults

SECTION = Section("energy", "Visible energy")

MEAN, VARIANCE = "visible_energy_mean_per_spin", "visible_energy_variance_per_spin"
WITHOUT_BIASES = "zero_bias_energy_variance_per_spin"
APPROXIMATIONS = {
    "zero_bias": (Label(r"$\mathcal{E}_W(v)$"), GREY, "dash"),
    "absolute": (Label(r"$\widetilde{\mathcal{E}}_W(v)$"), ORANGE, "dot"),
    "all_up": (Label(r"$\widetilde{\mathcal{E}}_W(1)$"), SKY, "dashdot"),
}
NO_ENERGY = "visible energies were not computed"
NO_SCORES = "likelihoods were not computed"


@SECTION.figure("fig-7", "Fig. 7", "Visible energy")
def draw_energies(run: Run) -> list[Chart]:
    return column_charts(run, lambda column: bool(per_size(column, MEAN)), _draw_columns, NO_ENERGY)


def _draw_columns(columns: list[Column], id: str) -> Chart:
    panels = [_mean_panel(column) for column in columns] + [_variance_panel(column) for column in columns]
    caption = text(
        r"Mean (top) and variance (bottom) of the visible energy $\mathcal{E}_\theta$ of held-out "
        "configurations, per spin, against {}.{} {} "
        "Dashed and dotted: the approximations without biases, with absolute values, and with all spins up, "
        "for the smallest machines.",
        columns[0].family.run.control_symbol, as_theirs(columns), Markup(" ").join(map(_peaks, columns)),
    )  # fmt: skip
    return curves_chart(caption, panels, id, columns=len(columns))


def _mean_panel(column: Column) -> Panel:
    curves = per_size(column, column.family.scored(MEAN))
    if column.role == "main":
        for name, (label, colour, dash) in APPROXIMATIONS.items():
            curve = approximation_curve(column.family, name)
            curves += curve_series(label, curve, colour=colour, dash=dash, marker=None, width=1.4)
    return control_panel(column.family, column.title, axis(MEAN), curves)


def _variance_panel(column: Column) -> Panel:
    curves = per_size(column, column.family.scored(VARIANCE))
    without_biases = APPROXIMATIONS["zero_bias"][0] + ", "
    curves += per_size(column, WITHOUT_BIASES, without_biases, dash="dash", marker=None)
    return control_panel(column.family, column.title, axis(VARIANCE), curves)


def energies_of(machine: MachineResults) -> tuple[dict[str, float], int] | None:
    """Means of the visible energy ("full") and of its approximations, and the number of sites.

    Totals in nats, of held-out configurations; None if they were not computed.
    """
    seen = machine.observation()
    if not seen or not seen.visible_energy:
        return None
    energy = seen.visible_energy
    means = {"full": energy.held_out, "zero_bias": energy.zero_bias, "absolute": energy.absolute}
    return {**{name: m.mean.value for name, m in means.items()}, "all_up": energy.all_up}, seen.n_sites


def approximation_curve(family: FamilyView, name: str) -> Points:
    """<E_W> and the like per spin of the smallest machines, against the control parameter."""
    pairs = [(value, energies_of(machine)) for value, machine in family.smallest_machines()]
    return [(value, pair[0][name] / pair[1], 0.0) for value, pair in pairs if pair is not None]


def _peaks(column: Column) -> Markup:
    """Where the variance is largest among the temperatures, for each size."""
    family = column.family
    peaks = [
        (peak_of(points(item.curves.get(family.scored(VARIANCE)))), item.n_hidden) for item in column.items
    ]
    places = [text("{} ({})", family.at(peak[0]), size_label(n)) for peak, n in peaks if peak is not None]
    critical = "" if family.critical is None else text("; $T_c$ = {:.4f}", family.critical)
    return text("{}: largest variance at {}{}.", column.title, Markup(", ").join(places), critical)


def check_rise(family: FamilyView, item: Indicators) -> tuple[bool, Markup]:
    """Whether the mean visible energy nowhere goes down by more than two standard errors; also in words."""
    curve = need_some(points(item.curves.get(family.scored(MEAN))), NO_ENERGY)
    if len(curve) < 3:
        raise Missing("fewer than three temperatures")
    drops = [
        (y1 - y0, x1)
        for (_, y0, e0), (x1, y1, e1) in pairwise(curve)
        if y1 - y0 < -2 * (e0**2 + e1**2) ** 0.5
    ]
    size, ends = size_label(item.n_hidden), f"{short(curve[0][1], 3)} to {short(curve[-1][1], 3)} per spin"
    if not drops:
        return True, text("{}: rises all the way, {}", size, ends)
    step, x = min(drops, key=lambda drop: drop[0])
    words = "{}: {}, but falls {} times, most before {} (by {})"
    return False, text(words, size, ends, len(drops), family.at(x), short(-step, 2))


@SECTION.claim("energy-rises", "Fig. 7", "The mean visible energy rises with temperature.")
def mean_rises(family: FamilyView) -> Ruling:
    """No step down by more than 2 standard errors, smallest machines."""
    rises, words = check_rise(family, sized_items(family, NO_ENERGY)[0])
    return decide(rises, "{}", words)


def check_approximation(name: str) -> Callable[[FamilyView], Ruling]:
    """Whether an approximation is close to the visible energy."""

    def check(family: FamilyView) -> Ruling:
        """Means within 10 % at every temperature, smallest machines."""
        pairs = [(value, energies_of(machine)) for value, machine in family.smallest_machines()]
        means = [(value, pair[0]) for value, pair in pairs if pair is not None and pair[0]["full"]]
        rows = [(abs(mean[name] / mean["full"] - 1), value) for value, mean in means]
        need_some(rows, NO_ENERGY)
        worst, value = max(rows)
        size = size_label(family.smallest())
        return decide(worst <= 0.1, "off by at most {}, at {} ({})", percent(worst), family.at(value), size)

    return check


SECTION.claim(
    "energy-zero-bias", "Fig. 7", r"$\mathcal{E}_W(v)$, without biases, is close to $\mathcal{E}_\theta$."
)(check_approximation("zero_bias"))
SECTION.claim(
    "energy-absolute",
    "Fig. 7",
    r"$\widetilde{\mathcal{E}}_W(v)$, with absolute values, is close to $\mathcal{E}_\theta$.",
)(check_approximation("absolute"))
SECTION.claim(
    "energy-all-up",
    "Fig. 7",
    r"$\widetilde{\mathcal{E}}_W(1)$, all spins up, is close to $\mathcal{E}_\theta$.",
    2,
)(check_approximation("all_up"))
SECTION.claim("energy-variance", "Fig. 7", "The variance of the visible energy peaks near $T_c$.")(
    check_peak("main", VARIANCE)
)
SECTION.claim(
    "union-slope", "Fig. 7", "The mean visible energy of the all-temperature machine rises fastest at $T_c$."
)(check_peak("union", MEAN))
SECTION.claim("union-variance", "Fig. 7", "The variance of its visible energy peaks at $T_c$.")(
    check_peak("union", VARIANCE)
)
SECTION.claim("energy-size", "Text", "The mean visible energy falls with $n_h$.")(
    check_fall_with_size(MEAN, NO_ENERGY)
)


@SECTION.claim(
    "energy-largest", "Text", "At the largest $n_h$ it does not rise monotonically with temperature."
)
def largest_not_monotone(family: FamilyView) -> Ruling:
    """A step down by more than 2 standard errors."""
    largest = sized_items(family, NO_ENERGY, least=2)[-1]
    _check_largest_cover(family)
    rises, words = check_rise(family, largest)
    return decide(not rises, "{}", words)


@SECTION.claim("overfitting", "Text", "The largest machines overfit, which may be why their curves look odd.")
def largest_overfit(family: FamilyView) -> Ruling:
    """Near T_c L~ of held-out configurations exceeds that of training ones by more than for the smallest
    machines, by 3 standard errors.
    """
    value, sizes = near_critical(family), family.results.sizes()
    if len(sizes) < 2:
        raise Missing(ONE_SIZE)
    small, large = (_overfitting(family, n_hidden, value) for n_hidden in (sizes[0], sizes[-1]))
    gaps = by_size([(sizes[0], with_error(*small)), (sizes[-1], with_error(*large))])
    error = math.hypot(small[1], large[1])
    words = "held-out minus training L̃ per spin at {}: {}"
    return compare(large[0] - small[0], error, words, family.at(value), gaps)


def _overfitting(family: FamilyView, n_hidden: int, value: float) -> tuple[float, float]:
    """By how much L~ per spin of held-out configurations is above that of training ones, and its error."""
    scores = need(need(family.observation(n_hidden, value), NO_SCORES).likelihood, NO_SCORES)
    train, held_out = scores.train.pseudo_likelihood_per_spin, scores.held_out.pseudo_likelihood_per_spin
    return held_out.value - train.value, math.hypot(train.error, held_out.error)


@SECTION.claim("rounded-peak", "Text", "Peaks of the variance shift at the largest $n_h$.")
def peak_shifts_when_large(family: FamilyView) -> Ruling:
    """T_c of the largest machines is further from its target than that of the smallest, by 2 errors."""
    sizes = family.results.sizes()
    if len(sizes) < 2:
        raise Missing(ONE_SIZE)
    _check_largest_cover(family)
    try:
        rows = {row.n_hidden: row for row in estimates_by(family, "main", VARIANCE)}
    except Missing:
        rows = {}
    if sizes[0] not in rows or sizes[-1] not in rows:
        return _highest_point_shifts(family, sizes)
    first, last = rows[sizes[0]], rows[sizes[-1]]
    error = (first.error**2 + last.error**2) ** 0.5
    further = abs(last.distance or 0) > abs(first.distance or 0)
    return decide(further and abs(last.value - first.value) > 2 * error, "{}; {}", first.words, last.words)


def _check_largest_cover(family: FamilyView) -> None:
    """Missing where the largest machines stand at too few temperatures for a curve of their own."""
    sizes = need_some(family.results.sizes(), NO_MACHINES["main"])
    few, many = (len(family.results.first_seeds("main", n_hidden)) for n_hidden in (sizes[-1], sizes[0]))
    if 2 * few < many:
        raise Missing(f"the largest machines were trained at {few} of {many} temperatures alone")


def _highest_point_shifts(family: FamilyView, sizes: list[int]) -> Ruling:
    critical = need(family.critical, "T_c is not known")
    ends = [item for item in family.results.indicators_of() if item.n_hidden in (sizes[0], sizes[-1])]
    places = [need(peak_of(points(item.curves.get(VARIANCE))), NO_TC)[0] for item in ends]
    if len(places) < 2:
        raise Missing(NO_TC)
    further = abs(places[-1] - critical) > abs(places[0] - critical)
    return decide(further, "highest point {} → {}", family.at(places[0]), family.at(places[-1]))
