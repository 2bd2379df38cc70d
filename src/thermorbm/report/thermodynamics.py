"""Appendix A: energy, heat capacity, magnetisation, entropy and free energy beside exact curves."""

from __future__ import annotations

from markupsafe import Markup

from thermorbm.report.chart import Chart, critical_mark, curve_series, curves_chart, name_of
from thermorbm.report.labels import (
    ABS_MAGNETIZATION,
    ENERGY,
    ENTROPY,
    HEAT_CAPACITY,
    PER_SPIN,
    Label,
    T,
    control_label,
    control_symbol,
    plain,
    short,
    with_error,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import Family, Missing, estimate, look
from thermorbm.report.style import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION

FREE_ENERGY = Label("$F/N$", "<i>F</i>/<i>N</i>")
SUSCEPTIBILITY = Label(r"$\chi_{|m|}$", "χ<sub>|m|</sub>")
QUANTITIES = {
    "energy_per_spin": ENERGY,
    "heat_capacity_per_spin": HEAT_CAPACITY,
    "abs_magnetization_per_spin": ABS_MAGNETIZATION,
    "susceptibility_per_spin": SUSCEPTIBILITY,
    "entropy_per_spin": ENTROPY + PER_SPIN,
    "free_energy_per_spin": FREE_ENERGY,
}


def appendix_a(family: Family) -> Chart:
    panels = [panel for name in QUANTITIES if (panel := _panel(family, name)).series]
    if not panels:
        raise Missing("averages of the configurations were not computed")
    has_exact = any(exact_series(family, name) for name in QUANTITIES)
    caption = Markup("Averages over the configurations, per spin, against {}. {} {}").format(
        control_symbol(family.run).markup,
        "Lines: exact for this finite lattice (Kaufman)."
        if has_exact
        else "No exact curve is known for this lattice.",
        _integration(family),
    )
    title = "Thermodynamics: " + name_of(family)
    return curves_chart(f"app-a-{family.name}", "App. A", title, caption, panels, height=2.0)


def _integration(family: Family) -> Markup:
    """How well integration from both ends agrees, and with the exact entropy."""
    known = family.thermodynamics.get("entropy")
    gap = estimate(known, "mismatch")
    if not known or gap is None:
        return Markup("")
    worst = max(known["combined"]["errors"], default=0.0)
    return Markup(
        "Entropy and free energy come from integrating the energies of {} temperatures from zero and from "
        "infinity; the two entropies differ by {} per spin, and the largest error of their combination is "
        "{}."
    ).format(known["n_points"], with_error(*gap), short(worst, 2))


def _panel(family: Family, name: str) -> Panel:
    label = QUANTITIES[name]
    found = exact_series(family, name)
    if name in ("entropy_per_spin", "free_energy_per_spin"):
        found += _integrated_series(family, name)
    else:
        found += [*grid_series(family, name), *data_series(family, name)]
    return Panel(
        label, control_label(family.run), label, tuple(found), critical_mark(family), x_range=_span(family)
    )


def _span(family: Family) -> tuple[float, float] | None:
    """From the lowest to the highest temperature of the data: the grid of energies goes much further."""
    values = [row["value"] for row in family.data()]
    margin = 0.03 * (max(values) - min(values)) if len(values) > 1 else 0.0
    return (min(values) - margin, max(values) + margin) if margin else None


def _integrated_series(family: Family, name: str) -> list[Series]:
    known = family.thermodynamics.get("entropy") or {}
    if name == "free_energy_per_spin":
        text = plain("by integration")
        return curve_series(text, known.get(name), 0, colour=GREEN, marker="diamond", dash=None)
    cold, hot = "from " + T + " = 0", "from " + T + " = ∞"
    return [
        *curve_series(cold, known.get("from_zero"), 0, colour=SKY, marker="triangle-up", dash=None),
        *curve_series(hot, known.get("from_infinity"), 0, colour=VERMILION, marker="x", dash=None),
    ]


def grid_series(family: Family, quantity: str) -> list[Series]:
    """What was measured on the grid of energies."""
    curve = look(family.thermodynamics, "grid_curves", quantity)
    return curve_series(plain("energy grid"), curve, 0, colour=ORANGE, marker="cross", dash=None)


def exact_series(family: Family, quantity: str) -> list[Series]:
    """The exact curve of the finite lattice where it is known; F = E - T S."""
    arrays = family.run.arrays(family.thermodynamics.get("file"))
    x, y = arrays.get("exact.temperature"), arrays.get(f"exact.{quantity}")
    if quantity == "free_energy_per_spin" and x is not None:
        y = arrays["exact.energy_per_spin"] - x * arrays["exact.entropy_per_spin"]
    return [] if x is None or y is None else [series(plain("exact"), x, y, colour=BLACK)]


def data_series(family: Family, quantity: str) -> list[Series]:
    curve = look(family.thermodynamics, "curves", quantity)
    return curve_series(plain("Monte Carlo data"), curve, 0, colour=BLUE, marker="circle-open", dash=None)


def entropies(family: Family) -> dict[float, float] | None:
    """Entropy per spin at the temperatures of the data: exact, else by integration; None if not known."""
    found: dict[float, float] = {}
    for row in family.data():
        if look(row, "exact", "source") == "kaufman":
            found[row["value"]] = float(row["exact"]["entropy_per_spin"])
    curve = look(family.thermodynamics, "curves", "entropy_per_spin")
    if not found and curve:
        found = {x: y for x, y in zip(curve["x"], curve["values"], strict=True) if y is not None}
    return found or None
