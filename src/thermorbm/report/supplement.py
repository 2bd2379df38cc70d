"""The supplement's figures: training curves, machines without biases, all filters, reconstruction errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from thermorbm.report.chart import (
    NO_MACHINES,
    Chart,
    critical_mark,
    curve_series,
    curves_chart,
    landmarks,
    name_of,
    smallest,
)
from thermorbm.report.images import sheet_figure
from thermorbm.report.labels import (
    N_HIDDEN,
    PER_SPIN,
    PSEUDO_LIKELIHOOD,
    Label,
    at,
    control_label,
    plain,
    size_label,
)
from thermorbm.report.panels import Panel, Series, series
from thermorbm.report.run import Family, Missing, Values, estimate, observation
from thermorbm.report.style import colour, marker

CROSS_ENTROPY = plain("cross entropy per unit")


def training_curves(family: Family) -> Chart:
    """L~ and CE per epoch at the landmarks, and of the machines for all temperatures."""
    panels = []
    for value in [*landmarks(family), None]:
        role = "union" if value is None else "main"
        machines = [m for m in family.machines(role) if m["value"] == value]
        title = plain("all temperatures") if value is None else at(family.run, value)
        for key, label, scale in (
            ("pseudo_likelihood", PSEUDO_LIKELIHOOD + PER_SPIN, family.n_sites or 1),
            ("cross_entropy", CROSS_ENTROPY, 1),
        ):
            panel = Panel(title, plain("epoch"), label, _histories(family, machines, key, scale))
            panels += [panel] if panel.series else []
    if not panels:
        raise Missing("training was too short to have curves")
    caption = Markup(
        "Pseudo-likelihood per spin and cross entropy against the epoch; full lines for training "
        "configurations, dotted ones for held-out configurations. {}"
    ).format(_verdicts(family))
    title = "Training: " + name_of(family)
    return curves_chart(
        f"supp-training-{family.name}", "Supp.", title, caption, panels, columns=2, height=1.9
    )


def _histories(family: Family, machines: list[Values], key: str, scale: float) -> tuple[Series, ...]:
    found = []
    for index, machine in enumerate(machines):
        arrays = family.run.arrays(machine.get("file"))
        for prefix, dash in (("", "solid"), ("validation_", "dot")):
            values = arrays.get(f"history.{prefix}{key}")
            if values is not None and len(values) > 1:
                label = size_label(machine["n_hidden"]) + (" held out" if prefix else "")
                style: dict[str, Any] = {"colour": colour(index), "dash": dash}
                found.append(series(label, arrays["history.epoch"], values / scale, **style))
    return tuple(found)


def _verdicts(family: Family) -> Markup:
    counts: dict[str, int] = {}
    for machine in family.values.get("machines", []):
        status = str((machine.get("verdict") or {}).get("status", "unknown"))
        counts[status] = counts.get(status, 0) + 1
    told = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    return Markup("All machines of this family: {}.").format(told)


def zero_bias(family: Family) -> Chart:
    """Machines without biases beside those with them."""
    n_hidden = smallest(family, "zero-bias")
    quantities = {
        "pseudo_likelihood_per_spin": PSEUDO_LIKELIHOOD + PER_SPIN,
        "visible_energy_variance_per_spin": Label(
            r"Var $\mathcal{E}_\theta/N$", "Var ℰ<sub>θ</sub>/<i>N</i>"
        ),
        "filter_sum_abs_variance": Label(
            r"Var $|\Sigma_j W_{ij}|$", "Var |Σ<sub>j</sub> <i>W<sub>ij</sub></i>|"
        ),
    }
    panels = [
        Panel(label, control_label(family.run), label, tuple(found), critical_mark(family))
        for name, label in quantities.items()
        if (found := _with_and_without(family, n_hidden, name))
    ]
    caption = Markup(
        "Machines whose biases were held at zero beside machines with biases, both with {}: "
        "pseudo-likelihood, variance of the visible energy, variance of the absolute filter sum."
    ).format(size_label(n_hidden).markup)
    title = "Machines without biases: " + name_of(family)
    return curves_chart(f"supp-zero-bias-{family.name}", "Supp.", title, caption, panels)


def _with_and_without(family: Family, n_hidden: int, name: str) -> list[Series]:
    looks: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("main", "with biases", {}),
        ("zero-bias", "without biases", {"dash": None}),
    )
    found: list[Series] = []
    for index, (role, text, style) in enumerate(looks):
        item = next((item for item in family.indicators(role) if item["n_hidden"] == n_hidden), None)
        found += curve_series(plain(text), (item or {"curves": {}})["curves"].get(name), index, **style)
    return found


def all_filters(family: Family) -> list[Chart]:
    """Every filter of the machines for which they were kept, which are some of the smallest."""
    charts = []
    for machine in family.machines("main", smallest(family)):
        arrays = family.run.arrays((machine.get("weights") or {}).get("file"))
        if "all_filters" in arrays and family.values.get("shape"):
            scale = float(arrays["all_filters_scale"])
            charts.append(_sheet(family, machine, arrays["all_filters"], scale))
    if not charts:
        raise Missing("no machine's filters were all kept (`all_filters` in the study)")
    return charts


def _sheet(family: Family, machine: Values, steps: np.ndarray[Any, Any], scale: float) -> Chart:
    filters = (steps * scale).reshape(-1, *family.values["shape"])
    where = plain("all temperatures") if machine["value"] is None else at(family.run, machine["value"])
    layer = " One layer of the cube is shown." if family.dimension == 3 else ""
    caption = Markup("All {} filters of a machine at {}, in the order of the hidden units.{}").format(
        len(filters), where.markup, layer
    )
    place = "all" if machine["value"] is None else f"{machine['value']:g}"
    title = "All filters: " + name_of(family) + ", " + where
    return Chart(
        f"supp-filters-{family.name}-{place}-h{machine['n_hidden']}", "Supp.", title, caption,
        sheet_figure(filters), lossy=True,
    )  # fmt: skip


def reconstruction_errors(family: Family) -> Chart:
    """How far generated configurations are from the data, against the number of hidden units."""
    if len(family.sizes()) < 2:
        raise Missing("there is one number of hidden units only" if family.sizes() else NO_MACHINES["main"])
    chosen = landmarks(family)
    quantities = {
        "cross_entropy": CROSS_ENTROPY,
        "energy_per_spin": Label(r"$|\Delta E|/N$", "|Δ<i>E</i>|/<i>N</i>"),
        "heat_capacity_per_spin": Label(r"$|\Delta c_V|$", "|Δ<i>c</i><sub>V</sub>|"),
    }
    panels = []
    for name, label in quantities.items():
        found = [s for i, value in enumerate(chosen) for s in _against_size(family, value, name, i)]
        panels += [Panel(label, N_HIDDEN, label, tuple(found))] if found else []
    caption = Markup(
        "Left: cross entropy between held-out configurations and their reconstruction. Then: distance of "
        "energy and heat capacity of <i>v</i><sup>(7)</sup>, seven steps from the <i>p</i><sub>h</sub> "
        "start, from the data. All against {}."
    ).format(N_HIDDEN.markup)
    title = "Reconstruction error: " + name_of(family)
    return curves_chart(f"supp-reconstruction-{family.name}", "Supp.", title, caption, panels)


def _against_size(family: Family, value: float, name: str, index: int) -> list[Series]:
    points = []
    for n_hidden in family.sizes():
        machine = family.machine("main", n_hidden, value)
        pair = None if machine is None else _error(family, machine, value, name)
        if pair is not None:
            points.append((n_hidden, *pair))
    if not points:
        return []
    x, values, errors = zip(*points, strict=True)
    return [series(at(family.run, value), x, values, errors, colour=colour(index), marker=marker(index))]


def _error(family: Family, machine: Values, value: float, name: str) -> tuple[float, float] | None:
    seen = observation(machine)
    if name == "cross_entropy":
        return estimate(seen, "likelihood", "held_out", name)
    row = next((row for row in family.data() if row["value"] == value), None)
    data, made = estimate(row, "thermal", name), estimate(seen, "generation", "magnetization_chain", name)
    if data is None or made is None:
        return None
    return abs(made[0] - data[0]), (made[1] ** 2 + data[1] ** 2) ** 0.5
