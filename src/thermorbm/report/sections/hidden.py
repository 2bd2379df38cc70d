"""The hidden layer: the sign rule (table 1) and the hidden magnetisation (figure 5)."""

from __future__ import annotations

from itertools import pairwise

from markupsafe import Markup

from thermorbm.report.chart import (
    Chart,
    Picture,
    control_panel,
    curve_series,
    curves_chart,
    draw_layer,
    landmarks,
    layer_strip,
    near_critical,
    outline as histogram_outline,
)
from thermorbm.report.labels import (
    DENSITY,
    Label,
    by_size,
    cell,
    plain,
    short,
    size_label,
    text,
    with_error,
)
from thermorbm.report.panels import Panel, Series, draw_panels, series
from thermorbm.report.rules import FLAT
from thermorbm.report.run import ONE_SIZE, FamilyView, Missing, need, need_some, points
from thermorbm.report.section import PageTable, Ruling, Section, decide
from thermorbm.report.style import colour
from thermorbm.study.results import Hidden

SECTION = Section("hidden", "Hidden layer")

M_HIDDEN = Label("$m_h$")
NO_HIDDEN = "hidden layers were not looked at"


@SECTION.family_figure("tab-1", "Tab. 1", "Sign rule")
def draw_sign_rule(family: FamilyView) -> Chart:
    """The sign rule of table 1 against the control parameter."""
    family.check_uniform_order()
    curves: list[Series] = []
    for index, item in enumerate(family.results.indicators_of()):
        curves += curve_series(size_label(item.n_hidden), points(item.curves.get("sign_rule")), index)
    for index, item in enumerate(family.results.indicators_of("union")):
        label = f"{family.run.all_values}, " + size_label(item.n_hidden)
        curves += curve_series(label, points(item.curves.get("sign_rule")), index, dash="dot")
    need_some(curves, NO_HIDDEN)
    caption = Markup(
        "Fraction of all pairs of a configuration and a hidden unit with sign(<i>h<sub>i</sub></i>) = "
        "sign(<i>m</i>) sign(Σ<sub>j</sub><i>W<sub>ij</sub></i>). One half would be chance."
    )
    label = plain("fraction obeying the sign rule")
    return curves_chart(caption, [control_panel(family, family.title, label, curves)])


@SECTION.family_figure("fig-5", "Fig. 5", "Hidden magnetisation")
def draw_magnetisation(family: FamilyView) -> Chart:
    value = near_critical(family)
    panel = _histogram_panel(family, value)
    figure = draw_panels([panel], columns=1, height=2.7)
    layers = _layers(family)
    low, high = figure.axes[0].get_ylim()
    figure.axes[0].set_ylim(low, high * 1.75)
    for index, (label, layer) in enumerate(layers):
        inset = figure.axes[0].inset_axes((0.02 + 0.34 * index, 0.66, 0.28, 0.26))
        draw_layer(inset, layer)
        inset.set_title(label.tex, fontsize=6, pad=2)
    caption = text(
        "Distribution of the hidden magnetisation $m_h$ = "
        "Σ<sub>i</sub><i>h<sub>i</sub></i>/<i>n</i><sub>h</sub> at {}. For {}. Pictures: hidden layers of "
        "machines with {} wrapped to a rectangle, +1 black and −1 white; units have no neighbours, so "
        "patterns mean nothing.",
        family.at(value), _widths(family, value), size_label(family.smallest()),
    )  # fmt: skip
    return Chart(caption, figure, (panel,), layer_strip(layers) if layers else None)


def _histogram_panel(family: FamilyView, value: float) -> Panel:
    curves = []
    for index, n_hidden in enumerate(family.results.sizes()):
        arrays = family.observed_arrays(n_hidden, value)
        if "hidden.edges" in arrays:
            line = histogram_outline(arrays["hidden.edges"], arrays["hidden.density"])
            curves.append(series(size_label(n_hidden), *line, colour=colour(index)))
    need_some(curves, NO_HIDDEN)
    reach = 1.05 * max(float(abs(item.x[item.y > 0]).max()) for item in curves)
    return Panel(family.title, M_HIDDEN, DENSITY, tuple(curves), x_range=(-reach, reach))


def _layers(family: FamilyView) -> list[tuple[Label, Picture]]:
    """A hidden layer of the smallest machines at each landmark."""
    layers = []
    for value in landmarks(family):
        arrays = family.observed_arrays(family.smallest(), value)
        if "hidden_layers" in arrays:
            layers.append((family.at(value), arrays["hidden_layers"][0]))
    return layers


