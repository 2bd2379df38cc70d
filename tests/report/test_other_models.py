"""What the report says of data that are not the Ising ferromagnet at a temperature."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_results import a_family, a_machine, a_run, a_view

from thermorbm.dataset import Dataset
from thermorbm.reading.values import Four, Interactions, OwnChains, Pair
from thermorbm.report.run import FamilyView, Missing, read_run
from thermorbm.report.section import Judgement, judge_all
from thermorbm.report.sections import SECTIONS
from thermorbm.report.sections.entropy import draw_heat_capacities, entropy_series
from thermorbm.report.sections.hidden import draw_sign_rule, sign_rule_table
from thermorbm.report.sections.models import SECTION, draw_entropies
from thermorbm.report.sections.summary import done_table, write_warnings
from thermorbm.report.sections.symmetric import coupling_table, draw_couplings
from thermorbm.runner.task import Task
from thermorbm.stats import Estimate
from thermorbm.study.results import Curve, Data, Indicators, Model
from thermorbm.study.spec import Control
from thermorbm.study.steps import measure

TRIANGULAR = Model(
    "triangular 6x6, coupling -1, field 0.1", "leading principal component", 1,
    (Pair((1, 0), -1.0), Pair((0, 1), -1.0), Pair((1, 1), -1.0)), 0.1,
)  # fmt: skip


def symmetric_machine(value=2.0):
    pairs = {(1, 0): -0.5, (0, 1): -0.4, (1, -1): 0.05}
    learned = Interactions(
        Estimate(-0.5, np.nan), tuple(Pair(r, J) for r, J in pairs.items()),
        (Four(((0, 0),), 0.01),), OwnChains(), field=0.06,
    )  # fmt: skip
    return a_machine(108, variant="symmetric", role="symmetric", filters=3, kernel=2, value=value,
                     interactions=learned)  # fmt: skip


def symmetric_curves():
    curve = Curve((2.0, 3.0), (-0.5, -0.3), (0.01, 0.01))
    return Indicators("symmetric", "symmetric", False, 108, {"coupling_1_0": curve})


def other_control(path, family):
    """The same family where a pressure is varied."""
    run = a_run(path, family)
    study = replace(run.results.study, control=Control("pressure", "p", "GPa"))
    run = replace(run, results=replace(run.results, study=study))
    return FamilyView(run, family)


def test_couplings_and_field_by_displacement(tmp_path):
    view = a_view(tmp_path, hamiltonian="triangular", model=TRIANGULAR, machines=(symmetric_machine(),))
    table = coupling_table(view)
    wanted = {"J T of (1, 0)": "−1", "J T of (0, 1)": "−0.8", "J T of (1, 1)": "–", "h T": "0.12",
              "largest other": "0.1"}  # fmt: skip
    row = dict(zip(map(str, table.columns), table.rows[0], strict=True))
    assert {name: row[name] for name in wanted} == wanted
    assert "learned T" not in row
    assert "The field is 0.1." in table.note
    plain = coupling_table(a_view(tmp_path, machines=(symmetric_machine(),)))
    assert {"learned T", "J T of neighbours", "h T"} <= set(map(str, plain.columns))


def test_of_many_couplings_the_largest_are_drawn_and_the_others_counted(tmp_path):
    """Cells of three sites have dozens, most of them 0: their legend would leave no room for the curves."""
    names = [f"coupling_0_{k}" for k in range(1, 21)]
    curves = {
        name: Curve((2.0, 3.0), (0.0, 1 / k), (0.01, 0.01)) for k, name in enumerate(reversed(names), 1)
    }
    view = a_view(
        tmp_path, machines=(symmetric_machine(),), indicators=(replace(symmetric_curves(), curves=curves),)
    )
    chart = draw_couplings(view)
    drawn = [item for item in chart.panels[0].series if item.errors is not None]
    np.testing.assert_allclose([item.y.max() for item in drawn], [3 / k for k in range(1, 8)])
    assert "The 7 largest are shown; 13 others are at most 0.38." in chart.caption


def test_another_control_parameter_is_no_temperature(tmp_path):
    family = a_family(
        hamiltonian="unknown", critical_temperature=None, machines=(symmetric_machine(),),
        indicators=(symmetric_curves(),),
    )  # fmt: skip
    view = other_control(tmp_path, family)
    chart = draw_couplings(view)
    assert "T" not in chart.panels[0].y_label.tex.split("/")[0]  # J(r) / k_B T, not J(r) T
    np.testing.assert_allclose(chart.panels[0].series[-1].y, [-0.5, -0.3])  # not multiplied by p
    hot = draw_couplings(a_view(tmp_path, machines=family.machines, indicators=family.indicators))
    np.testing.assert_allclose(hot.panels[0].series[-1].y, [-1.0, -0.9])
    assert "J of (1, 0)" in map(str, coupling_table(view).columns)
    with pytest.raises(Missing):
        draw_heat_capacities(view.run)


def test_what_is_about_the_magnetisation_is_left_out(tmp_path):
    view = a_view(tmp_path, hamiltonian="triangular", model=TRIANGULAR)
    with pytest.raises(Missing, match="the order parameter here is the leading principal component"):
        draw_sign_rule(view)
    assert sign_rule_table(view).rows == []


def test_claims_are_about_the_ferromagnet(tmp_path):
    for changes in ({"hamiltonian": "triangular", "model": TRIANGULAR}, {"hamiltonian": "unknown"}):
        run = a_run(tmp_path, a_family(**changes))
        for item in judge_all(SECTIONS, run):
            (finding,) = item.findings
            assert finding.judgement is Judgement.UNTESTED
            is_reason = "the paper says so of the Ising ferromagnet" in finding.measured
            assert is_reason != (item.claim.of_any_model or "dimensions alone" in finding.measured)


def test_plain_studies_have_no_section_on_hamiltonians(tmp_path):
    run = a_run(tmp_path, a_family())
    assert draw_entropies(run) == []
    assert [table for make in SECTION.tables for table in make(run)] == []


def test_the_summary_names_the_hamiltonian(tmp_path):
    model = replace(TRIANGULAR, words="kagome 3x3, coupling -1", n_cell=3)
    family = a_family(hamiltonian="kagome", model=model, shape=None, n_sites=27)
    (table,) = done_table(a_run(tmp_path, family))
    assert table.rows[0][1:3] == ["27 sites, 3 per cell", "kagome 3x3, coupling -1"]


class OneDataset:
    """A store that holds one dataset."""

    def __init__(self, data):
        self.data = data

    def large(self, task_id, load):
        return self.data


@pytest.mark.parametrize("n_up", [0, 1, 16])
def test_constant_data_are_said_to_be_constant(tmp_path, n_up):
    row = np.where(np.arange(16) < n_up, 1, -1).astype(np.int8)
    task = Task("measure", "x", "", {"thermal": True, "hamiltonian": "unknown"}, ("d",))
    store = OneDataset(Dataset.from_spins(np.tile(row, (20, 1)), (4, 4)))
    assert measure.run(task, store, None, None).values["is_constant"]
    row[3] *= -1
    other = np.concatenate([store.data.spins(), row[None]])
    values = measure.run(task, OneDataset(Dataset.from_spins(other, (4, 4))), None, None).values
    assert "is_constant" not in values
    data = Data(1.5, "symmetric", 1, "import", 16, 4, 16, is_constant=True)
    words = write_warnings(a_run(tmp_path, a_family(data=(data,))))
    assert any("All configurations of a dataset are one and the same" in text for text in words)
    assert any("2d at 1.5" in text for text in words)


def test_a_line_of_the_legend_that_families_share_is_exact():
    """J1-J2 has no exact curve: the entropy of its samples is points, as beside the exact ones of others."""
    run = read_run(Path(__file__).parents[2] / "results" / "frustrated")
    entropies = [item for family in run.families for item in entropy_series(family)]
    assert any("of all samples" in item.name.tex for item in entropies)
    for item in entropies:
        assert (item.dash is not None) == ("exact" in item.name.tex)
