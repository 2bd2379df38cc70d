"""First screen of data without a known model: how ordered they are, and which fields machines learned."""

from __future__ import annotations

import math

from markupsafe import Markup

from thermorbm.report.chart import control_panel, curve_series
from thermorbm.report.labels import NOTHING, Label, axis, plain, text, with_error
from thermorbm.report.panels import Panel
from thermorbm.report.run import FamilyView, Missing, Points, points
from thermorbm.report.style import BLACK, VERMILION

ORDER = "abs_magnetization_per_spin"
FIELD = Label(r"$\langle b_j\rangle$")


def order_panel(family: FamilyView) -> Panel:
    """|m| of the data and the mean visible bias of machines, against the control parameter."""
    curves = [
        *curve_series(axis(ORDER) + " of the data", _order(family), colour=BLACK, marker="circle-open"),
        *curve_series(FIELD + ", mean field on a spin", fields(family), colour=VERMILION, marker="square"),
    ]
    return control_panel(family, NOTHING, plain("per spin"), curves)


def _order(family: FamilyView) -> Points:
    curve = points(family.thermodynamics.curves.get(ORDER))
    if not curve:
        raise Missing("averages of the configurations were not computed")
    return curve


def fields(family: FamilyView) -> Points:
    """The mean visible bias of the smallest machines, with its error among the spins."""
    try:
        rows = [(value, machine.weights) for value, machine in family.smallest_machines()]
    except Missing:
        return []
    return [(x, w.b.mean, math.sqrt(w.b.variance / w.b.n_values)) for x, w in rows if w]


def order_words(family: FamilyView) -> list[Markup]:
    """From where to where order and field go."""
    words = [text("The order of the data, ⟨|<i>m</i>|⟩, goes from {} to {}.", *_ends(family, _order(family)))]
    if learned := fields(family):
        sentence = "The mean field on a spin that machines learned, the visible bias, goes from {} to {}."
        words.append(text(sentence, *_ends(family, learned)))
    return words


def _ends(family: FamilyView, curve: Points) -> list[Markup]:
    return [text("{} at {}", with_error(y, error), family.at(x)) for x, y, error in (curve[0], curve[-1])]
