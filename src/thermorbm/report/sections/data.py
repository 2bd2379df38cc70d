"""The configurations: their averages beside exact curves (appendix A), and what speaks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from thermorbm.records import as_plain
from thermorbm.report.chart import Chart, control_panel, curve_series, curves_chart
from thermorbm.report.labels import Label, T, axis, plain, short, text, with_error
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import FamilyView, Run, need, need_some, pair_of, points
from thermorbm.report.section import (
    Cell,
    PageTable,
    Ruling,
    Section,
    decide,
)
from thermorbm.report.style import BLACK, BLUE, GREEN, GREY, ORANGE, SKY, VERMILION
from thermorbm.study.results import Certificate, Data, IntegratedEntropy

SECTION = Section("data", "The configurations")
CERTIFICATES = Section("certificates", "Certificates")

FREE_ENERGY, BINDER = "free_energy_per_spin", "binder_cumulant"
LABELS = {FREE_ENERGY: Label("$F/N$"), BINDER: Label("$U_4$")}  # of what is no quantity of the registry
AVERAGES = (
    "energy_per_spin", "heat_capacity_per_spin", "abs_magnetization_per_spin", "susceptibility_per_spin"
)  # fmt: skip
SHOWN = (*AVERAGES, BINDER, "entropy_per_spin", FREE_ENERGY)
Certified = Sequence[tuple[float, Certificate]]
CERTIFICATE_COLUMNS = {
    "energy_z": "z of energy",
    "energy_histogram_p": "p of P(E)",
    "r_hat_energy": "R̂ of E",
    "r_hat_abs_magnetization": "R̂ of |m|",
    "tau_abs_magnetization": "τ of |m| (sweeps)",
    "spacing": "sweeps between samples",
}


@SECTION.family_figure("app-a", "App. A", "Averages of the configurations", of_data=True)
def draw_thermodynamics(family: FamilyView) -> Chart:
    panels = [panel for name in SHOWN if (panel := _panel(family, name)).series]
    need_some(panels, "averages of the configurations were not computed")
    caption = text(
        "Averages over the configurations, per spin, against {}. {}{} {} {}",
        family.run.control_symbol, _exact_words(family), _order_words(family), _reweighting(family),
        _integration(family),
    )  # fmt: skip
    return curves_chart(caption, panels, height=2.0)


def _exact_words(family: FamilyView) -> str:
    if any(exact_series(family, name) for name in SHOWN):
        how = "Kaufman" if family.results.is_ising else "Kaufman or transfer matrix"
        return f"Lines: exact for this finite lattice ({how})."
    if any(infinite_series(family, name) for name in SHOWN):
        return "Lines: exact for the infinite lattice."
    return "No exact curve is known for this lattice." if family.results.has_energy else ""


def _order_words(family: FamilyView) -> Markup:
    """What m stands for, where it is not the magnetisation."""
    if family.results.model is None or family.results.orders_uniformly:
        return Markup("")
    return text(" <i>m</i> is the {}.", family.results.model.order)


def _reweighting(family: FamilyView) -> Markup:
    """What the reweighted curves are, and where there are none."""
    words = [text("{}.", note[:1].upper() + note[1:]) for note in family.thermodynamics.notes]
    if reweighted_series(family, "energy_per_spin"):
        words.insert(0, text(
            "Shaded: all samples reweighted to temperatures in between, with one standard error; $U_4$ = 1 − "
            "⟨<i>m</i>⁴⟩/(3⟨<i>m</i>²⟩²)."
        ))  # fmt: skip
    return Markup(" ").join(words)


def _integration(family: FamilyView) -> Markup:
    """How well integration from both ends agrees, and with the exact entropy."""
    entropy = family.thermodynamics.entropy
    gap = None if entropy is None else pair_of(entropy.mismatch)
    if entropy is None or gap is None:
        return Markup("")
    worst = max((error for _, _, error in points(entropy.combined)), default=0.0)
    return text(
        "Entropy and free energy come from integrating the energies of {} temperatures from zero and from "
        "infinity; the two entropies differ by {} per spin, and the largest error of their combination is "
        "{}.", entropy.n_points, with_error(*gap), short(worst, 2),
    )  # fmt: skip


def _panel(family: FamilyView, name: str) -> Panel:
    label = LABELS[name] if name in LABELS else axis(name)
    curves = exact_series(family, name) + infinite_series(family, name) + reweighted_series(family, name)
    if name in AVERAGES:
        grid = points(family.thermodynamics.grid_curves.get(name))
        curves += curve_series(plain("energy grid"), grid, colour=ORANGE, marker="cross", dash=None)
        curves += data_series(family, name)
    elif name != BINDER and family.thermodynamics.entropy is not None:
        curves += _integrated_series(family.thermodynamics.entropy, name)
    return control_panel(family, label, label, curves, x_range=_span(family))


def _span(family: FamilyView) -> tuple[float, float] | None:
    """From the lowest to the highest temperature of the data: the grid of energies goes much further."""
    values = [row.value for row in family.results.balanced_data()]
    margin = 0.03 * (max(values) - min(values)) if len(values) > 1 else 0.0
    return (min(values) - margin, max(values) + margin) if margin else None


def _integrated_series(entropy: IntegratedEntropy, name: str) -> list[Series]:
    if name == FREE_ENERGY:
        curve, label = points(entropy.free_energy_per_spin), plain("by integration")
        return curve_series(label, curve, colour=GREEN, marker="diamond", dash=None)
    cold, hot = points(entropy.from_zero), points(entropy.from_infinity)
    return [
        *curve_series("from " + T + " = 0", cold, colour=SKY, marker="triangle-up", dash=None),
        *curve_series("from " + T + " = ∞", hot, colour=VERMILION, marker="x", dash=None),
    ]


def exact_series(family: FamilyView, quantity: str) -> list[Series]:
    """The exact curve of the finite lattice where it is known; F = E - T S."""
    return _stored_series(family, "exact", quantity, "exact")


def infinite_series(family: FamilyView, quantity: str) -> list[Series]:
    """The exact curve of the infinite lattice, where that of the finite one is not known."""
    return _stored_series(family, "infinite", quantity, "exact, infinite lattice")


def _stored_series(family: FamilyView, prefix: str, quantity: str, name: str) -> list[Series]:
    arrays = family.run.arrays(family.thermodynamics.file)
    x, y = arrays.get(f"{prefix}.temperature"), arrays.get(f"{prefix}.{quantity}")
    if quantity == FREE_ENERGY and x is not None:
        y = arrays[f"{prefix}.energy_per_spin"] - x * arrays[f"{prefix}.entropy_per_spin"]
    return [] if x is None or y is None else [series(plain(name), x, y, colour=BLACK)]


def reweighted_series(family: FamilyView, quantity: str) -> list[Series]:
    """All samples reweighted to temperatures in between, with a band of one error; nothing in old runs."""
    arrays = family.run.arrays(family.thermodynamics.file)
    if f"reweighted.{quantity}" not in arrays:
        return []
    names = ("reweighted.temperature", f"reweighted.{quantity}", f"reweighted.{quantity}.errors")
    x, y, errors = (np.asarray(arrays[name], dtype=np.float64) for name in names)
    holes = np.flatnonzero(np.diff(np.isfinite(y).astype(int))) + 1  # where temperatures do not overlap
    pieces = [piece for piece in np.split(np.arange(len(x)), holes) if np.isfinite(y[piece]).all()]
    look: dict[str, Any] = {"colour": BLUE, "width": 0.7}
    return [
        series(plain("reweighted"), x[k], y[k], band=((y - errors)[k], (y + errors)[k]), listed=not i, **look)
        for i, k in enumerate(pieces)
    ]


def data_series(family: FamilyView, quantity: str) -> list[Series]:
    """The averages of the configurations."""
    curve = family.data_curve(quantity)
    return curve_series(plain("Monte Carlo data"), curve, colour=BLUE, marker="circle-open", dash=None)


def entropies(family: FamilyView) -> dict[float, float]:
    """Entropy per spin at the temperatures of the data: exact, else by integration; Missing if not known."""
    exact = {
        row.value: row.exact.entropy_per_spin
        for row in family.results.balanced_data()
        if row.exact is not None and row.exact.is_of_this_lattice
    }
    integrated = {x: y for x, y, _ in family.data_curve("entropy_per_spin")}
    return need_some(exact or integrated, "the entropy is not known")


@SECTION.family_figure("certificates", "Data", "Configurations against exact results", of_data=True)
def draw_certificates(family: FamilyView) -> Chart:
    rows = family.results.certificates
    panels = [panel for panel in (_z_panel(family, rows), _p_panel(rows)) if panel is not None]
    need_some(panels, "there are no exact energies to compare with")
    caption = text(
        "Left: distance of the mean energy of each dataset from the exact value, in standard errors. "
        "Right: p-values of the test of the energy histogram against the exact P(<i>E</i>), in rising "
        "order; honest samples lie along the diagonal. {} of {} certificates passed.",
        sum(certificate.passed for _, certificate in rows), len(rows),
    )  # fmt: skip
    return curves_chart(caption, panels, columns=2)


def _z_panel(family: FamilyView, rows: Certified) -> Panel | None:
    pairs = [(value, item.energy_z) for value, item in rows if item.energy_z is not None]
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


def _p_panel(rows: Certified) -> Panel | None:
    p = np.sort([item.energy_histogram_p for _, item in rows if item.energy_histogram_p is not None])
    if not len(p):
        return None
    expected = (np.arange(len(p)) + 0.5) / len(p)
    curves = (
        series(plain("uniform"), [0, 1], [0, 1], colour=BLACK, dash="dash", width=0.8),
        series(plain("datasets"), expected, p, marker="circle", dash=None, colour=BLUE),
    )
    return Panel(plain("Energy histogram"), plain("expected p"), plain("p-value"), curves)


@CERTIFICATES.family_table(of_data=True)
def certificate_table(family: FamilyView) -> PageTable:
    """A row for each dataset that has a certificate."""
    columns: list[Cell] = [family.run.control_symbol.html, "signs", "samples", "energy per spin"]
    columns += [*CERTIFICATE_COLUMNS.values(), "passed"]
    rows = [_certificate_row(row, row.certificate) for row in family.results.data if row.certificate]
    return PageTable(columns, rows, f"{family.name}: {len(rows)} datasets")


def _certificate_row(row: Data, certificate: Certificate) -> list[Cell]:
    numbers = as_plain(certificate)
    return [
        f"{row.value:g}",
        "balanced" if row.sector == "symmetric" else str(row.sector),
        f"{numbers['n_samples']}",
        with_error(certificate.energy, certificate.energy_error),
        *(short(numbers.get(name), 3) for name in CERTIFICATE_COLUMNS),
        "yes" if certificate.passed else "NO: " + "; ".join(certificate.failures),
    ]


@CERTIFICATES.set_words
def certificate_words(run: Run) -> list[Markup]:
    """How many certificates passed, and what they test."""
    rows = [row for family in run.families for row in family.results.certificates]
    if not rows:
        return [Markup("There are no certificates: all configurations are users' own.")]
    words = (
        "{} of {} sets of sampled configurations passed: agreement of chains that started differently "
        "(R̂), enough effective samples, and where exact results exist the mean energy (z) and the whole "
        "distribution of energies (p)."
    )
    return [text(words, sum(certificate.passed for _, certificate in rows), len(rows))]


@SECTION.claim(
    "integration",
    "App. A",
    "Integration from $T$ = 0 and from $T$ = ∞ gives the same entropy.",
    of_any_model=True,
)
def integrations_agree(family: FamilyView) -> Ruling:
    """Difference within 3 standard errors or 1e-4 per spin."""
    entropy = need(family.thermodynamics.entropy, "no energies were measured for integration")
    gap, error = entropy.mismatch.value, entropy.mismatch.error
    return decide(abs(gap) <= max(3 * error, 1e-4), "they differ by {} per spin", with_error(gap, error))
