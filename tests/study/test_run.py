"""Studies run for real: what lies in the directory, what is skipped, and what is made again."""

import csv
import shutil
from dataclasses import replace

import numpy as np
import pytest

from thermorbm import exact
from thermorbm.runner.progress import read_status
from thermorbm.runner.rundir import RunDirectory
from thermorbm.runner.store import read_reduced, write_reduced
from thermorbm.study.run import run_study


@pytest.fixture
def again(finished, small_file, tmp_path, recorder):
    """A function that runs the finished study again, in a copy of its directory."""
    shutil.copytree(finished.directory.path, tmp_path / "run")

    def run(**options):
        return run_study(small_file, tmp_path / "run", recorder, n_workers=1, **options)

    run.directory, run.notes = RunDirectory(tmp_path / "run"), recorder.notes
    return run


def files(directory, place, kind):
    return sorted((directory.path / place / kind).glob("*.h5"))


def test_everything_is_done_and_found_where_it_belongs(finished, results):
    assert finished.is_complete
    assert finished.results.not_certified == []
    content = results(finished.directory.path)
    assert content["tasks"] == {"total": 26, "done": 26, "failed": [], "missing": []}
    assert content["study"]["title"] == "Small <b>study</b>"
    family = content["families"][0]
    assert [row["value"] for row in family["data"]] == [2.0, 3.0]
    assert [row["value"] for row in family["energies"]] == [1.0, 5.0]
    assert [(row["group"], row["value"]) for row in family["machines"]] == [
        ("main", 2.0), ("main", 3.0), ("all", None),
    ]  # fmt: skip
    assert [row["value"] for row in family["machines"][2]["observations"]] == [2.0, 3.0]
    assert family["machines"][2]["n_train"] == 512 + 256
    assert {(row["group"], row["n_hidden"]) for row in family["indicators"]} == {("main", 4), ("all", 4)}


def test_results_that_were_copied_from_another_run_are_taken_over(finished, small_file, tmp_path, recorder):
    for name in ("reduced", "cache"):
        shutil.copytree(finished.directory.path / name, tmp_path / "run" / name)
    summary = run_study(small_file, tmp_path / "run", recorder, n_workers=1)
    assert (summary.n_before, summary.n_tasks) == (26, 26)


def test_energies_agree_with_exact_values(finished, results):
    family = results(finished.directory.path)["families"][0]
    for row in (*family["data"], *family["energies"]):
        found = row["thermal"]["energy_per_spin"]
        truth = exact.kaufman(4, row["value"])
        assert row["exact"]["energy_per_spin"] == pytest.approx(truth.energy)
        assert abs(found["value"] - truth.energy) < 5 * found["error"]


def test_the_entropy_lies_in_the_bracket(finished, results):
    family = results(finished.directory.path)["families"][0]
    for machine in family["machines"]:
        assert machine["partition"]["method"] == "exact"  # 4 hidden units
        for row in machine["observations"]:
            found, truth = row["bracket"], exact.kaufman(4, row["value"]).entropy
            lower, upper = (found[f"entropy_{edge}_per_spin"] for edge in ("lower", "upper"))
            assert lower["value"] - 4 * lower["error"] < truth < upper["value"] + 4 * upper["error"]
            assert found["nll_per_spin"] == upper  # ln Z is exact
            assert found["kl_per_spin"]["value"] == pytest.approx(upper["value"] - truth)
            assert found["kl_bound_per_spin"]["value"] == pytest.approx(upper["value"] - lower["value"])
    shown = {row["indicator"] for row in family["critical_temperatures"]}
    assert "entropy_upper_per_spin" in shown
    curve = next(row for row in family["indicators"] if row["group"] == "main")["curves"]
    assert curve["entropy_upper_per_spin"]["x"] == [2.0, 3.0]


def test_the_quality_of_machines_for_one_temperature(finished, results):
    one, _, union = results(finished.directory.path)["families"][0]["machines"]
    found = one["observations"][0]["quality"]
    assert set(found["comparisons"]) == {
        "joint_energy", "abs_magnetization", "energy", "correlation_r2", "heat_capacity",
    }  # fmt: skip
    assert found["is_equilibrium"] is (found["verdict"] == "equilibrium")
    assert union["observations"][0]["quality"] is None


def test_arrays_for_figures_are_in_the_reduced_results(finished, results):
    machine = results(finished.directory.path)["families"][0]["machines"][0]
    path = finished.directory.path
    history = read_reduced(path / machine["file"]).arrays
    assert history["history.pseudo_likelihood"].shape == history["history.update"].shape
    weights = read_reduced(path / machine["weights"]["file"]).arrays
    assert weights["filters"].shape == (4, 4, 4)
    assert weights["all_filters"].shape == (4, 16)
    assert weights["W.edges"].shape == (61,)
    observed = read_reduced(path / machine["observations"][0]["file"]).arrays
    assert observed["hidden_layers"].shape == (5, 2, 2)
    assert observed["relaxation.p_h.energy"].shape == (17, 2)
    assert max(file.stat().st_size for file in path.glob("reduced/*/*.h5")) < 64_000


