"""Planning: the same study gives the same tasks, and only what matters changes a hash."""

import json
import subprocess
import sys
import time
from dataclasses import field, fields, make_dataclass, replace

import pytest

from thermorbm.errors import InputError
from thermorbm.runner.executor import ordered
from thermorbm.runner.run import survey
from thermorbm.runner.rundir import open_run, prepare
from thermorbm.runner.store import Reduced, write_reduced
from thermorbm.runner.task import Task, derived_seed
from thermorbm.study.plan import plan_study, recipe_parameters
from thermorbm.study.spec import Family, Study
from thermorbm.study.steps import STEPS, estimate_costs, measure
from thermorbm.study.toml import find_study, load_study
from thermorbm.training.recipe import RECIPES, Recipe

RICH = """
[[family.variant]]
name = "all"
union = true

[[family.variant]]
name = "odd"
sector = 0.6
temperatures = [2.0]
"""


def planned(write_study, text="", **replacements):
    """Hashes by kind and name."""
    tasks = plan_study(load_study(write_study(more=text, **replacements))).tasks
    return {f"{task.kind}/{task.name}": task.hash for task in tasks.values()}


@pytest.fixture
def hashes(write_study):
    def plan(text="", **replacements):
        return planned(write_study, text, **replacements)

    return plan


OF_TRAINING = {"train", "weights", "observe", "partition", "bracket", "estimate"}  # it, and what follows


def changed(before, after):
    """Names of tasks in both plans whose hash is another."""
    return {name for name in before if name in after and before[name] != after[name]}


def test_the_tasks_of_a_small_study(hashes):
    assert set(hashes(RICH)) == {
        "sample/2d-T2", "sample/2d-T3", "sample/2d-T2-0.6",
        "measure/2d-T2", "measure/2d-T3", "measure/2d-T2-0.6",
        "train/2d-T2-h4", "train/2d-T3-h4", "train/2d-all-h4", "train/2d-odd-T2-h4",
        "weights/2d-T2-h4", "weights/2d-T3-h4", "weights/2d-all-h4", "weights/2d-odd-T2-h4",
        "observe/2d-T2-h4", "observe/2d-T3-h4", "observe/2d-all-h4-T2", "observe/2d-all-h4-T3",
        "observe/2d-odd-T2-h4",
        "partition/2d-T2-h4", "partition/2d-T3-h4", "partition/2d-all-h4", "partition/2d-odd-T2-h4",
        "bracket/2d-T2-h4", "bracket/2d-T3-h4", "bracket/2d-all-h4-T2", "bracket/2d-all-h4-T3",
        "bracket/2d-odd-T2-h4",
        "estimate/2d-thermodynamics", "estimate/2d-indicators-main-h4", "estimate/2d-indicators-all-h4",
        "estimate/2d-indicators-odd-h4",
    }  # fmt: skip


def test_machines_are_trained_by_one_thread(write_study):
    """Workers have a core each, and waiting threads would take it from each other."""
    tasks = plan_study(load_study(write_study(more=RICH))).tasks.values()
    assert {task.parameters["threads"] for task in tasks if task.kind == "train"} == {1}


def test_planning_is_deterministic_and_orders_tasks(micro):
    first, second = plan_study(micro), plan_study(micro)
    assert list(first.tasks) == list(second.tasks)
    seen = set()
    for task_id, task in first.tasks.items():
        assert set(task.inputs) <= seen
        seen.add(task_id)
    assert set(ordered(first.tasks)) == seen


def test_adding_a_temperature_leaves_the_others_alone(hashes):
    before, after = hashes(RICH), hashes(RICH, **{"[2.0, 3.0]": "[2.0, 2.5, 3.0]"})
    assert set(before) < set(after)
    # What is made of all temperatures together changes; nothing that belongs to one of them does.
    assert changed(before, after) == {
        "train/2d-all-h4", "weights/2d-all-h4", "observe/2d-all-h4-T2", "observe/2d-all-h4-T3",
        "partition/2d-all-h4", "bracket/2d-all-h4-T2", "bracket/2d-all-h4-T3",
        "estimate/2d-thermodynamics", "estimate/2d-indicators-main-h4", "estimate/2d-indicators-all-h4",
    }  # fmt: skip


def test_adding_a_size_or_a_family_changes_nothing_else(hashes):
    before = hashes()
    assert changed(before, hashes(**{"hidden = [4]": "hidden = [2, 4]"})) == set()
    more = '[[family]]\nname = "1d"\nshape = [8]\ntemperatures = [1.0]\nsamples = 9\n'
    assert changed(before, hashes(more)) == set()


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ("seed = 3", "seed = 4", {"sample", "measure", *OF_TRAINING}),
        ("samples = 256", "samples = 255", {"sample", "measure", *OF_TRAINING}),
        ("epochs = 2", "epochs = 3", OF_TRAINING),
        ("[family.changes]", 'recipe = "paper"\n[family.changes]', OF_TRAINING),
        ("seed = 3", 'seed = 3\ntitle = "Other words"', set()),
    ],
)
def test_what_changes_a_hash(hashes, old, new, kinds):
    found = changed(hashes(), hashes(**{old: new}))
    assert {name.split("/")[0] for name in found} == kinds


def test_precision_and_versions_of_a_kind_are_part_of_it(hashes, monkeypatch):
    before = hashes(**{"seed = 3": 'seed = 3\nprecision = "fp32"'})
    after = hashes(**{"seed = 3": 'seed = 3\nprecision = "bf16"'})
    assert {name.split("/")[0] for name in changed(before, after)} == OF_TRAINING
    before = hashes()
    monkeypatch.setattr(measure, "STEP", replace(measure.STEP, version=3))
    monkeypatch.setitem(STEPS, "measure", measure.STEP)
    assert {name.split("/")[0] for name in changed(before, hashes())} == {"measure", "estimate"}


