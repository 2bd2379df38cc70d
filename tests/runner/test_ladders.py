"""Temperatures of a frustrated family are sampled by one ladder, whoever does the tasks, in any order."""

import numpy as np
import pytest
from own_process import OwnProcess

import thermorbm as tr
from thermorbm.runner import run as runner
from thermorbm.runner.remote import input_files
from thermorbm.runner.rundir import RunDirectory
from thermorbm.runner.shards import Shard, share
from thermorbm.runner.store import Store
from thermorbm.study.plan import plan_study
from thermorbm.study.run import run_shard, run_study
from thermorbm.study.steps import estimate_costs
from thermorbm.study.steps.ladder import taken_from_ladder
from thermorbm.study.toml import load_study

STUDY = """
name = "glass"
seed = 5

[[family]]
name = "glass"
lattice = "pm-j"
shape = [4, 4]
p = 0.5
disorder_seed = 3
temperatures = [0.5, 1.0, 9.0]
samples = 600
held_out = 100
hidden = [4]
parts = ["thermal", "entropy"]

[family.changes]
epochs = 1
least_updates = 0

[family.energies]
temperatures = [0.7, 1.5, 2.0, 12.0]
samples = 300

[[family]]
name = "plain"
shape = [4, 4]
temperatures = [2.0, 3.0]
samples = 100
parts = ["thermal"]
"""
H = tr.hamiltonian("pm-j", (4, 4), p=0.5, seed=3)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(runner, "_local_workers", lambda _: lambda directory, costs: OwnProcess(directory))


@pytest.fixture
def study_file(write_study):
    return write_study(STUDY)


def tasks_of(path):
    return plan_study(load_study(path)).tasks


def by_name(tasks):
    return {f"{task.kind}/{task.name}": task for task in tasks.values()}


def spins_of(directory, task):
    return tr.Dataset.load(directory.large(task.id)).packed


def test_what_is_planned(study_file):
    tasks = by_name(tasks_of(study_file))
    data, energies = tasks["ladder/glass-data"], tasks["ladder/glass-energies"]
    assert (data.parameters["temperatures"], data.parameters["samples"]) == ([0.5, 1.0], 700)
    assert energies.parameters["temperatures"] == [0.7, 1.5, 2.0]
    for name, ladder in [
        ("sample/glass-T0.5", data), ("sample/glass-T1", data),
        ("energies/glass-T0.7", energies), ("energies/glass-T1.5", energies), ("energies/glass-T2", energies),
    ]:  # fmt: skip
        assert tasks[name].inputs == tasks[name].large_inputs == (ladder.id,)
        assert tasks[name].parameters["seed"] == ladder.parameters["seed"]
    # Hotter than any ladder, or not frustrated: chains of their own.
    for name in ("sample/glass-T9", "energies/glass-T12", "sample/plain-T2", "sample/plain-T3"):
        assert tasks[name].inputs == ()
    assert sum(name.startswith("ladder/") for name in tasks) == 2


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ("[0.5, 1.0, 9.0]", "[0.5, 0.8, 1.0, 9.0]", {"ladder", "sample", "measure", "train", "estimate"}),
        ("[0.7, 1.5, 2.0, 12.0]", "[0.7, 1.2, 1.5, 2.0, 12.0]", {"ladder", "energies", "estimate"}),
        ("[0.5, 1.0, 9.0]", "[0.5, 1.0, 8.0, 9.0]", {"estimate"}),
    ],
)
def test_another_temperature_is_another_ladder(write_study, old, new, kinds):
    before, after = by_name(tasks_of(write_study(STUDY))), by_name(tasks_of(write_study(STUDY, **{old: new})))
    changed = {name for name, task in before.items() if name in after and task.hash != after[name].hash}
    assert {name.split("/")[0] for name in changed} & {
        "ladder", "sample", "energies", "measure", "train", "estimate"
    } == kinds  # fmt: skip
    assert not any("plain" in name or "-T9" in name or "-T12" in name for name in changed)