def test_tables_have_a_row_per_machine_and_columns_for_errors(finished):
    with open(finished.directory.path / "tables" / "observations.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    column = "likelihood.held_out.pseudo_likelihood_per_spin"
    assert all(float(row[f"{column}_error"]) > 0 for row in rows)
    assert {row["group"] for row in rows} == {"main", "all"}


def test_a_second_run_does_nothing(again, results):
    before = results(again.directory.path)
    summary = again()
    assert summary.outcome.done == ()
    assert (summary.n_before, summary.n_tasks) == (26, 26)
    assert results(again.directory.path) == before


def test_reduced_results_are_enough(again, results):
    """Without configurations and machines everything can be put together again."""
    before = results(again.directory.path)
    shutil.rmtree(again.directory.path / "cache")
    again.directory.results.unlink()
    assert again().outcome.done == ()
    assert results(again.directory.path) == before


def test_damaged_results_are_made_again_and_said_so(again, results):
    before = results(again.directory.path)
    reduced, data = (
        files(again.directory, "reduced", "measure")[0],
        files(again.directory, "cache", "sample")[0],
    )
    assert reduced.name.startswith("2d-T2-")
    reduced.write_bytes(reduced.read_bytes()[:-1])
    content = bytearray(data.read_bytes())
    content[-100] ^= 4
    data.write_bytes(content)
    summary = again()
    assert sorted(task_id.split("/")[0] for task_id in summary.outcome.done) == ["measure", "sample"]
    assert len(again.notes) == 2
    assert all("truncated or altered); computing it again" in note for note in again.notes)
    assert results(again.directory.path) == before


def test_a_checkpoint_that_a_kill_left_beside_its_result_is_removed(again):
    left = again.directory.checkpoint(f"train/{files(again.directory, 'cache', 'train')[0].stem}")
    left.parent.mkdir(exist_ok=True)
    left.write_bytes(b"of a training that is done")
    assert again().is_complete
    assert not left.exists()


def test_a_damaged_machine_is_trained_again(again, results):
    """Even if its configurations are gone too."""
    before = results(again.directory.path)
    machine = next(path for path in files(again.directory, "cache", "train") if path.name.startswith("2d-T3"))
    machine.write_bytes(b"")
    for path in files(again.directory, "reduced", "weights"):
        if path.name.startswith("2d-T3"):
            path.unlink()
    shutil.rmtree(again.directory.path / "cache" / "sample")
    summary = again()
    kinds = [task_id.split("/")[0] for task_id in summary.outcome.done]
    assert kinds == ["sample", "train", "weights"]
    assert results(again.directory.path) == before


def test_ln_z_of_other_weights_is_made_again(again, results):
    """The same seed may give other last bits on another processor, and in the cold quite another machine."""
    before = results(again.directory.path)
    path = files(again.directory, "reduced", "partition")[0]
    ln_z = read_reduced(path)
    assert len(ln_z.values["weights_hash"]) == 64
    write_reduced(path, replace(ln_z, values={**ln_z.values, "value": 0.0, "weights_hash": "0" * 64}))
    for bracket in files(again.directory, "reduced", "bracket"):
        bracket.unlink()
    summary = again()
    assert sorted(task_id.split("/")[0] for task_id in summary.outcome.done).count("partition") == 1
    assert any("ln Z of other weights" in note for note in again.notes)
    assert results(again.directory.path) == before


def test_fresh_does_everything_again_and_one_worker_gives_what_two_gave(finished, again, results):
    summary = again(fresh=True)
    assert len(summary.outcome.done) == 26
    assert results(again.directory.path) == results(finished.directory.path)


def test_status_of_a_finished_run(finished):
    found = read_status(finished.directory)
    assert found.study == "small"
    assert found.counts == {"done": 26, "running": 0, "pending": 0, "failed": 0, "skipped": 0}
    assert found.stages["train"] == (3, 3)
    assert found.runner is None
    assert found.last_error is None


def test_status_of_a_run_with_a_gap(again):
    files(again.directory, "reduced", "weights")[0].unlink()
    assert read_status(again.directory).counts["pending"] == 1


def test_generated_configurations_follow_the_machine(finished, results):
    """A sanity check of the whole chain: at T = 3 new configurations are less ordered than at T = 2."""
    machines = results(finished.directory.path)["families"][0]["machines"][:2]
    sizes = [
        machine["observations"][0]["generation"]["random"]["abs_magnetization_per_spin"]["value"]
        for machine in machines
    ]
    assert np.all(np.isfinite(sizes))
    assert sizes[1] < sizes[0]


def test_one_row_sums_up_a_machine(finished, results):
    with open(finished.directory.path / "tables" / "summary.csv", newline="") as file:
        one, _, union = csv.DictReader(file)
    family = results(finished.directory.path)["families"][0]
    seen = [machine["observations"] for machine in family["machines"]]
    assert (one["group"], one["value"], one["recipe"], one["epochs"]) == ("main", "2.0", "fast", "3")
    assert one["status"] in ("converged", "not converged")
    expected = seen[0][0]["likelihood"]["held_out"]["pseudo_likelihood_per_spin"]
    assert float(one["pseudo_likelihood_per_spin"]) == expected["value"]
    energy = seen[0][0]["visible_energy"]["held_out"]["mean"]
    assert float(one["visible_energy_mean_per_spin_error"]) == pytest.approx(energy["error"] / 16)
    assert float(one["entropy_per_spin"]) == pytest.approx(exact.kaufman(4, 2.0).entropy)
    assert (union["value"], union["n_values"]) == ("", "2")
    nll = [row["bracket"]["nll_per_spin"] for row in seen[2]]
    assert float(union["nll_per_spin"]) == pytest.approx(np.mean([item["value"] for item in nll]))
    together = np.hypot(*(item["error"] for item in nll)) / 2
    assert float(union["nll_per_spin_error"]) == pytest.approx(together)
