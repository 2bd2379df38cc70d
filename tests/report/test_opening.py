"""The first screen: sentences from numbers by hand, and what is said where numbers are missing."""

import re
import shutil
from functools import partial
from pathlib import Path

import pytest
from markupsafe import Markup
from small_results import a_family, a_machine, a_run, a_view

from thermorbm.report import opening
from thermorbm.report.opening import claim_marks, count_words, opening_cards, verdict_of
from thermorbm.report.opening.entropy import entropy_panel, entropy_words
from thermorbm.report.opening.transition import best_estimates, transition_words
from thermorbm.report.publish import unpack
from thermorbm.report.run import read_run
from thermorbm.report.section import Claim, Finding, Judged, Judgement
from thermorbm.stats import Estimate
from thermorbm.study.results import CriticalTemperature, Curve, Indicators, Target, Thermodynamics

RESULTS = Path(__file__).parents[2] / "results"
HOLDS, FAILS, OPEN, UNTESTED = (
    Judgement.HOLDS, Judgement.FAILS, Judgement.INCONCLUSIVE, Judgement.UNTESTED,
)  # fmt: skip


def estimate(value, error, **changes):
    values = {"variant": "main", "role": "main", "n_hidden": 4, "target": Target(2.3, 0.0, "kaufman")}
    row = partial(CriticalTemperature, "visible_energy_variance_per_spin", "peak", "heat_capacity")
    return row(Estimate(value, error), **{**values, **changes})


def test_the_best_of_each_kind_with_what_the_others_do(tmp_path):
    rows = (
        estimate(2.300, 0.001, variant=None, role=None, n_hidden=None),
        estimate(2.320, 0.001),
        estimate(2.310, 0.001),
        estimate(2.301, 0.200),  # near by luck: its error says so
        estimate(2.305, 0.002, role="symmetric", variant="sym"),
        estimate(2.500, 0.001, problem="at an end"),
    )
    family = a_view(tmp_path, critical_temperatures=rows)
    assert [row.value for row in best_estimates(family)] == [2.300, 2.305, 2.310, 2.320]
    first, second, elsewhere, symbols = transition_words(family)
    assert re.search(r"= 2\.3050\(20\), where Var .* is largest\. That is", first)
    assert elsewhere == ""
    assert "is the visible energy of a machine" in symbols
    assert "+0.22\u00a0% (2.5 standard errors) from its target 2.3000" in first
    assert "on the infinite lattice the transition is at 2.269" in first
    assert "4 indicators: half of all lie within 0.3\u00a0%" in second
    assert "all within 0.9\u00a0%" in second


def test_other_data_of_a_study_are_not_forgotten(tmp_path):
    """In one sentence; those without a number or a transition are left out, and too many, too."""
    rows = (estimate(4.45, 0.01, target=Target(4.5, 0.0, "kaufman")),)
    frustrated = a_family("frustrated", critical_temperatures=rows, critical_temperature=None)
    others = [a_family(f"3d-{k}", critical_temperatures=rows) for k in range(4)]
    first = a_family(critical_temperatures=(estimate(2.31, 0.001),))
    run = a_run(tmp_path, first, a_family("none"), frustrated, *others)
    words = transition_words(run.families[0])[2]
    start = "They put the transition of 3d-0 (4×4) at 4.450(10) (−1.11\u00a0% from its target), that of 3d-1"
    assert words.startswith(start)
    assert words.count(" of 3d") == 3


def test_of_the_same_number_twice_one_is_shown(tmp_path):
    """As of the heat capacity and T dS/dT, which are the same by reweighting."""
    rows = [estimate(value, 0.001, role="union") for value in (2.310, 2.310, 2.350)]
    family = a_view(tmp_path, critical_temperatures=tuple(rows))
    assert [row.value for row in best_estimates(family)] == [2.310, 2.350]


def test_every_kind_is_shown_before_any_twice_and_targets_come_first(tmp_path):
    roles = ("data", "symmetric", "main", "union", "zero-bias")
    places = [(role, 2.3 + 0.01 * k) for k, role in enumerate(roles)]
    rows = [estimate(value + off, 0.001, role=role) for role, value in places for off in (0, 0.1)]
    rows.append(estimate(2.9, 1e-4, role="main", target=None))
    family = a_view(tmp_path, critical_temperatures=tuple(rows))
    shown = [(row.role, row.value) for row in best_estimates(family)]
    assert shown == [places[0], ("data", 2.4), *places[1:]]


def test_without_a_target_the_sharpest_is_named(tmp_path):
    rows = (estimate(1.50, 0.20, target=None), estimate(1.60, 0.01, target=None))
    family = a_view(tmp_path, critical_temperatures=rows, critical_temperature=None, hamiltonian="unknown")
    first, second, *_ = transition_words(family)
    assert "= 1.600(10)" in first
    assert "target" not in first
    assert "between 1.5 and 1.6; no exact value is known" in second


