"""Claims and gaps: every family answers, errors are seen where they happen, sections list what they have."""

import importlib
import pkgutil

import pytest
from markupsafe import Markup
from small_results import a_family, a_machine, a_run

from thermorbm.report import build, sections
from thermorbm.report.run import Missing
from thermorbm.report.section import (
    FamilyFigure,
    Judgement,
    Ruling,
    Section,
    attempt,
    compare,
    decide,
    judge,
    make_tables,
)
from thermorbm.report.sections import SECTIONS, SUMMARY, energy
from thermorbm.study.results import Curve, Indicators


@pytest.fixture
def two_families(tmp_path):
    return a_run(tmp_path, a_family("2d"), a_family("<3d>"))


def a_claim(check):
    return Section("s", "S").claim("c", "Fig. 2", "It is $so$.")(check)


def findings(check, run):
    return [(f.family, str(f.judgement), f.measured) for f in judge(a_claim(check), run).findings]


def test_every_family_answers(two_families):
    def check(family):
        return decide(family.name == "2d", "{} < {}", family.name, 3)

    assert findings(check, two_families) == [
        ("2d", "holds", "2d < 3"),
        ("<3d>", "does not hold", "&lt;3d&gt; < 3"),
    ]


@pytest.fixture
def both_ways(tmp_path):
    """A family with a machine trained well and one trained as the paper's."""
    machines = (a_machine(n_hidden=4), a_machine(n_hidden=9, variant="as-paper", as_paper=True))
    return a_run(tmp_path, a_family("2d", machines=machines))


def test_machines_as_the_papers_are_judged_apart(both_ways):
    def check(family):
        return decide(family.smallest() == 4, "{} units", family.smallest())

    assert findings(check, both_ways) == [
        ("2d", "holds", "4 units"),
        ("2d-as-paper", "does not hold", "9 units"),
    ]


def test_what_is_said_of_the_data_is_said_once(both_ways):
    assert findings(lambda family: decide(True, "yes"), both_ways) == [("2d", "holds", "yes")]

    def only_of_the_others(family):
        if family.as_paper:
            raise Missing("none of these")
        return decide(True, "yes")

    assert findings(only_of_the_others, both_ways) == [("2d", "holds", "yes")]


def test_machines_as_the_papers_are_scored_on_training_data(both_ways):
    well, as_paper = both_ways.views
    name = "pseudo_likelihood_per_spin"
    assert (well.scored(name), as_paper.scored(name)) == (name, "pseudo_likelihood_train_per_spin")
    assert as_paper.scored("nll_per_spin") == "nll_per_spin"


@pytest.mark.parametrize(
    ("difference", "judgement"), [(4.0, "holds"), (-4.0, "does not hold"), (2.9, "inconclusive")]
)
def test_differences_decide_beyond_three_errors(difference, judgement):
    assert compare(difference, 1.0, "x").judgement == judgement


def test_claims_of_two_dimensions_are_judged_there_alone(tmp_path):
    run = a_run(tmp_path, a_family("2d"), a_family("3d", shape=(4, 4, 4)))
    two_dimensional = Section("s", "S").claim("c", "Fig. 2", "It is so.", 2)
    item = two_dimensional(lambda family: decide(True, "yes"))
    assert [(f.family, str(f.judgement), f.measured) for f in judge(item, run).findings] == [
        ("2d", "holds", "yes"),
        ("3d", "not tested", "the paper says so in 2 dimensions alone"),
    ]


def test_a_family_that_cannot_tell_is_shown_with_its_reason(two_families):
    def check(family):
        if family.name == "2d":
            raise Missing("no <b>data</b>")
        return Ruling(Judgement.INCONCLUSIVE, Markup("0.1(2)"))

    assert findings(check, two_families) == [
        ("2d", "not tested", "no &lt;b&gt;data&lt;/b&gt;"),
        ("<3d>", "inconclusive", "0.1(2)"),
    ]


def test_one_line_is_enough_if_no_family_can_tell_for_one_reason(two_families, tmp_path):
    def check(family):
        raise Missing("nothing was measured")

    assert findings(check, two_families) == [("", "not tested", "nothing was measured")]
    assert findings(check, a_run(tmp_path)) == [("", "not tested", "there are no data")]


def test_different_reasons_are_told_family_by_family(two_families):
    def check(family):
        raise Missing(f"not in {family.name}")

    assert [row[:2] for row in findings(check, two_families)] == [
        ("2d", "not tested"), ("<3d>", "not tested")
    ]  # fmt: skip


