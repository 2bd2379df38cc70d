"""What speaks for the configurations: energies against exact values, p-values, agreement of chains."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import Chart, curves_chart, name_of
from thermorbm.report.labels import control_label, control_symbol, plain, short, with_error
from thermorbm.report.panels import Panel, series
from thermorbm.report.run import Family, Missing, Values
from thermorbm.report.style import BLACK, BLUE, GREY

SHOWN = (
    ("energy_z", "z of energy"),
    ("energy_histogram_p", "p of P(E)"),
    ("r_hat_energy", "R̂ of E"),
    ("r_hat_abs_magnetization", "R̂ of |m|"),
    ("tau_abs_magnetization", "τ of |m| (sweeps)"),
    ("spacing", "sweeps between samples"),
)


def certificates(family: Family) -> list[Values]:
    """Certificates of all configurations of a family, with their values."""
    rows = [*family.values.get("data", []), *family.values.get("energies", [])]
    return [{**row["certificate"], "value": row["value"]} for row in rows if row.get("certificate")]


def certificate_figure(family: Family) -> Chart:
    found = certificates(family)
    panels = [panel for panel in (_z_panel(family, found), _p_panel(family, found)) if panel is not None]
    if not panels:
        raise Missing("there are no exact energies to compare with")
    passed = sum(bool(row["passed"]) for row in found)
    caption = Markup(
        "Left: distance of the mean energy of each dataset from Kaufman's exact value, in standard errors. "
        "Right: p-values of the test of the energy histogram against the exact P(<i>E</i>), in rising "
        "order; honest samples lie along the diagonal. {} of {} certificates passed."
    ).format(passed, len(found))
    title = "Configurations against exact results: " + name_of(family)
    return curves_chart(f"certificates-{family.name}", "Data", title, caption, panels, columns=2)


def _z_panel(family: Family, found: list[Values]) -> Panel | None:
    pairs = [(row["value"], row["energy_z"]) for row in found if row.get("energy_z") is not None]
    if not pairs:
        return None
    x, z = np.array(pairs).T
    ends = np.array([x.min(), x.max()])
    lines = [
        series(plain(text), ends, [level, level], colour=GREY, dash=dash, width=0.8, listed=level > 0)
        for level, text, dash in ((2, "±2", "dash"), (-2, "±2", "dash"))
    ]
    points = series(plain("datasets"), x, z, marker="circle", dash=None, colour=BLUE)
    limit = max(4.0, 1.1 * float(np.abs(z).max()))
    label = plain("(E − exact) / error")
    return Panel(
        plain("Mean energy"),
        control_label(family.run),
        label,
        (*lines, points),
        y_range=(-limit, limit),
        log_x=bool(x.min() > 0),  # the grid of energies goes far up
    )


def _p_panel(family: Family, found: list[Values]) -> Panel | None:
    p = np.sort([row["energy_histogram_p"] for row in found if row.get("energy_histogram_p") is not None])
    if not len(p):
        return None
    expected = (np.arange(len(p)) + 0.5) / len(p)
    shown = (
        series(plain("uniform"), [0, 1], [0, 1], colour=BLACK, dash="dash", width=0.8),
        series(plain("datasets"), expected, p, marker="circle", dash=None, colour=BLUE),
    )
    return Panel(plain("Energy histogram"), plain("expected p"), plain("p-value"), shown)


def certificate_rows(family: Family) -> tuple[list[Markup], list[list[str]]]:
    """A row per dataset."""
    rows = [row for row in family.values.get("data", []) if row.get("certificate")]
    if not rows:
        raise Missing("users' own configurations have no certificate")
    columns = [control_symbol(family.run).markup, *map(Markup, ("signs", "samples", "energy per spin"))]
    columns += [Markup(text) for _, text in SHOWN] + [Markup("passed")]
    return columns, [_row(row) for row in rows]


def _row(row: Values) -> list[str]:
    known = row["certificate"]
    return [
        f"{row['value']:g}",
        "balanced" if row["sector"] == "symmetric" else str(row["sector"]),
        f"{known['n_samples']}",
        with_error(known["energy"], known["energy_error"]),
        *(short(known.get(name), 3) for name, _ in SHOWN),
        "yes" if known["passed"] else "NO: " + "; ".join(map(str, known["failures"])),
    ]