def bracketed(tmp_path, **changes):
    upper = Curve((2.0, 2.5, 3.0), (0.20, 0.40, 0.60), (0.01, 0.01, 0.01))
    curves = {
        "pseudo_entropy_per_spin": Curve((2.0, 2.5), (0.10, 0.30), (0.001, 0.001)),
        "entropy_per_spin": Curve((2.0, 2.5), (0.15, 0.45), (0.0, 0.0)),
    }
    item = Indicators("main", "main", False, 4, {"entropy_upper_per_spin": upper})
    thermodynamics = Thermodynamics(changes.pop("curves", curves), {})
    return a_view(
        tmp_path, machines=(a_machine(),), indicators=(item,), thermodynamics=thermodynamics, **changes
    )


def test_the_bracket_and_where_it_fails(tmp_path):
    family = bracketed(tmp_path)
    first, second = entropy_words(family)
    edges = r"pseudo-entropy .* = 0\.3000\(10\) and the upper bound .* = 0\.400\(10\) nats"
    assert re.search(edges, first)
    assert "by integration is 0.45" in first
    assert "at 1 of 2 values" in second  # 0.45 is five errors above the upper edge at 2.5
    assert entropy_panel(family).series[0].band[1].tolist() == [0.20, 0.40]


def test_without_a_hamiltonian_there_is_an_upper_edge_alone(tmp_path):
    first, second = entropy_words(bracketed(tmp_path, curves={}, hamiltonian="unknown"))
    assert "at most 0.200(10) nats" in first
    assert "is not known" in second


def judged(*judgements):
    claim = Claim("id", "Fig. 1", Markup("It is so."), "rule", lambda family: None)
    return Judged(claim, tuple(Finding(str(k), item, Markup("")) for k, item in enumerate(judgements)))


@pytest.mark.parametrize(
    ("judgements", "verdict"),
    [
        ((HOLDS, HOLDS), "holds"),
        ((HOLDS, FAILS, OPEN), "mixed"),
        ((FAILS, UNTESTED), "does not hold"),
        ((OPEN, UNTESTED), "inconclusive"),
        ((UNTESTED,), "not tested"),
        ((HOLDS, Judgement.BROKEN), "report failed"),
    ],
)
def test_one_mark_for_all_families(judgements, verdict):
    assert verdict_of(judged(*judgements)) == verdict


def test_marks_are_counted_in_words():
    marks = claim_marks([judged(FAILS), judged(UNTESTED), judged(HOLDS), judged(HOLDS, FAILS)])
    assert [mark.sign for mark in marks] == ["✓", "±", "✗", "–"]
    words = count_words(marks)
    assert "4 claims 3 were tested by fixed rules: 1 hold, 1 do not hold, 1 hold on some" in words
    assert words.endswith("not on others.")  # none of which the errors are too large to tell


def test_a_study_without_anything_says_so(tmp_path):
    for run in (a_run(tmp_path), a_run(tmp_path, a_family())):
        cards = opening_cards(run, [])
        assert len(cards) == 4
        assert all(card.gap and not card.gap.is_failure for card in cards[:3])


def test_lattices_of_several_sides_open_with_their_scaling(tmp_path):
    """On the published study: T_c of the infinite lattice, and no card that only says what is missing."""
    copy = shutil.copytree(RESULTS / "scaling", tmp_path / "scaling")
    unpack(copy)
    transition, order = opening_cards(read_run(copy), [])
    assert transition.section == "section-scaling"
    assert re.search(
        r"2d: sides of 8 to 128 spins give .* = 2\.269\d+\(\d+\) \(2\.26919\)", transition.words[0]
    )
    assert transition.gap is order.gap is None


def test_machines_that_know_the_lattice_open_with_their_couplings():
    """On the published study, which has no dense machines."""
    cards = {card.id: card for card in opening_cards(read_run(RESULTS / "frustrated"), [])}
    assert "learned the couplings" in cards["card-learnt"].words[0]
    assert "The configurations put the transition of triangular-f" in cards["card-transition"].words[0]
    assert "no exact value" not in " ".join(cards["card-transition"].words)


def test_filters_are_those_of_machines_that_started_at_random(tmp_path):
    machines = (a_machine(), a_machine(as_paper=True, value=3.0))
    first, other = a_run(
        tmp_path, a_family(machines=machines), a_family("3d", machines=machines[:1])
    ).families
    assert [machine.value for machine in first.from_random_weights.results.machines] == [3.0]
    assert other.from_random_weights is other


def test_a_mistake_in_the_scaling_card_is_shown(monkeypatch):
    """It does not give way to another card in silence; curves that were not stored do."""
    run = read_run(RESULTS / "scaling")  # without its arrays
    assert opening_cards(run, [])[0].section == "section-critical"
    monkeypatch.setattr(opening, "scaling_panel", lambda run: 1 / 0)
    card = opening_cards(run, [])[0]
    assert card.gap is not None
    assert card.gap.is_failure
