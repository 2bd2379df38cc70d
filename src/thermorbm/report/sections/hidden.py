"""The hidden layer: the sign rule (table 1) and the hidden magnetisation (figure 5)."""

from __future__ import annotations

from itertools import pairwise

from markupsafe import Markup

from thermorbm.report.chart import Chart, control_panel, curve_series, curves_chart, landmarks, near_critical
from thermorbm.report.chart import outline as histogram_outline
from thermorbm.report.images import Picture, draw_layer, layer_strip
from thermorbm.report.labels import (
    DENSITY,
    N_HIDDEN,
    Label,
    by_size,
    list_with,
    pair_cell,
    plain,
    short,
    size_label,
    text,
    with_error,
)
from thermorbm.report.moments import FLAT
from thermorbm.report.panels import Panel, Series, draw_panels, series
from thermorbm.report.run import ONE_SIZE, FamilyView, Missing, Run, Values, estimate, look, need, points
from thermorbm.report.section import Answer, FamilyFigure, PageTable, Section, claim, decide
from thermorbm.report.style import colour

M_HIDDEN = Label("$m_h$", "<i>m</i><sub>h</sub>")
NO_HIDDEN = "hidden layers were not looked at"


def draw_sign_rule(family: FamilyView) -> Chart:
    """The sign rule of table 1 against the control parameter."""
    curves: list[Series] = []
    for index, item in enumerate(family.indicators()):
        curves += curve_series(size_label(item["n_hidden"]), points(item, "curves", "sign_rule"), index)
    for index, item in enumerate(family.indicators("union"), len(curves)):
        label = "all temperatures, " + size_label(item["n_hidden"])
        curves += curve_series(label, points(item, "curves", "sign_rule"), index, dash="dot")
    if not curves:
        raise Missing(NO_HIDDEN)
    caption = Markup(
        "Fraction of all pairs of a configuration and a hidden unit with sign(<i>h<sub>i</sub></i>) = "
        "sign(<i>m</i>) sign(Σ<sub>j</sub><i>W<sub>ij</sub></i>). One half would be chance."
    )
    label = plain("fraction obeying the sign rule")
    return curves_chart(caption, [control_panel(family, family.title, label, curves)])


def draw_magnetisation(family: FamilyView) -> Chart:
    """Figure 5."""
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
        "Distribution of the hidden magnetisation {} = "
        "Σ<sub>i</sub><i>h<sub>i</sub></i>/<i>n</i><sub>h</sub> at {}. For {}. Pictures: hidden layers of "
        "machines with {} wrapped to a rectangle, +1 black and −1 white; units have no neighbours, so "
        "patterns mean nothing.",
        M_HIDDEN, family.at(value), _widths(family, value), size_label(family.smallest()),
    )  # fmt: skip
    return Chart(caption, figure, (panel,), layer_strip(layers) if layers else None)


def _histogram_panel(family: FamilyView, value: float) -> Panel:
    curves = []
    for index, n_hidden in enumerate(family.sizes()):
        arrays = family.run.arrays(look(family.observation("main", n_hidden, value), "file"))
        if "hidden.edges" in arrays:
            line = histogram_outline(arrays["hidden.edges"], arrays["hidden.density"])
            curves.append(series(size_label(n_hidden), *line, colour=colour(index)))
    if not curves:
        raise Missing(NO_HIDDEN)
    reach = 1.05 * max(float(abs(item.x[item.y > 0]).max()) for item in curves)
    return Panel(family.title, M_HIDDEN, DENSITY, tuple(curves), x_range=(-reach, reach))


def _layers(family: FamilyView) -> list[tuple[Label, Picture]]:
    """A hidden layer of the smallest machines at each landmark."""
    layers = []
    for value in landmarks(family):
        arrays = family.run.arrays(look(family.observation("main", family.smallest(), value), "file"))
        if "hidden_layers" in arrays:
            layers.append((family.at(value), arrays["hidden_layers"][0]))
    return layers


def _widths(family: FamilyView, value: float) -> Markup:
    """Mean, standard deviation and bimodality for each size."""
    rows = []
    for n_hidden in family.sizes():
        moments = look(family.observation("main", n_hidden, value), "hidden", "magnetization")
        mean = estimate(moments, "mean")
        if mean is not None:
            numbers = with_error(*mean), short(moments["variance"] ** 0.5, 3), short(moments["bimodality"], 2)
            rows.append((n_hidden, "mean {}, standard deviation {}, bimodality {}".format(*numbers)))
    return by_size(rows)