def _widths(family: FamilyView, value: float) -> Markup:
    """Mean, standard deviation and bimodality for each size."""
    rows = []
    for n_hidden in family.results.sizes():
        seen = family.observation(n_hidden, value)
        if seen and seen.hidden:
            m = seen.hidden.magnetization
            numbers = cell(m.mean), short(m.variance**0.5, 3), short(m.bimodality, 2)
            rows.append((n_hidden, "mean {}, standard deviation {}, bimodality {}".format(*numbers)))
    return by_size(rows)


@SECTION.family_table()
def sign_rule_table(family: FamilyView) -> PageTable:
    """Table 1 in numbers: a row per value, a column per size."""
    items = family.results.indicators_of() if family.results.orders_uniformly else []
    curves = [{x: (y, error) for x, y, error in points(i.curves.get("sign_rule"))} for i in items]
    values = sorted({x for curve in curves for x in curve})
    cells = [{x: with_error(*pair) for x, pair in curve.items()} for curve in curves]
    rows = [[f"{x:g}", *(column.get(x, "–") for column in cells)] for x in values]
    sizes = [text("$n_h$ = {}", item.n_hidden) for item in items]
    columns = [family.run.control_label.html, *sizes]
    return PageTable(columns, rows, text("Sign rule in numbers, {}", family.name))


@SECTION.claim("sign-rule", "Tab. 1", r"sign($h_i$) = sign($m$) sign($\Sigma_j W_{ij}$).")
def sign_rule_obeyed(family: FamilyView) -> Ruling:
    """More than half of the pairs obey it, by 3 standard errors, at every temperature below T_c."""
    critical = need(family.critical, "T_c is not known")
    item = need(next(iter(family.results.indicators_of()), None), NO_HIDDEN)
    curve = need_some(points(item.curves.get("sign_rule")), NO_HIDDEN)
    ordered = [value - 3 * error > 0.5 for x, value, error in curve if x <= critical]
    need_some(ordered, "there are no temperatures below T_c")
    shown = [(x, with_error(y, error)) for x, y, error in curve if x in landmarks(family)]
    words = family.list_at(shown)
    return decide(all(ordered), "fraction {} ({})", words, size_label(item.n_hidden))


def hidden_at(family: FamilyView, n_hidden: int, value: float) -> Hidden:
    """What was read of the hidden layer of one machine."""
    return need(need(family.observation(n_hidden, value), NO_HIDDEN).hidden, NO_HIDDEN)


@SECTION.claim("mh-mean", "Fig. 5", "The mean hidden magnetisation is zero.", 2)
def mean_magnetisation_zero(family: FamilyView) -> Ruling:
    """Deviation from zero: |mean| <= 0.05 or 4 standard errors below, near and above T_c."""
    means = {
        value: hidden_at(family, family.smallest(), value).magnetization.mean for value in landmarks(family)
    }
    holds = all(abs(mean.value) <= max(0.05, 4 * mean.error) for mean in means.values())
    words = family.list_at([(value, cell(mean)) for value, mean in means.items()])
    return decide(holds, "⟨<i>m</i><sub>h</sub>⟩ = {}", words)


@SECTION.claim("mh-bimodal", "Fig. 5", "Near $T_c$ its distribution has two peaks for the smallest $n_h$.", 2)
def two_peaks_when_small(family: FamilyView) -> Ruling:
    """Sarle's coefficient above 5/9."""
    value, n_hidden = near_critical(family), family.smallest()
    coefficient = hidden_at(family, n_hidden, value).magnetization.bimodality
    words = "Sarle's coefficient {} at {}, {}"
    return decide(coefficient > FLAT, words, short(coefficient, 2), family.at(value), size_label(n_hidden))


@SECTION.claim("mh-narrower", "Fig. 5", "It gets narrower with $n_h$.", 2)
def narrower_when_large(family: FamilyView) -> Ruling:
    """The standard deviation near T_c falls from size to size; of free units it goes as n_h^(-1/2)."""
    value, sizes = near_critical(family), family.results.sizes()
    if len(sizes) < 2:
        raise Missing(ONE_SIZE)
    widths = [hidden_at(family, n, value).magnetization.variance ** 0.5 for n in sizes]
    falls = all(after < before for before, after in pairwise(widths))
    words = by_size([(n, short(width, 3)) for n, width in zip(sizes, widths, strict=True)])
    return decide(falls, "standard deviation {}", words)


@SECTION.claim("permutation", "Text", "Permuting hidden units changes nothing.", of_any_model=True)
def permutation_changes_nothing(family: FamilyView) -> Ruling:
    """An identity of every machine: visible energies agree within rounding, 1e-5 of themselves."""
    change = hidden_at(family, family.smallest(), near_critical(family)).permutation_difference
    return decide(change <= 1e-5, "largest relative change of a visible energy {}", short(change, 2))
