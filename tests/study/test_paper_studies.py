"""The paper's studies: its machines, and parts of it that share their results with the whole."""

from collections import Counter
from dataclasses import replace

import pytest

from thermorbm.study.plan import plan_study
from thermorbm.study.toml import find_study, load_study
from thermorbm.training.recipe import RECIPES, Recipe

PARTS = ("paper-2d", "paper-3d", "paper-union")
THEIRS = ("as-paper", "as-paper-sizes", "all-T-as-paper")


@pytest.fixture(scope="module")
def plans():
    return {name: plan_study(load_study(find_study(name))).tasks for name in ("paper", *PARTS)}


def machines(tasks):
    """Numbers of machines by family, group and hidden units."""
    labels = [task.labels for task in tasks.values() if task.kind == "train"]
    return Counter((item["family"], item["group"], item["n_hidden"]) for item in labels)


def test_the_machines_of_the_paper(plans):
    """All 127 trained as the paper's, and machines trained well beside them."""
    counts = machines(plans["paper"])
    theirs = {key: count for key, count in counts.items() if key[1] in THEIRS}
    assert theirs == {
        ("2d", "as-paper", 400): 16,
        ("3d", "as-paper", 400): 20,
        **{("2d", "as-paper-sizes", n_hidden): 16 for n_hidden in (900, 1600, 2500)},
        **{("3d", "as-paper-sizes", n_hidden): 20 for n_hidden in (900, 1600)},
        **{("2d", "all-T-as-paper", n_hidden): 1 for n_hidden in (400, 900, 1600)},
    }
    assert sum(theirs.values()) == 127
    beside = {key: count for key, count in counts.items() if key not in theirs}
    assert beside == {
        ("2d", "main", 400): 16,
        ("3d", "main", 400): 20,
        **{("2d", "main-sizes", n_hidden): 4 for n_hidden in (900, 1600, 2500)},
        **{("3d", "main-sizes", n_hidden): 3 for n_hidden in (900, 1600)},
        **{("2d", "all-T", n_hidden): 1 for n_hidden in (400, 900, 1600)},
        ("2d", "all-T-hot", 400): 1,
        ("2d", "zero-bias", 400): 16,
        ("2d", "sign-40-60", 400): 2,
        ("2d", "paper-recipe", 400): 3,
        ("2d", "scatter", 400): 9,
        ("2d", "scatter-as-paper", 400): 9,
        ("2d", "symmetric", 4 * 4096): 3 * 16,
        ("3d", "symmetric", 4 * 4096): 3 * 20,
    }


def of_group(plans, *groups):
    tasks = plans["paper"].values()
    return [task for task in tasks if task.kind == "train" and task.labels["group"] in groups]


def distance(task):
    """The sum of the rates of all updates."""
    recipe, n_hidden = Recipe(**task.parameters["recipe"]), task.parameters["n_hidden"]
    n_updates = recipe.n_updates(390, n_hidden)
    return sum(recipe.rate(k, n_updates, n_hidden) for k in range(n_updates))


def test_all_machines_as_the_papers_go_equally_far(plans):
    """The paper's recipe but for rate, length and CD-1 far from T_c; 500 of its epochs, all sizes."""
    papers_epoch = 1e-4 * (50_000 // 128)
    for task in of_group(plans, "as-paper", "as-paper-sizes", "scatter-as-paper"):
        recipe = Recipe(**task.parameters["recipe"])
        same = {
            "learning_rate": 1e-4,
            "gibbs_steps": 5,
            "distance": 0.0,
            "warm_up": 0,
            "cool_down": 0,
            "reference_hidden": 0,
        }
        assert replace(recipe, **same) == RECIPES["paper"]
        assert distance(task) == pytest.approx(20, rel=1e-3)
        assert distance(task) > 500 * papers_epoch
        critical = {"2d": (2.25,), "3d": (4.4, 4.5, 4.6)}[task.labels["family"]]
        assert recipe.gibbs_steps == (5 if task.labels["value"] in critical else 1)
    for task in of_group(plans, "paper-recipe"):
        recipe = Recipe(**task.parameters["recipe"])
        assert recipe.gibbs_steps == 5
        assert distance(task) == pytest.approx(2000 * papers_epoch, rel=0.01)


def test_roles_of_machines(plans):
    roles = {task.labels["group"]: (task.labels["role"], task.labels["as_paper"])
             for task in plans["paper"].values() if task.kind == "train"}  # fmt: skip
    assert roles["main"] == roles["main-sizes"] == ("main", False)
    assert roles["as-paper"] == roles["as-paper-sizes"] == ("main", True)
    assert (roles["scatter"], roles["scatter-as-paper"]) == (("scatter", False), ("scatter", True))
    assert roles["all-T-as-paper"] == ("union", True)
    assert roles["sign-40-60"] == ("unbalanced", True)
    assert roles["paper-recipe"] == ("other", False)


def test_only_machines_for_all_temperatures_start_at_random_weights(plans):
    starts = {
        task.labels["group"]: task.parameters["recipe"]["start"] for task in of_group(plans, "main", "all-T")
    }
    assert starts == {"main": "order", "all-T": "glorot"}


def test_parts_of_the_paper_share_their_results_with_the_whole(plans):
    together = {task_id for name in PARTS for task_id in plans[name]}
    assert together == set(plans["paper"])
