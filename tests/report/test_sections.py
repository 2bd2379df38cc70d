"""Sections on results by hand: what is shown, and what is left out for which reason."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from small_results import a_machine, a_view

from thermorbm.records import NotDone
from thermorbm.report.rules import tc_estimates
from thermorbm.report.run import Missing, need, pair_of, points
from thermorbm.report.sections.critical import critical_table, draw_forest
from thermorbm.report.sections.data import draw_thermodynamics, reweighted_series
from thermorbm.report.sections.hidden import hidden_at
from thermorbm.report.sections.supplement import draw_further_quantities
from thermorbm.report.style import our_style
from thermorbm.runner.store import Reduced, write_reduced
from thermorbm.stats import Estimate
from thermorbm.study.quantities import QUANTITIES
from thermorbm.study.results import (
    CriticalTemperature,
    Curve,
    Indicators,
    Observation,
    Target,
    Thermodynamics,
)
from thermorbm.study.steps import STEPS

NAN = float("nan")


def test_a_part_that_is_not_done_says_why(tmp_path):
    hidden = NotDone("its task failed or is not done yet")
    machine = a_machine(observations=(Observation(2.25, 16, hidden=hidden),))
    family = a_view(tmp_path, machines=(machine,))
    with pytest.raises(Missing, match="hidden layers were not looked at: its task failed or is not done yet"):
        hidden_at(family, 4, 2.25)
    with pytest.raises(Missing, match="there is no machine with 9 hidden units at 2"):
        hidden_at(family, 9, 2.25)


def test_values_that_are_not_known():
    assert pair_of(Estimate(1.0, NAN)) == (1.0, 0.0)
    assert pair_of(Estimate(NAN, 1.0)) is None
    assert pair_of(NotDone("no")) is None
    assert points(Curve((1.0, 2.0), (NAN, 3.0), (0.1, NAN))) == [(2.0, 3.0, 0.0)]
    assert need(0.0, "zero is a value") == 0.0


def test_labels_of_indicators_come_from_the_registry(tmp_path):
    def row(name, feature, **more):
        target = Target(2.3, 0.01, "kaufman")
        return CriticalTemperature(
            name, feature, "heat_capacity", Estimate(2.25, 0.01), target=target, **more
        )

    machine = {"variant": "main", "role": "main", "n_hidden": 4}
    rows = (
        row("entropy_per_spin", "heat_peak"),
        row("correlation_r2", "peak", **machine),
        row("visible_energy_variance_per_spin", "peak", **machine, problem="at an <end>"),
        row("of_another_version", "peak", **machine, is_shown=False),
    )
    family = a_view(tmp_path, critical_temperatures=rows)
    assert len(tc_estimates(family)) == 4
    first, second, third = critical_table(family).rows
    assert first[:2] == ["<i>T</i> d<i>S</i>/d<i>T</i>", "2.250(10)"]
    assert second[0].startswith("inverse filters, <i>r</i>\u00a0=\u00a02 <small>")
    assert third[1] == "not determined <small>(at an &lt;end&gt;)</small>"
    assert third[3:] == ["–", "–"]


def test_peaks_as_intervals_second_peaks_and_none(tmp_path):
    """Not resolved: a range and no distance; not determined: why; a second peak is named."""
    common = {"target": Target(2.3, 0.01, "kaufman"), "lower": 2.2, "upper": 2.3}
    row = partial(CriticalTemperature, "entropy_per_spin", "heat_peak", "heat_capacity", **common)
    found = Estimate(2.25, 0.05)
    rows = (
        row(found, resolved=False, lower_95=2.125, upper_95=2.375),
        row(found, resolved=True, lower_95=2.1, upper_95=2.4, note="not the only peak: another at 2.6"),
        row(None, "the maximum may lie almost anywhere", resolved=False, lower_95=0.5, upper_95=9.0),
        CriticalTemperature("entropy_per_spin", "heat_peak", "heat_capacity", None, "too few temperatures"),
    )
    assert [item.words for item in rows] == ["2.125-2.375", "2.250(50)", "not determined", "not determined"]
    family = a_view(tmp_path, critical_temperatures=rows)
    first, second, third = critical_table(family).rows
    assert first[1:] == ["2.125–2.375", "2.3000", "–", "–"]
    assert second[1] == "2.250(50) <small>(not the only peak: another at 2.6)</small>"
    assert third[1:] == [
        "not determined <small>(the maximum may lie almost anywhere)</small>", "2.3000", "–", "–",
    ]  # fmt: skip
    with our_style():
        (chart,) = draw_forest(family)
    (panel,) = chart.panels
    assert [len(curve.x) for curve in panel.series] == [1, 2, 2]
    assert panel.series[1].x.tolist() == [2.125, 2.375]


def test_many_estimates_are_divided_among_panels_that_are_alike(tmp_path):
    """75 rows in one column made a figure of a metre."""
    row = partial(CriticalTemperature, "entropy_per_spin", "heat_peak", "heat_capacity")
    rows = (*(row(Estimate(2.2 + 0.001 * k, 0.01)) for k in range(74)), row(Estimate(9.0, 3.0)))
    family = a_view(tmp_path, critical_temperatures=rows)
    with our_style():
        charts = draw_forest(family)
    panels = [panel for chart in charts for panel in chart.panels]
    assert [len(panel.rows) for panel in panels] == [19, 19, 19, 18]
    assert max(chart.figure.get_figheight() for chart in charts) < 5
    assert panels[-1].x_range[1] < 2.5  # one estimate far off does not stretch the axis
    assert panels[-1].series[-1].name.tex == "beyond the scale, see the table"


def test_a_quantity_with_a_measure_of_its_own_has_a_figure(tmp_path, monkeypatch):
    """It needs an entry in the registry and nothing in the report."""
    new = replace(QUANTITIES["sign_rule"], name="roughness", tex="$R$", measure=lambda *_: None)
    curve = Curve((2.0, 2.25, 2.5), (1.0, 2.0, 1.5), (0.1, 0.1, 0.1))
    item = Indicators("main", "main", False, 4, {"roughness": curve})
    family = a_view(tmp_path, machines=(a_machine(),), indicators=(item,))
    assert draw_further_quantities(family) == []
    monkeypatch.setitem(QUANTITIES, "roughness", new)
    with our_style():
        (chart,) = draw_further_quantities(family)
    (panel,) = chart.panels
    assert panel.y_label.html == "<i>R</i>"
    assert panel.series[0].y.tolist() == [1.0, 2.0, 1.5]


def test_reweighted_curves_end_where_temperatures_do_not_overlap(tmp_path):
    """One line with its band on each side of a gap, named once; U4 has a panel; the caption says why."""
    x = np.linspace(1.0, 2.0, 11)
    y = np.where((x > 1.35) & (x < 1.65), np.nan, x)
    arrays = {"reweighted.temperature": x}
    for name in ("energy_per_spin", "binder_cumulant"):
        arrays |= {f"reweighted.{name}": y, f"reweighted.{name}.errors": 0.1 * y}
    task = STEPS["estimate"].task("t", {}, [], {})
    file = f"reduced/{task.id}.h5"
    (tmp_path / file).parent.mkdir(parents=True)
    write_reduced(tmp_path / file, Reduced(task, {}, arrays))
    thermodynamics = Thermodynamics({}, {}, file=file, notes=("samples do not overlap",))
    family = a_view(tmp_path, thermodynamics=thermodynamics)
    first, second = reweighted_series(family, "energy_per_spin")
    assert (first.x.max(), second.x.min()) == pytest.approx((1.3, 1.7))
    assert (first.listed, second.listed) == (True, False)
    np.testing.assert_allclose(first.band[1], 1.1 * first.y)
    with our_style():
        chart = draw_thermodynamics(family)
    assert [panel.y_label.html for panel in chart.panels][1] == "<i>U</i><sub>4</sub>"
    assert "Samples do not overlap." in chart.caption
