"""The configurations: their averages beside exact curves (appendix A), and what speaks for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import Chart, control_panel, curve_series, curves_chart
from thermorbm.report.labels import (
    ABS_MAGNETIZATION,
    ENERGY,
    ENTROPY,
    HEAT_CAPACITY,
    PER_SPIN,
    SUSCEPTIBILITY,
    Label,
    T,
    plain,
    short,
    text,
    with_error,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import FamilyView, Missing, Run, Values, estimate, look, need, points
from thermorbm.report.section import Answer, FamilyFigure, PageTable, Section, claim, decide
from thermorbm.report.style import BLACK, BLUE, GREEN, GREY, ORANGE, SKY, VERMILION

QUANTITIES = {
    "energy_per_spin": ENERGY,
    "heat_capacity_per_spin": HEAT_CAPACITY,
    "abs_magnetization_per_spin": ABS_MAGNETIZATION,
    "susceptibility_per_spin": SUSCEPTIBILITY,
    "entropy_per_spin": ENTROPY + PER_SPIN,
    "free_energy_per_spin": Label("$F/N$", "<i>F</i>/<i>N</i>"),
}
INTEGRATED = ("entropy_per_spin", "free_energy_per_spin")
CERTIFICATE_COLUMNS = {
    "energy_z": "z of energy",
    "energy_histogram_p": "p of P(E)",
    "r_hat_energy": "R̂ of E",
    "r_hat_abs_magnetization": "R̂ of |m|",
    "tau_abs_magnetization": "τ of |m| (sweeps)",
    "spacing": "sweeps between samples",
}


def draw_thermodynamics(family: FamilyView) -> Chart:
    """Appendix A."""
    panels = [panel for name in QUANTITIES if (panel := _panel(family, name)).series]
    if not panels:
        raise Missing("averages of the configurations were not computed")
    has_exact = any(exact_series(family, name) for name in QUANTITIES)
    lines = (
        "Lines: exact for this finite lattice (Kaufman)."
        if has_exact
        else "No exact curve is known for this lattice."
    )
    caption = text(
        "Averages over the configurations, per spin, against {}. {} {}",
        family.run.control_symbol, lines, _integration(family),
    )  # fmt: skip
    return curves_chart(caption, panels, height=2.0)


def _integration(family: FamilyView) -> Markup:
    """How well integration from both ends agrees, and with the exact entropy."""
    entropy = family.thermodynamics.get("entropy")
    gap = estimate(entropy, "mismatch")
    if not entropy or gap is None:
        return Markup("")
    worst = max((error for _, _, error in points(entropy, "combined")), default=0.0)
    return text(
        "Entropy and free energy come from integrating the energies of {} temperatures from zero and from "
        "infinity; the two entropies differ by {} per spin, and the largest error of their combination is "
        "{}.", entropy["n_points"], with_error(*gap), short(worst, 2),
    )  # fmt: skip


def _panel(family: FamilyView, name: str) -> Panel:
    label = QUANTITIES[name]
    curves = exact_series(family, name)
    if name in INTEGRATED:
        curves += _integrated_series(family, name)
    else:
        grid = points(family.thermodynamics, "grid_curves", name)
        curves += curve_series(plain("energy grid"), grid, colour=ORANGE, marker="cross", dash=None)
        curves += data_series(family, name)
    return control_panel(family, label, label, curves, x_range=_span(family))


def _span(family: FamilyView) -> tuple[float, float] | None:
    """From the lowest to the highest temperature of the data: the grid of energies goes much further."""
    values = [row["value"] for row in family.data()]
    margin = 0.03 * (max(values) - min(values)) if len(values) > 1 else 0.0
    return (min(values) - margin, max(values) + margin) if margin else None


def _integrated_series(family: FamilyView, name: str) -> list[Series]:
    entropy = family.thermodynamics.get("entropy")
    looks: dict[str, tuple[Label, dict[str, Any]]] = {
        "from_zero": ("from " + T + " = 0", {"colour": SKY, "marker": "triangle-up"}),
        "from_infinity": ("from " + T + " = ∞", {"colour": VERMILION, "marker": "x"}),
    }
    if name == "free_energy_per_spin":
        looks = {name: (plain("by integration"), {"colour": GREEN, "marker": "diamond"})}
    curves = []
    for key, (label, style) in looks.items():
        curves += curve_series(label, points(entropy, key), **style, dash=None)
    return curves


def exact_series(family: FamilyView, quantity: str) -> list[Series]:
    """The exact curve of the finite lattice where it is known; F = E - T S."""
    arrays = family.run.arrays(family.thermodynamics.get("file"))
    x, y = arrays.get("exact.temperature"), arrays.get(f"exact.{quantity}")
    if quantity == "free_energy_per_spin" and x is not None:
        y = arrays["exact.energy_per_spin"] - x * arrays["exact.entropy_per_spin"]
    return [] if x is None or y is None else [series(plain("exact"), x, y, colour=BLACK)]


def data_series(family: FamilyView, quantity: str) -> list[Series]:
    """The averages of the configurations."""
    curve = points(family.thermodynamics, "curves", quantity)
    return curve_series(plain("Monte Carlo data"), curve, colour=BLUE, marker="circle-open", dash=None)


def entropies(family: FamilyView) -> dict[float, float]:
    """Entropy per spin at the temperatures of the data: exact, else by integration; Missing if not known."""
    exact = {
        row["value"]: float(row["exact"]["entropy_per_spin"])
        for row in family.data()
        if look(row, "exact", "source") == "kaufman"
    }
    integrated = {x: y for x, y, _ in points(family.thermodynamics, "curves", "entropy_per_spin")}
    return need(exact or integrated or None, "the entropy is not known")


def certificates(family: FamilyView) -> list[Values]:
    """Certificates of all configurations of a family, with their values."""
    rows = [*family.values.get("data", []), *family.values.get("energies", [])]
    return [{**row["certificate"], "value": row["value"]} for row in rows if row.get("certificate")]


def draw_certificates(family: FamilyView) -> Chart:
    rows = certificates(family)
    panels = [panel for panel in (_z_panel(family, rows), _p_panel(rows)) if panel is not None]
    if not panels:
        raise Missing("there are no exact energies to compare with")
    caption = text(
        "Left: distance of the mean energy of each dataset from Kaufman's exact value, in standard errors. "
        "Right: p-values of the test of the energy histogram against the exact P(<i>E</i>), in rising "
        "order; honest samples lie along the diagonal. {} of {} certificates passed.",
        sum(bool(row["passed"]) for row in rows), len(rows),
    )  # fmt: skip
    return curves_chart(caption, panels, columns=2)


def _z_panel(family: FamilyView, rows: list[Values]) -> Panel | None:
    pairs = [(row["value"], row["energy_z"]) for row in rows if row.get("energy_z") is not None]
    if not pairs:
        return None
    x, z = np.array(pairs).T
    ends = np.array([x.min(), x.max()])
    lines = [
        series(plain("±2"), ends, [level, level], colour=GREY, dash="dash", width=0.8, listed=level > 0)
        for level in (2, -2)
    ]
    dots = series(plain("datasets"), x, z, marker="circle", dash=None, colour=BLUE)
    limit = max(4.0, 1.1 * float(np.abs(z).max()))
    return Panel(
        plain("Mean energy"),
        family.run.control_label,
        plain("(E − exact) / error"),
        (*lines, dots),
        y_range=(-limit, limit),
        log_x=bool(x.min() > 0),  # the grid of energies goes far up
    )


def _p_panel(rows: list[Values]) -> Panel | None:
    p = np.sort([row["energy_histogram_p"] for row in rows if row.get("energy_histogram_p") is not None])
    if not len(p):
        return None
    expected = (np.arange(len(p)) + 0.5) / len(p)
    curves = (
        series(plain("uniform"), [0, 1], [0, 1], colour=BLACK, dash="dash", width=0.8),
        series(plain("datasets"), expected, p, marker="circle", dash=None, colour=BLUE),
    )
    return Panel(plain("Energy histogram"), plain("expected p"), plain("p-value"), curves)


def certificate_tables(run: Run) -> list[PageTable]:
    """Per family, a row for each dataset that has a certificate."""
    columns = [run.control_symbol.markup, "signs", "samples", "energy per spin"]
    columns += [*CERTIFICATE_COLUMNS.values(), "passed"]
    tables = []
    for family in run.families:
        rows = [_certificate_row(row) for row in family.values.get("data", []) if row.get("certificate")]
        if rows:
            tables.append(PageTable(columns, rows, f"{family.name}: {len(rows)} datasets"))
    return tables


def _certificate_row(row: Values) -> list[str]:
    certificate = row["certificate"]
    return [
        f"{row['value']:g}",
        "balanced" if row["sector"] == "symmetric" else str(row["sector"]),
        f"{certificate['n_samples']}",
        with_error(certificate["energy"], certificate["energy_error"]),
        *(short(certificate.get(name), 3) for name in CERTIFICATE_COLUMNS),
        "yes" if certificate["passed"] else "NO: " + "; ".join(map(str, certificate["failures"])),
    ]


def certificate_words(run: Run) -> list[Markup]:
    """How many certificates passed, and what they test."""
    rows = [row for family in run.families for row in certificates(family)]
    if not rows:
        return [Markup("There are no certificates: all configurations are users' own.")]
    words = (
        "{} of {} sets of sampled configurations passed: agreement of chains that started differently "
        "(R̂), enough effective samples, and where exact results exist the mean energy (z) and the whole "
        "distribution of energies (p)."
    )
    return [text(words, sum(bool(row["passed"]) for row in rows), len(rows))]


@claim(
    "integration",
    "App. A",
    "Integration from <i>T</i> = 0 and from <i>T</i> = ∞ gives the same entropy.",
    "difference within 3 standard errors or 1e-4 per spin",
)
def integrations_agree(family: FamilyView) -> Answer:
    """S from T = 0 minus S from T = infinity; the same at every temperature."""
    mismatch = estimate(family.thermodynamics, "entropy", "mismatch")
    gap, error = need(mismatch, "no energies were measured for integration")
    return decide(abs(gap) <= max(3 * error, 1e-4), "they differ by {} per spin", with_error(gap, error))


SECTION = Section(
    "data",
    "The configurations",
    figures=(
        FamilyFigure("app-a", "App. A", "Thermodynamics", draw_thermodynamics),
        FamilyFigure("certificates", "Data", "Configurations against exact results", draw_certificates),
    ),
    claims=(integrations_agree,),
)
CERTIFICATES = Section("certificates", "Certificates", tables=(certificate_tables,), words=certificate_words)
