"""Symmetric machines as a variant of a study: tasks, results and refusals."""

import json
from pathlib import Path

import pytest

from thermorbm.errors import InputError
from thermorbm.report import build
from thermorbm.study.plan import plan_study
from thermorbm.study.run import run_study
from thermorbm.study.toml import read_study


def study(variant=None, **family):
    variant = {"name": "symmetric", "filters": [3], "kernel": 2} | (variant or {})
    variant = {key: value for key, value in variant.items() if value is not None}
    known = {"name": "2d", "shape": [6, 6], "temperatures": [2.0, 2.5, 3.0], "samples": 300, "hidden": [4]}
    changes = {"changes": {"learning_rate": 0.5}}  # of the dense recipe
    return {"name": "s", "family": [{**known, **changes, **family, "variant": [variant]}]}


def read(values):
    return read_study(values, Path())


def test_the_plan_names_filters_like_a_hidden_size():
    tasks = plan_study(read(study())).tasks.values()
    trained = [task for task in tasks if task.kind == "train" and "filters" in task.parameters]
    assert [task.name for task in trained] == [f"2d-symmetric-T{t}-f3k2" for t in ("2", "2.5", "3")]
    parameters = trained[0].parameters
    assert (parameters["filters"], parameters["kernel"], parameters["n_hidden"]) == (3, 2, 108)
    assert parameters["recipe"]["natural"]  # its own "fast", without the changes for dense machines
    assert parameters["recipe"]["learning_rate"] != 0.5
    kinds = [task.kind for task in tasks if trained[0].id in task.inputs]
    assert sorted(kinds) == ["bracket", "interactions", "partition"]


def test_a_plan_with_all_images_of_the_filters():
    tasks = plan_study(read(study({"point_group": True}))).tasks.values()
    (first, *_) = [task for task in tasks if task.kind == "train" and "filters" in task.parameters]
    assert first.name == "2d-symmetric-T2-f3k2g"
    assert (first.parameters["point_group"], first.parameters["n_hidden"]) == (True, 3 * 8 * 36)


def test_dense_tasks_are_what_they_were_without_the_variant():
    with_it = {task.id for task in plan_study(read(study())).tasks.values()}
    values = study()
    del values["family"][0]["variant"]
    assert {task.id for task in plan_study(read(values)).tasks.values()} < with_it


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        ({"kernel": 7}, "kernel must be at most the shortest side of the lattice, 6, got 7"),
        ({"filters": [0]}, "filters must be a whole number >= 1, got 0"),
        ({"hidden": [4]}, r"hidden must be absent where filters are given, got \[4\]"),
        ({"union": True}, "union must be false for symmetric machines"),
        (
            {"filters": None, "kernel": None, "hidden": [4], "point_group": True},
            "point_group must be absent where no filters are given, got True",
        ),
        ({"filters": None, "hidden": [4]}, "kernel must be absent where no filters are given, got 2"),
    ],
)
def test_bad_variants(variant, message):
    with pytest.raises(InputError, match=message):
        read(study(variant))


def test_data_without_a_lattice():
    values = study(shape=None, temperatures=[], samples=0)
    del values["family"][0]["shape"], values["family"][0]["temperatures"], values["family"][0]["samples"]
    values["data"] = [{"file": "x.npy", "temperature": 2.0}]
    with pytest.raises(InputError, match="shape must be the sides of the periodic lattice"):
        read(values)


VARIANT = """
[[family.variant]]
name = "symmetric"
filters = [2]
kernel = 2

[family.variant.changes]
least_updates = 400
zero_bias = true
"""


def test_a_study_with_symmetric_machines(write_study, tmp_path, recorder, results):
    """Run for real on 4 x 4: couplings near those of the model, entropies, and a section of the report."""
    file = write_study(more=VARIANT)
    done = run_study(file, tmp_path / "run", recorder, n_workers=1)
    assert done.is_complete
    family = results(tmp_path / "run")["families"][0]
    machines = [machine for machine in family["machines"] if machine["group"] == "symmetric"]
    assert [(m["value"], m["filters"], m["n_hidden"]) for m in machines] == [(2.0, 2, 32), (3.0, 2, 32)]
    for machine in machines:
        learned = machine["interactions"]
        assert learned["temperature"] == pytest.approx(machine["value"], rel=0.3)  # 256 configurations
        assert learned["own"]["energy_per_spin"]["value"] < -0.5
        row = machine["observations"][0]["bracket"]
        exact = row["nll_per_spin"]["value"] - row["kl_per_spin"]["value"]
        assert row["entropy_upper_per_spin"]["value"] > exact - 5 * row["entropy_upper_per_spin"]["error"]
    page = build(tmp_path / "run").read_text()
    assert "Machines that know the lattice" in page
    assert (tmp_path / "run" / "figures" / "symmetric-couplings-2d.svg").exists()
    assert (tmp_path / "run" / "figures" / "symmetric-filters-2d.svg").exists()
    content = json.loads((tmp_path / "run" / "results.json").read_text())
    for family in content["families"]:  # as while a study runs: nothing that joins temperatures
        family.update(indicators=[], critical_temperatures=[], thermodynamics=None)
    (tmp_path / "run" / "results.json").write_text(json.dumps(content))
    assert "was not put together yet" in build(tmp_path / "run").read_text()