def test_sectors_have_ladders_of_their_own(write_study):
    more = '[[family.variant]]\nname = "odd"\nsector = 0.6\nhidden = [4]\n'
    study = STUDY.replace('[[family]]\nname = "plain"', more + '[[family]]\nname = "plain"')
    tasks = by_name(tasks_of(write_study(study)))
    assert tasks["sample/glass-T0.5-0.6"].inputs == (tasks["ladder/glass-data-0.6"].id,)
    assert tasks["ladder/glass-data-0.6"].parameters["seed"] != tasks["ladder/glass-data"].parameters["seed"]


def test_datasets_are_what_sample_gives_for_the_same_temperatures(study_file, tmp_path, recorder):
    summary = run_study(study_file, tmp_path / "run", recorder, n_workers=1)
    assert summary.is_complete
    tasks = by_name(tasks_of(study_file))
    ladder = tasks["ladder/glass-data"].parameters
    series = tr.sample(H, temperatures=[0.5, 1.0], n_samples=700, seed=ladder["seed"], progress=False)
    for name, wanted in zip(("sample/glass-T0.5", "sample/glass-T1"), series, strict=True):
        data = tr.Dataset.load(summary.directory.large(tasks[name].id))
        np.testing.assert_array_equal(data.packed, wanted.packed)
        assert (data.certificate, data.provenance) == (wanted.certificate, wanted.provenance)
        assert (data.temperature, data.hamiltonian, data.n_held_out) == (wanted.temperature, H, 100)
    rows = summary.results.families[0].data
    assert [row.seed == ladder["seed"] for row in rows] == [True, True, False]
    assert all(row.certificate.passed and row.method == "tempering" for row in rows)
    assert all(row.certificate.passed for row in summary.results.families[0].energies)


def test_shards_and_lost_files_give_the_same(study_file, tmp_path, recorder, results):
    whole = run_study(study_file, tmp_path / "whole", recorder, n_workers=1)
    for number in (2, 1):
        shard = run_shard(study_file, tmp_path / "shards", recorder, Shard(number, 2), n_workers=1)
    assert results(shard.directory.path) == results(whole.directory.path)
    tasks = by_name(tasks_of(study_file))
    cold, ladder = tasks["sample/glass-T0.5"], tasks["ladder/glass-data"]
    before = spins_of(whole.directory, cold)
    for task in (cold, ladder):
        whole.directory.large(task.id).unlink()
    whole.directory.reduced(tasks["measure/glass-T0.5"].id).unlink()
    again = run_study(study_file, tmp_path / "whole", recorder, n_workers=1)
    assert set(again.outcome.done) == {cold.id, ladder.id, tasks["measure/glass-T0.5"].id}
    np.testing.assert_array_equal(spins_of(whole.directory, cold), before)


def test_every_share_has_the_ladders_that_it_needs(study_file):
    tasks = tasks_of(study_file)
    costs = estimate_costs(tasks)
    for number in (1, 2, 3):
        mine = share(Shard(number, 3), tasks, costs)
        assert all(item in mine for task_id in mine for item in tasks[task_id].inputs)


def test_workers_elsewhere_need_the_large_file_alone(study_file, tmp_path, recorder):
    """They get no reduced result of a ladder, so that certificates have to travel with the configurations."""
    summary = run_study(study_file, tmp_path / "run", recorder, n_workers=1)
    tasks = by_name(tasks_of(study_file))
    cold, ladder = tasks["sample/glass-T0.5"], tasks["ladder/glass-data"]
    (name,) = input_files(cold)
    elsewhere = RunDirectory(tmp_path / "elsewhere")
    target = elsewhere.path / name
    target.parent.mkdir(parents=True)
    target.write_bytes((summary.directory.path / name).read_bytes())
    data = taken_from_ladder(Store(elsewhere), ladder.id, 0.5)
    np.testing.assert_array_equal(data.packed, spins_of(summary.directory, cold))
    assert data.certificate.passed