def test_an_error_of_a_check_does_not_vanish_behind_other_families(two_families):
    def check(family):
        if family.name == "2d":
            return decide(True, "well")
        return {}["<key>"]

    (_, broken) = findings(check, two_families)
    assert broken[:2] == ("<3d>", "report failed")
    assert broken[2].startswith("KeyError: &#39;&lt;key&gt;&#39; (test_claims.py, line ")


def test_errors_are_gaps_that_say_where():
    gap = attempt("Fig. 0", lambda: 1 // 0)
    assert (gap.what, gap.is_failure) == ("Fig. 0", True)
    assert "ZeroDivisionError" in gap.reason
    assert attempt("Fig. 0", lambda: 7) == 7
    with pytest.raises(KeyboardInterrupt):
        attempt("Fig. 0", interrupt)


def interrupt():
    raise KeyboardInterrupt


def test_failures_of_the_report_are_seen_on_the_page(copied_run, quick_figures, monkeypatch):
    """One figure, one table and one claim with a bug; all else is there."""

    def bug(family):
        raise KeyError("<img>")

    wrong = Section(
        "wrong", "Wrong", (FamilyFigure("fig-0", "Fig. 0", "Bug", bug),), (bug,), (a_claim(bug),), bug
    )
    for module in ("page", "sections"):
        monkeypatch.setattr(f"thermorbm.report.{module}.SECTIONS", (*SECTIONS, wrong))
    page = build(copied_run).read_text(encoding="utf-8")
    assert "The report itself failed in 6 places" in page
    assert page.count("the report failed here: KeyError: &#39;&lt;img&gt;&#39; (test_claims.py") == 4
    assert page.count('<span class="verdict report-failed">report failed</span>') == 2
    assert "<img>" not in page
    assert "fig-7" in page
    table = (copied_run / "tables" / "claims.csv").read_text()
    assert table.count("report failed") == 2


def test_a_table_with_a_bug_leaves_the_others(two_families):
    def bug(run):
        raise ValueError("x")

    section = Section("s", "S", tables=(bug, lambda run: ["table"]))
    tables, gaps = make_tables(section, two_families)
    assert tables == ["table"]
    assert [(gap.what, gap.is_failure) for gap in gaps] == [("Tables of S", True)]


def test_the_page_has_every_claim_and_figure_of_the_files():
    listed = {item.id for section in (SUMMARY, *SECTIONS) for item in (*section.claims, *section.figures)}
    for module in pkgutil.iter_modules(sections.__path__):
        values = vars(importlib.import_module(f"thermorbm.report.sections.{module.name}")).values()
        own = [value for value in values if isinstance(value, Section)]
        assert own, module.name
        assert {item.id for each in own for item in (*each.claims, *each.figures)} <= listed, module.name


def test_every_claim_states_its_rule():
    """The rule is the docstring of the check, on one line and without a full stop."""
    rules = {claim.id: claim.rule for section in SECTIONS for claim in section.claims}
    assert rules["filter-sum-peak"] == (
        "T_c of every size within 3 % of its own target; inconclusive where it is not known that well"
    )
    assert all(rule and rule[0].isupper() and "\n" not in rule for rule in rules.values())


def test_ids_are_unique():
    for kind in ("claims", "figures"):
        ids = [item.id for section in (SUMMARY, *SECTIONS) for item in getattr(section, kind)]
        assert len(ids) == len(set(ids))
    assert len({section.id for section in SECTIONS}) == len(SECTIONS)


def variances(n_hidden, values):
    """Variances of visible energies with a peak at 2.25."""
    curve = Curve(list(values), [1.0 - abs(value - 2.25) for value in values], [0.1] * len(values))
    curves = {"visible_energy_variance_per_spin": curve}
    return Indicators("main", "main", union=False, n_hidden=n_hidden, curves=curves)


@pytest.mark.parametrize(("n_large", "verdict"), [(1, "not tested"), (2, "does not hold")])
def test_a_curve_of_few_of_the_largest_machines_is_not_judged(tmp_path, n_large, verdict):
    """Its highest point is the last of its few temperatures, and says nothing."""
    values = {4: (2.0, 2.25, 2.5, 2.75), 9: (2.0, 2.25)[:n_large]}
    machines = [a_machine(n, value=value) for n, some in values.items() for value in some]
    family = a_family(machines=machines, indicators=[variances(n, some) for n, some in values.items()])
    (finding,) = judge(energy.peak_shifts_when_large, a_run(tmp_path, family)).findings
    assert str(finding.judgement) == verdict
