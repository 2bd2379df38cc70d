"""Figure 8, pseudo-likelihood beside entropy and pseudo-entropy, and the heat capacities that follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import Chart, critical_mark, curve_series, curves_chart
from thermorbm.report.columns import Column, chunks, columns, per_size
from thermorbm.report.critical import PER_T, SLOPE
from thermorbm.report.labels import (
    ENTROPY,
    N_HIDDEN,
    PER_SPIN,
    PSEUDO_ENTROPY,
    PSEUDO_LIKELIHOOD,
    UPPER_EDGE,
    Label,
    T,
    control_label,
    control_symbol,
    plain,
    size_label,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import Family, Missing, Run, Values, look
from thermorbm.report.style import BLACK, GREY, colour
from thermorbm.report.thermodynamics import data_series, exact_series


def figure_8(run: Run) -> list[Chart]:
    found = columns(run, lambda column: bool(per_size(column, "pseudo_likelihood_per_spin")))
    if not found:
        raise Missing("pseudo-likelihoods were not computed")
    return [_chart(part, index) for index, part in enumerate(chunks(found))]


def _chart(found: list[Column], index: int) -> Chart:
    caption = Markup(
        "Pseudo-likelihood {} of held-out configurations, entropy {} and pseudo-entropy {}, all per spin, "
        "against {}, for each {}. Dashed: fits near the transition. A perfect machine would lie "
        "on {}, not on {}. {}, where it was computed, is the upper edge of the entropy bracket {} ≤ {} ≤ {} "
        "from the largest machine: it needs held-out configurations alone."
    ).format(
        PSEUDO_LIKELIHOOD.markup, ENTROPY.markup, PSEUDO_ENTROPY.markup,
        control_symbol(found[0].family.run).markup, N_HIDDEN.markup,
        PSEUDO_ENTROPY.markup, ENTROPY.markup, UPPER_EDGE.markup,
        PSEUDO_ENTROPY.markup, ENTROPY.markup, UPPER_EDGE.markup,
    )  # fmt: skip
    number = "" if index == 0 else f"-{index + 1}"
    panels = [_panel(column) for column in found]
    return curves_chart(
        f"fig-8{number}", "Fig. 8", plain("Pseudo-likelihood and entropy"), caption, panels,
        columns=len(found), height=2.8,
    )  # fmt: skip


def _panel(column: Column) -> Panel:
    family = column.family
    found = [*entropy_series(family), *pseudo_entropy_series(family)]
    found += per_size(column, "pseudo_likelihood_per_spin", dash=None)
    found += upper_edges(column)[-1:]
    for index, item in enumerate(column.items):
        found += smooth_series(family, item, "pseudo_likelihood_per_spin", "fit", index)
    label = plain("nats per spin")
    return Panel(column.title, control_label(family.run), label, tuple(found), critical_mark(family))


def upper_edges(column: Column) -> list[Series]:
    """The upper edge of the entropy bracket for each number of hidden units."""
    look = {"marker": "triangle-down", "dash": "dashdot"}
    found = per_size(column, "entropy_upper_per_spin", **look)
    return [replace(item, name=UPPER_EDGE + PER_SPIN + ", " + item.name) for item in found]


def entropy_series(family: Family) -> list[Series]:
    """The exact entropy of the finite lattice, or the one by thermodynamic integration."""
    arrays = family.run.arrays(family.thermodynamics.get("file"))
    if "exact.entropy_per_spin" in arrays:
        x, y = arrays["exact.temperature"], arrays["exact.entropy_per_spin"]
        return [series(ENTROPY + PER_SPIN + " exact", x, y, colour=BLACK, width=1.4)]
    curve = look(family.thermodynamics, "curves", "entropy_per_spin")
    return curve_series(
        ENTROPY + PER_SPIN + " by integration", curve, 0, colour=BLACK, marker=None, width=1.4
    )


def pseudo_entropy_series(family: Family) -> list[Series]:
    curve = look(family.thermodynamics, "curves", "pseudo_entropy_per_spin")
    return curve_series(PSEUDO_ENTROPY + PER_SPIN, curve, 0, colour=GREY, marker="circle-open", dash="dot")


def smooth_series(family: Family, item: Values, curve: str, what: str, index: int) -> list[Series]:
    """The smooth curve through the points ("fit"), or the one whose maximum gives T_c ("indicator")."""
    arrays = family.run.arrays(item.get("file"))
    if f"critical.{curve}.{what}" not in arrays:
        return []
    x, y, errors = (arrays[f"critical.{curve}.{key}"] for key in ("x", what, f"{what}_errors"))
    band = None if what == "fit" else (np.asarray(y - errors, np.float64), np.asarray(y + errors, np.float64))
    label = size_label(item["n_hidden"])
    look: dict[str, Any] = {"colour": colour(index), "width": 0.9 if what == "fit" else 1.2}
    if what == "fit":
        look |= {"dash": "dash", "listed": False}
    return [series(label, x, y, band=band, **look)]


def heat_capacities(run: Run) -> list[Chart]:
    """Supplement: T dL~/dT of each size beside T dS~/dT and the heat capacity."""
    found = columns(run, lambda column: bool(_slopes(column)))
    if not found:
        raise Missing("no slopes of the pseudo-likelihood were estimated")
    return [_slope_chart(part, index) for index, part in enumerate(chunks(found))]


def _slopes(column: Column) -> list[Series]:
    found: list[Series] = []
    for index, item in enumerate(column.items):
        found += smooth_series(column.family, item, "pseudo_likelihood_per_spin", "indicator", index)
        for edge in smooth_series(column.family, item, "entropy_upper_per_spin", "indicator", index):
            found.append(replace(edge, name=UPPER_EDGE + ", " + edge.name, dash="dashdot", band=None))
    return found


def _slope_chart(found: list[Column], index: int) -> Chart:
    caption = Markup(
        "Heat capacities estimated as {} d{}/d{} from the pseudo-likelihood, with their error bands, "
        "beside the same from {}, the upper edge of the entropy bracket, from {} and {}, and beside the "
        "heat capacity itself: exact, or from energy "
        "fluctuations of the data."
    ).format(
        T.markup, PSEUDO_LIKELIHOOD.markup, T.markup, UPPER_EDGE.markup, ENTROPY.markup, PSEUDO_ENTROPY.markup
    )
    number = "" if index == 0 else f"-{index + 1}"
    panels = [_slope_panel(column) for column in found]
    title = plain("Estimated heat capacity")
    return curves_chart(
        f"supp-heat-capacity{number}", "Supp.", title, caption, panels, columns=len(found), height=2.8
    )


def _slope_panel(column: Column) -> Panel:
    family = column.family
    shown = exact_series(family, "heat_capacity_per_spin") or data_series(family, "heat_capacity_per_spin")
    for curve, label, dash in (("entropy", ENTROPY, "dash"), ("pseudo_entropy", PSEUDO_ENTROPY, "dot")):
        item = {"n_hidden": 0, "file": family.thermodynamics.get("file")}
        for found in smooth_series(family, item, f"{curve}_per_spin", "indicator", 0):
            name = SLOPE + label + PER_T
            shown.append(replace(found, name=name, colour=GREY, dash=dash, band=None))
    label = Label(r"per spin ($k_\mathrm{B}$)", "per spin (<i>k</i><sub>B</sub>)")
    return Panel(
        column.title, control_label(family.run), label, (*shown, *_slopes(column)), critical_mark(family)
    )
