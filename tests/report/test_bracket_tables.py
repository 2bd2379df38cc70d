"""Tables of the entropy bracket and of the quality of machines, from the numbers of a run."""

from small_results import a_machine, a_view

from thermorbm.report.section import each_family
from thermorbm.report.sections.entropy import bracket_table
from thermorbm.report.sections.generation import quality_table
from thermorbm.stats import Estimate
from thermorbm.study.results import Bracket, Comparison, Data, ExactValues, Observation, Partition, Quality


def estimate(value):
    return Estimate(value, 0.001)


def observation(**edges):
    bracket = Bracket(estimate(0.36), estimate(0.35), 100, **edges)
    comparison = Comparison(estimate(-1.4), estimate(-1.3), 70.7)
    quality = Quality("equilibrium", True, 512, 10, 4.0, {"energy": comparison}, {})
    return Observation(2.25, 16, bracket=bracket, quality=quality)


def family_with(tmp_path, hamiltonian, row):
    partition = Partition(1.0, 0.1, 0.9, 1.1, "ais", "wider than asked: 5 nats instead of 4")
    exact = ExactValues("kaufman", -1.4, 1.5, 0.2833, -2.0)
    data = Data(2.25, "symmetric", 1, "metropolis", 9, 3, 16, exact=exact)
    machine = a_machine(64, observations=(row,), partition=partition)
    return a_view(tmp_path, hamiltonian=hamiltonian, machines=(machine,), data=(data,))


def test_a_row_per_machine_and_temperature(tmp_path):
    row = observation(entropy_lower_per_spin=estimate(0.2362), kl_per_spin=estimate(0.067))
    table = bracket_table(family_with(tmp_path, "ising", row))
    assert table.caption == "2d: entropy bracket"
    assert table.rows == [
        [
            "main", "64", "2.25", "0.2362(10)", "0.2833", "0.3600(10)", "0.3500(10)", "–", "0.0670(10)", "–",
            "wider than asked: 5 nats instead of 4",
        ]
    ]  # fmt: skip
    assert len(table.columns) == len(table.rows[0])
    assert "no lower edge" not in table.note


def test_users_data_have_no_lower_edge(tmp_path):
    table = bracket_table(family_with(tmp_path, "unknown", observation()))
    assert table.rows[0][3] == "–"
    assert "There is no lower edge without a Hamiltonian." in table.note


def test_quality_in_standard_errors(tmp_path):
    table = quality_table(family_with(tmp_path, "ising", observation()))
    assert table.columns[3:] == ["energy", "Verdict"]
    assert table.rows == [["main", "64", "2.25", "71", "equilibrium"]]


def test_runs_without_them_have_no_tables(tmp_path):
    family = family_with(tmp_path, "ising", Observation(2.25, 16))
    assert each_family(bracket_table)(family.run) == each_family(quality_table)(family.run) == []
