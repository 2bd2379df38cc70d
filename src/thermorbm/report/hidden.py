"""Table 1 and figure 5: what hidden layers look like."""

from __future__ import annotations

from markupsafe import Markup

from thermorbm.report.chart import (
    Chart,
    critical_mark,
    curve_series,
    curves_chart,
    landmarks,
    name_of,
    near_critical,
    outline,
    smallest,
)
from thermorbm.report.images import Picture, draw_layer, layer_strip
from thermorbm.report.labels import (
    DENSITY,
    N_HIDDEN,
    Label,
    at,
    control_label,
    plain,
    short,
    size_label,
    with_error,
)
from thermorbm.report.panels import Panel, Series, draw_panels, series
from thermorbm.report.run import Family, Missing, Values, estimate, look, observation
from thermorbm.report.style import colour

M_HIDDEN = Label("$m_h$", "<i>m</i><sub>h</sub>")
SIGN_RULE = plain("fraction obeying the sign rule")


def table_1(family: Family) -> Chart:
    """The sign rule against the control parameter."""
    found: list[Series] = []
    for index, item in enumerate(family.indicators()):
        found += curve_series(size_label(item["n_hidden"]), item["curves"].get("sign_rule"), index)
    for index, item in enumerate(family.indicators("union"), len(found)):
        label = "all temperatures, " + size_label(item["n_hidden"])
        found += curve_series(label, item["curves"].get("sign_rule"), index, dash="dot")
    if not found:
        raise Missing("hidden layers were not looked at")
    panel = Panel(
        "Sign rule: " + name_of(family),
        control_label(family.run),
        SIGN_RULE,
        tuple(found),
        critical_mark(family),
    )
    caption = Markup(
        "Fraction of all pairs of a configuration and a hidden unit with sign(<i>h<sub>i</sub></i>) = "
        "sign(<i>m</i>) sign(Σ<sub>j</sub><i>W<sub>ij</sub></i>). One half would be chance."
    )
    return curves_chart(f"tab-1-{family.name}", "Tab. 1", panel.title, caption, [panel])


def figure_5(family: Family) -> Chart:
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
    caption = Markup(
        "Distribution of the hidden magnetisation {} = "
        "Σ<sub>i</sub><i>h<sub>i</sub></i>/<i>n</i><sub>h</sub> at {}. {} Pictures: hidden layers of "
        "machines with {} wrapped to a rectangle, +1 black and −1 white; units have no neighbours, so "
        "patterns mean nothing."
    ).format(
        M_HIDDEN.markup,
        at(family.run, value).markup,
        _widths(family, value),
        size_label(smallest(family)).markup,
    )
    picture = layer_strip(layers) if layers else None
    return Chart(f"fig-5-{family.name}", "Fig. 5", panel.title, caption, figure, (panel,), picture)


def _histogram_panel(family: Family, value: float) -> Panel:
    found = []
    for index, n_hidden in enumerate(family.sizes()):
        seen = _observed(family, n_hidden, value)
        arrays = family.run.arrays(look(seen, "file"))
        if "hidden.edges" in arrays:
            line = outline(arrays["hidden.edges"], arrays["hidden.density"])
            found.append(series(size_label(n_hidden), *line, colour=colour(index)))
    if not found:
        raise Missing("hidden layers were not looked at")
    reach = max(float(abs(item.x[item.y > 0]).max()) for item in found)
    limits = (-1.05 * reach, 1.05 * reach)
    title = "Hidden magnetisation: " + name_of(family)
    return Panel(title, M_HIDDEN, DENSITY, tuple(found), x_range=limits)


def _observed(family: Family, n_hidden: int, value: float) -> Values | None:
    machine = family.machine("main", n_hidden, value)
    return None if machine is None else observation(machine)


def _layers(family: Family) -> list[tuple[Label, Picture]]:
    """A hidden layer of the smallest machines at each landmark."""
    found = []
    for value in landmarks(family):
        seen = _observed(family, smallest(family), value)
        arrays = family.run.arrays(look(seen, "file"))
        if "hidden_layers" in arrays:
            found.append((at(family.run, value), arrays["hidden_layers"][0]))
    return found


def _widths(family: Family, value: float) -> Markup:
    """Mean, standard deviation and bimodality for each size."""
    told = []
    for n_hidden in family.sizes():
        known = look(_observed(family, n_hidden, value), "hidden", "magnetization")
        mean = estimate(known, "mean")
        if mean is not None:
            told.append(
                Markup("{}: mean {}, standard deviation {}, bimodality {}").format(
                    size_label(n_hidden).markup,
                    with_error(*mean),
                    short(known["variance"] ** 0.5, 3),
                    short(known["bimodality"], 2),
                )
            )
    return Markup("For {}.").format(Markup("; ").join(told))


def sign_rule_rows(family: Family) -> tuple[list[Markup], list[list[str]]]:
    """Table 1 in numbers: a row per value, a column per size."""
    machines = family.indicators()
    curves = [item["curves"].get("sign_rule") for item in machines]
    if not any(curves):
        raise Missing("hidden layers were not looked at")
    values = sorted({x for curve in curves if curve for x in curve["x"]})
    columns = [control_label(family.run).markup] + [
        Markup("{} = {}").format(N_HIDDEN.markup, item["n_hidden"]) for item in machines
    ]
    return columns, [[f"{value:g}", *(_cell(curve, value) for curve in curves)] for value in values]


def _cell(curve: Values | None, value: float) -> str:
    if not curve or value not in curve["x"]:
        return "–"
    place = curve["x"].index(value)
    if curve["values"][place] is None:
        return "–"
    return with_error(curve["values"][place], curve["errors"][place])
