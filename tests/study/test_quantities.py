"""One entry per quantity: labels, places and marks follow from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from thermorbm import estimators
from thermorbm.report.labels import to_html
from thermorbm.stats import Estimate
from thermorbm.study.quantities import (
    QUANTITIES,
    find_quantity,
    indicator_tex,
    indicator_text,
    read_all,
)
from thermorbm.study.results import Observation, read_results

PUBLISHED = Path(__file__).parents[2] / "results" / "paper" / "results.json"


@pytest.mark.parametrize(
    ("tex", "html"),
    [
        ("$T_c$", "<i>T</i><sub>c</sub>"),
        (r"$\widetilde{S}$", "<i>S\u0303</i>"),
        (r"$\widetilde{\mathcal{L}}$", "<i>L\u0303</i>"),
        (r"$S_\mathrm{up}$", "<i>S</i><sub>up</sub>"),
        (r"$\langle|m|\rangle$", "⟨|<i>m</i>|⟩"),
        (r"$\langle E\rangle/N$", "⟨<i>E</i>⟩/<i>N</i>"),
        (r"Var $\mathcal{E}_\theta$", "Var ℰ<sub>θ</sub>"),
        (r"$L^{-1/\nu}$", "<i>L</i><sup>−1/ν</sup>"),
        (r"$\chi_{|m|}$ of the data", "χ<sub>|m|</sub> of the data"),
        (r"a < b costs \$5", "a &lt; b costs $5"),
    ],
)
def test_html_is_made_from_tex(tex: str, html: str) -> None:
    assert to_html(tex) == html


def test_every_label_has_a_page_form_without_tex_left_in_it() -> None:
    for quantity in QUANTITIES.values():
        for label in (quantity.tex, quantity.axis, quantity.mark_label()):
            assert not set("\\${}^") & set(to_html(label)), label


def test_every_mark_is_one_that_can_be_sought() -> None:
    for quantity in QUANTITIES.values():
        assert not quantity.mark or callable(getattr(estimators, quantity.mark))
        assert bool(quantity.mark) == bool(quantity.target)


@pytest.mark.parametrize(
    ("name", "mark", "text"),
    [
        ("heat_capacity_per_spin", "peak", "c_V"),
        ("pseudo_likelihood_per_spin", "heat_peak", "T dL~/dT"),
        ("pseudo_likelihood_per_spin", "steepest", "L~ slope"),
        ("correlation_r4", "peak", "filter correlation r=4"),
        ("something_else", "peak", "something_else"),
    ],
)
def test_names_on_the_terminal(name: str, mark: str, text: str) -> None:
    assert indicator_text(name, mark) == text


def test_names_in_the_report() -> None:
    assert to_html(indicator_tex("entropy_per_spin", "heat_peak")) == "<i>T</i> d<i>S</i>/d<i>T</i>"
    assert to_html(indicator_tex("correlation_L/16", "peak")).endswith("= L/16".replace(" ", "\u00a0"))
    assert to_html(indicator_tex("target_susceptibility")) == "target, χ<sub>|m|</sub>"


def test_curves_of_one_entry_are_found_by_their_beginning() -> None:
    assert find_quantity("coupling_0_1") is QUANTITIES["coupling_"]
    assert find_quantity("nothing") is None


def test_published_machines_have_every_quantity_where_the_registry_looks() -> None:
    family = read_results(PUBLISHED).families[0]
    machine = family.first_seeds("main")[0]
    seen = machine.observation()
    assert isinstance(seen, Observation)
    values = read_all(seen, {})
    assert {name for name, q in QUANTITIES.items() if q.source is Observation} == set(values)
    assert seen.visible_energy
    total = seen.visible_energy.held_out.mean
    assert values["visible_energy_mean_per_spin"].value == pytest.approx(
        total.value / seen.n_sites, rel=1e-15
    )
    assert machine.weights
    arrays = {
        "correlation.distances": np.array([1.0, 1.41, 2.0, 4.0]),
        "correlation.values": np.array([0.4, 0.3, 0.2, 0.1]),
        "correlation.errors": np.full(4, 0.01),
        "filters": np.zeros((5, 8, 8)),
    }
    read = read_all(machine.weights, arrays)
    assert read["correlation_r4"] == Estimate(0.1, 0.01)
    assert sorted(read) == ["correlation_r1", "correlation_r2", "correlation_r4", "filter_sum_abs_variance"]
