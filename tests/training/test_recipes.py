"""Recipes: the paper's numbers, rates at every stage, and fields that are refused."""

import json
import math

import pytest

from thermorbm.errors import InputError
from thermorbm.training import RECIPES, Recipe, train
from thermorbm.training.recipe import choose_recipe

GOOD = {"name": "mine", "learning_rate": 0.01, "epochs": 3}


def test_the_papers_recipe():
    paper = RECIPES["paper"]
    assert (paper.learning_rate, paper.batch_size, paper.gibbs_steps) == (1e-4, 128, 5)
    assert (paper.schedule, paper.start, paper.bias_rate, paper.zero_bias) == ("constant", "glorot", 1, False)
    assert (paper.persistent_from, paper.modes, paper.sparsity, paper.reference_hidden) == (1, 0, 0, 0)
    assert 100 <= paper.epochs <= 2000


@pytest.mark.parametrize("name", RECIPES)
def test_named_recipes_can_be_stored(name):
    recipe = RECIPES[name]
    assert recipe.name == name
    assert Recipe(**json.loads(json.dumps(recipe.to_dict()))) == recipe


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": -1e-4}, r"learning_rate must be .*, got -0.0001"),
        ({"learning_rate": 0}, "learning_rate must be > 0, got 0"),
        ({"learning_rate": math.nan}, "learning_rate must be .*, got nan"),
        ({"learning_rate": math.inf}, "learning_rate must be .*, got inf"),
        ({"learning_rate": 1.5e40}, r"learning_rate must be between 0 and 3e\+38, got 1.5e\+40"),
        ({"learning_rate": "1e-4"}, "learning_rate must be .*, got '1e-4'"),
        ({"final_learning_rate": -1.0}, "final_learning_rate must be"),
        ({"epochs": 0}, "epochs must be a whole number >= 1, got 0"),
        ({"epochs": 1.5}, "epochs must be a whole number >= 1, got 1.5"),
        ({"epochs": True}, "epochs must be a whole number >= 1, got True"),
        ({"batch_size": 0}, "batch_size must be a whole number >= 1"),
        ({"gibbs_steps": 0}, "gibbs_steps must be a whole number >= 1"),
        ({"chain_life": -1}, "chain_life must be a whole number >= 0"),
        ({"bias_rate": -1.0}, "bias_rate must be"),
        ({"reference_hidden": -1}, "reference_hidden must be a whole number >= 0"),
        ({"modes": -1}, "modes must be a whole number >= 0"),
        ({"sparsity": -1.0}, r"sparsity must be between 0 and 3e\+38, got -1.0"),
        ({"persistent_from": 1.1}, "persistent_from must be between 0 and 1, got 1.1"),
        ({"least_updates": -1}, "least_updates must be a whole number >= 0"),
        ({"cool_down": -1}, "cool_down must be a whole number >= 0"),
        ({"distance": -1.0}, "distance must be a number >= 0, got -1.0"),
        ({"distance": 1.0, "schedule": "cosine"}, "distance must be 0 for a cosine schedule, got 1.0"),
        ({"start": "ordr"}, "start must be one of glorot, order, got 'ordr'; did you mean 'order'"),
        (
            {"schedule": "cosin"},
            "schedule must be one of constant, cosine, harmonic, got 'cosin'; did you mean 'cosine'",
        ),
    ],
)
def test_bad_fields(changes, message):
    for make in (lambda: Recipe(**(GOOD | changes)), lambda: choose_recipe("paper", changes)):
        with pytest.raises(InputError, match=message) as caught:
            make()
        assert "\n" not in str(caught.value)


def test_unknown_names():
    with pytest.raises(
        InputError, match="recipe must be one of paper, fast, got 'papre'; did you mean 'paper'"
    ):
        choose_recipe("papre")
    with pytest.raises(InputError, match="got 'learning_rat'; did you mean 'learning_rate'"):
        choose_recipe("fast", {"learning_rat": 0.1})
    with pytest.raises(InputError, match="recipe must be a name or a Recipe, got 3"):
        choose_recipe(3)


def test_changes_make_another_recipe():
    changed = choose_recipe("paper", {"bias_rate": 0.5, "zero_bias": True})
    assert (changed.bias_rate, changed.zero_bias, changed.learning_rate) == (0.5, True, 1e-4)
    assert RECIPES["paper"].bias_rate == 1
    mine = Recipe(**GOOD)
    assert choose_recipe(mine) == mine


def test_rates():
    constant = Recipe(**GOOD)
    cosine = Recipe(**GOOD, schedule="cosine", final_learning_rate=0.001)
    for update in (0, 50, 100):
        assert constant.rate(update, 100, n_hidden=400) == 0.01
    assert cosine.rate(0, 100, 400) == pytest.approx(0.01)
    assert cosine.rate(50, 100, 400) == pytest.approx(0.0055)
    assert cosine.rate(100, 100, 400) == pytest.approx(0.001)


def test_a_harmonic_rate_holds_and_then_falls_as_one_over_the_updates():
    recipe = Recipe(**GOOD, schedule="harmonic", persistent_from=0.4, final_learning_rate=0.001)
    assert [recipe.rate(u, 100, 400) for u in (0, 39, 40)] == pytest.approx([0.01] * 3)
    assert [1 / recipe.rate(u, 100, 400) for u in (40, 60, 80, 100)] == pytest.approx([100, 400, 700, 1000])
    with pytest.raises(InputError, match="final_learning_rate must be > 0 for a harmonic schedule"):
        Recipe(**GOOD, schedule="harmonic")


def test_the_rate_rises_while_warming_up():
    recipe = Recipe(**GOOD, warm_up=4)
    assert [recipe.rate(u, 100, 400) for u in range(6)] == pytest.approx(
        [0.0025, 0.005, 0.0075, 0.01, 0.01, 0.01]
    )


def test_large_machines_take_smaller_steps():
    recipe = Recipe(**GOOD, reference_hidden=400)
    assert [recipe.rate(30, 100, n) for n in (100, 400, 800, 2500)] == pytest.approx(
        [0.01, 0.01, 0.005, 0.0016]
    )


@pytest.mark.parametrize(("n_hidden", "scale"), [(100, 1.0), (400, 1.0), (1600, 0.25)])
@pytest.mark.parametrize(("warm_up", "cool_down"), [(0, 0), (100, 0), (100, 60)])
def test_a_distance_is_the_sum_of_the_rates(n_hidden, scale, warm_up, cool_down):
    shape = {"warm_up": warm_up, "cool_down": cool_down, "reference_hidden": 400}
    recipe = Recipe("mine", learning_rate=1e-2, epochs=3, distance=5.0, **shape)
    n_updates = recipe.n_updates(per_epoch=10, n_hidden=n_hidden)
    rates = [recipe.rate(update, n_updates, n_hidden) for update in range(n_updates)]
    assert sum(rates) == pytest.approx(5.0, abs=2e-2)  # two rates
    assert max(rates) == pytest.approx(scale * 1e-2)
    top = rates[warm_up : n_updates - cool_down]
    assert top == [top[0]] * len(top)
    assert rates[:warm_up] == sorted(rates[:warm_up])
    assert rates[n_updates - cool_down :] == sorted(rates[n_updates - cool_down :], reverse=True)


def test_least_updates_that_are_named_count_beside_epochs(coins):
    result = train(coins, 3, epochs=1, least_updates=7, batch_size=len(coins), seed=1, progress=False)
    assert result.history["update"][-1] == 7
