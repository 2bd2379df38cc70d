"""Tables of the entropy bracket and of the quality of machines, from the numbers of a run."""

from thermorbm.report.run import Run
from thermorbm.report.sections.entropy import bracket_tables
from thermorbm.report.sections.generation import quality_tables


def estimate(value, error=0.001):
    return {"value": value, "error": error}


def observation(**more):
    bracket = {
        "entropy_upper_per_spin": estimate(0.36),
        "nll_per_spin": estimate(0.35),
        "lower_problem": None,
        "n_samples": 100,
        **more,
    }
    comparison = {"data": estimate(-1.4), "model": estimate(-1.3), "z_score": 70.7}
    quality = {"comparisons": {"energy": comparison}, "verdict": "equilibrium"}
    return {"value": 2.25, "bracket": bracket, "quality": quality}


def a_run(tmp_path, hamiltonian, row):
    machine = {
        "group": "main", "union": False, "sector": "symmetric", "seed_index": 0, "n_hidden": 64,
        "value": 2.25, "recipe": {}, "observations": [row],
        "partition": {"verdict": "wider than asked: 5 nats instead of 4"},
    }  # fmt: skip
    data = {"value": 2.25, "sector": "symmetric", "exact": {"entropy_per_spin": 0.2833}}
    family = {"name": "2d", "hamiltonian": hamiltonian, "machines": [machine], "data": [data]}
    return Run(tmp_path, {"families": [family]})


def test_a_row_per_machine_and_temperature(tmp_path):
    row = observation(entropy_lower_per_spin=estimate(0.2362), kl_per_spin=estimate(0.067))
    (table,) = bracket_tables(a_run(tmp_path, "ising", row))
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
    (table,) = bracket_tables(a_run(tmp_path, "unknown", observation()))
    assert table.rows[0][3] == "–"
    assert "There is no lower edge without a Hamiltonian." in table.note


def test_quality_in_standard_errors(tmp_path):
    (table,) = quality_tables(a_run(tmp_path, "ising", observation()))
    assert table.columns[3:] == ["energy", "Verdict"]
    assert table.rows == [["main", "64", "2.25", "71", "equilibrium"]]


def test_runs_without_them_have_no_tables(tmp_path):
    run = a_run(tmp_path, "ising", {"value": 2.25})
    assert bracket_tables(run) == quality_tables(run) == []