def sign_rule_tables(run: Run) -> list[PageTable]:
    """Table 1 in numbers: a row per value, a column per size."""
    tables = []
    for family in run.families:
        items = family.indicators()
        curves = [{x: (value, error) for x, value, error in points(i, "curves", "sign_rule")} for i in items]
        if any(curves):  # else the figure beside it says why
            values = sorted({x for curve in curves for x in curve})
            sizes = [text("{} = {}", N_HIDDEN, item["n_hidden"]) for item in items]
            rows = [[f"{x:g}", *(pair_cell(curve.get(x)) for curve in curves)] for x in values]
            caption = text("Table 1 in numbers, {}", family.name)
            tables.append(PageTable([run.control_label.markup, *sizes], rows, caption))
    return tables


@claim(
    "sign-rule",
    "Tab. 1",
    "sign(<i>h<sub>i</sub></i>) = sign(<i>m</i>) sign(Σ<sub>j</sub><i>W<sub>ij</sub></i>).",
    "more than half of the pairs obey it, by 3 standard errors, at every temperature below T_c",
)
def sign_rule_obeyed(family: FamilyView) -> Answer:
    critical = need(family.critical, "T_c is not known")
    item = need(next(iter(family.indicators()), None), NO_HIDDEN)
    curve = need(points(item, "curves", "sign_rule") or None, NO_HIDDEN)
    ordered = [value - 3 * error > 0.5 for x, value, error in curve if x <= critical]
    if not ordered:
        raise Missing("there are no temperatures below T_c")
    shown = [(with_error(y, error), family.at(x)) for x, y, error in curve if x in landmarks(family)]
    words = list_with(" at ", shown)
    return decide(all(ordered), "fraction {} ({})", words, size_label(item["n_hidden"]))


def hidden_moments(family: FamilyView, n_hidden: int, value: float) -> Values:
    """Moments of the hidden magnetisation of one machine."""
    seen = family.observation("main", n_hidden, value)
    moments: Values = need(look(seen, "hidden", "magnetization"), NO_HIDDEN)
    return moments


@claim(
    "mh-mean",
    "Fig. 5",
    "The mean hidden magnetisation is zero.",
    "|mean| <= 0.05 or 4 standard errors below, near and above T_c",
)
def mean_magnetisation_zero(family: FamilyView) -> Answer:
    means = {
        value: need(estimate(hidden_moments(family, family.smallest(), value), "mean"), NO_HIDDEN)
        for value in landmarks(family)
    }
    holds = all(abs(mean) <= max(0.05, 4 * error) for mean, error in means.values())
    words = list_with(" at ", [(with_error(*mean), family.at(value)) for value, mean in means.items()])
    return decide(holds, "⟨<i>m</i><sub>h</sub>⟩ = {}", words)


@claim(
    "mh-bimodal",
    "Fig. 5",
    "Near <i>T</i><sub>c</sub> its distribution has two peaks for the smallest <i>n</i><sub>h</sub>.",
    "Sarle's coefficient above 5/9",
)
def two_peaks_when_small(family: FamilyView) -> Answer:
    value, n_hidden = near_critical(family), family.smallest()
    coefficient = float(hidden_moments(family, n_hidden, value)["bimodality"])
    words = "Sarle's coefficient {} at {}, {}"
    return decide(coefficient > FLAT, words, short(coefficient, 2), family.at(value), size_label(n_hidden))


@claim(
    "mh-narrower",
    "Fig. 5",
    "It gets narrower with <i>n</i><sub>h</sub>.",
    "the standard deviation near T_c falls from size to size",
)
def narrower_when_large(family: FamilyView) -> Answer:
    value, sizes = near_critical(family), family.sizes()
    if len(sizes) < 2:
        raise Missing(ONE_SIZE)
    widths = [float(hidden_moments(family, n, value)["variance"]) ** 0.5 for n in sizes]
    falls = all(after < before for before, after in pairwise(widths))
    words = by_size([(n, short(width, 3)) for n, width in zip(sizes, widths, strict=True)])
    return decide(falls, "standard deviation {}", words)


@claim(
    "permutation",
    "Text",
    "Permuting hidden units changes nothing.",
    "visible energies agree within 1e-5 of themselves",
)
def permutation_changes_nothing(family: FamilyView) -> Answer:
    """Needs `hidden.permutation_difference`: the largest relative change of a visible energy."""
    seen = family.observation("main", family.smallest(), near_critical(family))
    reason = "hidden units were not permuted in this study"
    change = need(look(seen, "hidden", "permutation_difference"), reason)
    return decide(change <= 1e-5, "largest relative change of a visible energy {}", short(change, 2))


SECTION = Section(
    "hidden",
    "Hidden layer",
    figures=(
        FamilyFigure("tab-1", "Tab. 1", "Sign rule", draw_sign_rule),
        FamilyFigure("fig-5", "Fig. 5", "Hidden magnetisation", draw_magnetisation),
    ),
    tables=(sign_rule_tables,),
    claims=(
        sign_rule_obeyed,
        mean_magnetisation_zero,
        two_peaks_when_small,
        narrower_when_large,
        permutation_changes_nothing,
    ),
)
