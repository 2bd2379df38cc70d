"""Tables of the page, from numbers of a run."""

from thermorbm.report.run import Run
from thermorbm.report.sections.methods import machine_tables, recipe_tables


def machine(n_hidden, epochs, status="not converged"):
    def number(value):
        return {"value": value, "error": 0.01}

    row = {
        "n_sites": 16,
        "likelihood": {"held_out": {"pseudo_likelihood_per_spin": number(0.3), "cross_entropy": number(0.2)}},
        "bracket": {"nll_per_spin": number(0.4)},
        "visible_energy": {"train": {"mean": number(-16.0), "variance": number(32.0)}},
    }
    return {
        "group": "main", "value": 2.25, "n_hidden": n_hidden, "seed_index": 0, "n_train": 9,
        "recipe": {"name": "fast", "epochs": epochs}, "verdict": {"status": status},
        "last_record": {"epoch": float(epochs)}, "observations": [row],
    }  # fmt: skip


def a_run(tmp_path, *machines):
    return Run(tmp_path, {"families": [{"name": "2d", "machines": list(machines)}]})


def test_sizes_with_a_recipe_of_their_own_have_a_column(tmp_path):
    (table,) = recipe_tables(a_run(tmp_path, machine(4, 18), machine(9, 18), machine(16, 12)))
    assert table.columns == ["", "2d main", "2d main 16"]
    assert ["epochs", "18", "12"] in table.rows


def test_a_machine_says_what_it_reached_and_whether_it_converged(tmp_path):
    (table,) = machine_tables(a_run(tmp_path, machine(4, 18)))
    assert len(table.rows[0]) == len(table.columns)
    assert table.rows[0] == [
        "main", "2.25", "4", "0", "fast", "18", "9", "not converged", "0.300(10)", "0.200(10)", "0.400(10)",
        "−1.00000(62)", "2.00000(62)",
    ]  # fmt: skip
