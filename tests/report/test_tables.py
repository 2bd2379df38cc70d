"""Tables of the page, from numbers of a run."""

from small_results import a_family, a_machine, a_run, a_view

from thermorbm.report.sections.methods import machine_table, recipe_tables
from thermorbm.report.sections.summary import ROLES
from thermorbm.stats import Estimate
from thermorbm.study.plan import plan_study
from thermorbm.study.results import (
    Bracket,
    Likelihood,
    MeanAndVariance,
    Observation,
    Scores,
    Verdict,
    VisibleEnergy,
)
from thermorbm.study.toml import find_study, load_study


def machine(n_hidden, epochs):
    def number(value):
        return Estimate(value, 0.01)

    scores, energy = Scores(number(0.3), number(0.2)), MeanAndVariance(number(-16.0), number(32.0))
    row = Observation(
        2.25, 16, likelihood=Likelihood(scores, scores), bracket=Bracket(number(0.5), number(0.4), 9),
        visible_energy=VisibleEnergy(energy, energy, energy, energy, -17.0),
    )  # fmt: skip
    return a_machine(
        n_hidden, recipe={"name": "fast", "epochs": epochs}, verdict=Verdict("not converged"),
        last_record={"epoch": float(epochs)}, observations=(row,),
    )  # fmt: skip


def run_with(tmp_path, *machines):
    return a_run(tmp_path, a_family(machines=machines))


def test_sizes_with_a_recipe_of_their_own_have_a_column(tmp_path):
    (table,) = recipe_tables(run_with(tmp_path, machine(4, 18), machine(9, 18), machine(16, 12)))
    assert table.columns == ["", "2d main", "2d main 16"]
    assert ["epochs", "18", "12"] in table.rows


def test_a_machine_says_what_it_reached_and_whether_it_converged(tmp_path):
    table = machine_table(a_view(tmp_path, machines=(machine(4, 18),)))
    assert len(table.rows[0]) == len(table.columns)
    assert table.rows[0] == [
        "main", "2.25", "4", "0", "fast", "18", "9", "not converged", "0.300(10)", "0.200(10)", "0.400(10)",
        "−1.00000(62)", "2.00000(62)", "–",
    ]  # fmt: skip


def test_whatever_a_variant_is_for_has_words():
    """The paper's study has every role; a missing one had cost its report the table of what was done."""
    roles = {task.labels.get("role") for task in plan_study(load_study(find_study("paper"))).tasks.values()}
    assert {"scatter", "unbalanced", "zero-bias", "union-proportions", "symmetric"} <= roles
    assert roles - {None} <= set(ROLES)