def test_thermodynamics_hang_on_measurements_and_not_on_machines(hashes):
    before = hashes()
    after = hashes(**{"epochs = 2": "epochs = 3"})
    assert before["estimate/2d-thermodynamics"] == after["estimate/2d-thermodynamics"]


def test_seeds_belong_to_names():
    assert derived_seed(1, "train", "2d", 3) == derived_seed(1, "train", "2d", 3)
    seeds = {derived_seed(1, "a"), derived_seed(2, "a"), derived_seed(1, "b"), derived_seed(1, "a", "b")}
    assert len(seeds) == 4
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_task_survives_json():
    first = STEPS["sample"].task("a", {"seed": 1, "shape": [2, 2]}, labels={"family": "x"})
    task = STEPS["measure"].task("b", {"thermal": True}, [first], {"family": "x"})
    assert Task.from_dict(json.loads(json.dumps(task.to_dict()))) == task


def test_a_recipe_that_does_not_exist_is_named_with_its_place(write_study):
    with pytest.raises(InputError, match=r"family.2d.variant.main .*did you mean 'epochs'"):
        planned(write_study, **{"epochs = 2": "epoch = 2"})
    with pytest.raises(InputError, match="recipe must be one of"):
        planned(write_study, **{"[family.changes]": 'recipe = "slow"\n[family.changes]'})


def test_changes_for_one_size_change_its_machines_alone(hashes):
    two = {"hidden = [4]": "hidden = [4, 6]"}
    before, after = hashes(**two), hashes("[family.size_changes]\n6 = {epochs = 1}\n", **two)
    assert changed(before, after) == {name for name in before if "h6" in name}


def test_changes_for_one_temperature_change_its_machines_alone(hashes):
    before, after = hashes(), hashes('[family.value_changes]\n"2.0" = {epochs = 1}\n')
    of_machines = {name for name in before if "-h4" in name or "indicators" in name}
    assert changed(before, after) == {name for name in of_machines if "T3" not in name}


def test_proportions_are_one_per_temperature(write_study):
    text = '[[family.variant]]\nname = "all"\nunion = true\nproportions = [1, 2, 3]\n'
    with pytest.raises(InputError, match="proportions must be 2, one per temperature, got '3 numbers'"):
        planned(write_study, text)


def test_parts_that_are_not_asked_for_are_not_planned(micro):
    from dataclasses import replace

    family = replace(micro.families[0], parts=("weights",))
    kinds = {task.kind for task in plan_study(replace(micro, families=(family,))).tasks.values()}
    assert kinds == {"sample", "measure", "train", "weights"}


def test_a_thousand_tasks_are_planned_and_skipped_in_two_seconds(tmp_path, recorder):
    temperatures = tuple(1 + i / 1000 for i in range(500))
    family = Family("2d", (4, 4), temperatures, 10, parts=("thermal",))
    study = Study("many", (family,))
    directory = open_run(tmp_path / "run", "many")
    plan = plan_study(study)
    prepare(directory, "", plan.tasks.values())
    for task in plan.tasks.values():
        write_reduced(directory.reduced(task.id), Reduced(task, {}))
    start = time.process_time()
    plan = plan_study(study)
    prepare(directory, "", plan.tasks.values())
    assert survey(plan.tasks, directory, recorder) == set()
    assert len(plan.tasks) == 1000
    assert time.process_time() - start < 2


def test_a_slip_of_the_pen_does_not_plan_without_end(write_study):
    study = load_study(write_study(**{"hidden = [4]": "hidden = [4]\nseeds = 1_000_000_000_000"}))
    with pytest.raises(InputError, match=r"main\.seeds must be so few that there are at most 1000"):
        plan_study(study)


LIGHT = """
import sys
import thermorbm.study.run
assert not {"numba", "torch"} & set(sys.modules)
"""


def test_finding_that_nothing_is_to_do_loads_no_compilers():
    subprocess.run([sys.executable, "-c", LIGHT], check=True)


def test_a_gpu_is_part_of_what_names_a_training(write_study):
    plain = plan_study(load_study(write_study(**{"seed = 3": 'seed = 3\nprecision = "bf16"'}))).tasks
    gpu = plan_study(load_study(write_study(**{"seed = 3": 'seed = 3\ndevice = "cuda"'}))).tasks
    assert {task_id for task_id in plain if "sample/" in task_id} <= set(gpu)
    assert not {task_id for task_id in plain if "train/" in task_id} & set(gpu)
    costs = estimate_costs(gpu)
    assert {task.kind for task_id, task in gpu.items() if costs[task_id].gpus} == {"train"}


def test_a_new_field_of_recipes_leaves_older_trainings_as_they_are():
    """Only where it is not at its default is it part of what names a training."""
    recipe = RECIPES["fast"]
    known = {item.name: getattr(recipe, item.name) for item in fields(recipe)}
    later = make_dataclass("Later", [("brand_new", int, field(default=0))], bases=(Recipe,), frozen=True)
    assert recipe_parameters(later(**known)) == recipe_parameters(recipe)
    assert recipe_parameters(later(**known, brand_new=3)) == {**recipe_parameters(recipe), "brand_new": 3}
    assert Recipe(**recipe_parameters(recipe)) == recipe


def test_the_parts_of_the_paper_are_parts_of_the_paper():
    """Else nothing of what they have done could be taken over."""
    whole, *parts = (
        set(plan_study(load_study(find_study(name))).tasks)
        for name in ("paper", "paper-2d", "paper-3d", "paper-union")
    )
    assert whole == set.union(*parts)
