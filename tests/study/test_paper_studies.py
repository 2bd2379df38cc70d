"""The paper's studies: its machines, and parts of it that share their results with the whole."""

from collections import Counter
from pathlib import Path

import pytest

from thermorbm.study.plan import plan_study
from thermorbm.study.toml import find_study, load_study, read_study
from thermorbm.training.recipe import Recipe

PARTS = ("paper-2d", "paper-3d", "paper-union")


@pytest.fixture(scope="module")
def plans():
    return {name: plan_study(load_study(find_study(name))).tasks for name in ("paper", *PARTS)}


def machines(tasks):
    """Numbers of machines by family, group and hidden units."""
    labels = [task.labels for task in tasks.values() if task.kind == "train"]
    return Counter((item["family"], item["group"], item["n_hidden"]) for item in labels)


def test_the_machines_of_the_paper(plans):
    found = machines(plans["paper"])
    main = {key: count for key, count in found.items() if key[1] == "main"}
    assert main == {
        **{("2d", "main", n_hidden): 16 for n_hidden in (400, 900, 1600, 2500)},
        **{("3d", "main", n_hidden): 20 for n_hidden in (400, 900, 1600)},
    }
    unions = {key: count for key, count in found.items() if key[1] == "all-T"}
    assert unions == {("2d", "all-T", n_hidden): 1 for n_hidden in (400, 900, 1600)}
    assert sum(main.values()) + sum(unions.values()) == 127
    beside = {key: count for key, count in found.items() if key not in main and key not in unions}
    assert beside == {
        ("2d", "all-T-hot", 400): 1,
        ("2d", "zero-bias", 400): 16,
        ("2d", "sign-60-40", 400): 2,
        ("2d", "paper-recipe", 400): 6,
        ("2d", "symmetric", 4 * 4096): 16,
        ("3d", "symmetric", 4 * 4096): 20,
    }


def test_the_papers_own_recipe_is_changed_in_its_length_alone(plans):
    from thermorbm.training.recipe import RECIPES

    trained = [task for task in plans["paper"].values() if task.kind == "train"]
    recipes = [task.parameters["recipe"] for task in trained if task.labels["group"] == "paper-recipe"]
    assert len(recipes) == 6
    for recipe in recipes:
        assert recipe["epochs"] >= 100
        expected = RECIPES["paper"].to_dict()
        assert {**recipe, "epochs": 0, "stop_early": True} == {**expected, "epochs": 0}


def test_machines_of_a_study_start_as_the_papers_unless_it_says_otherwise(plans):
    (first, *_) = [task for task in plans["paper"].values() if task.kind == "train"]
    assert first.parameters["recipe"]["name"] == "fast"
    assert "start" not in first.parameters["recipe"]
    assert Recipe(**first.parameters["recipe"]).start == "glorot"
    family = {"name": "2d", "shape": [4, 4], "temperatures": [2.0, 3.0], "samples": 9, "hidden": [2]}
    values = {"name": "s", "family": [{**family, "changes": {"start": "local"}}]}
    tasks = plan_study(read_study(values, Path())).tasks.values()
    (first, *_) = [task for task in tasks if task.kind == "train"]
    assert first.parameters["recipe"]["start"] == "local"


def test_parts_of_the_paper_share_their_results_with_the_whole(plans):
    together = {task_id for name in PARTS for task_id in plans[name]}
    assert together == set(plans["paper"])


def test_all_sizes_of_a_family_stand_in_one_group(plans):
    recipes = {
        task.labels["n_hidden"]: task.parameters["recipe"]["epochs"]
        for task in plans["paper"].values()
        if task.kind == "train" and (task.labels["family"], task.labels["group"]) == ("2d", "main")
    }
    assert recipes[2500] < recipes[1600] < recipes[900] < recipes[400]
