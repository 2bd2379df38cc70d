"""The training task: data of several temperatures, and going on from a checkpoint."""

import numpy as np
import pytest

from thermorbm import Lattice, sample
from thermorbm.dataset import Dataset
from thermorbm.runner.rundir import open_run, prepare
from thermorbm.runner.store import DamagedInput, Product, Store
from thermorbm.study.steps import STEPS
from thermorbm.study.steps.step import read_dataset
from thermorbm.study.steps.train import run, training_data
from thermorbm.training import loop
from thermorbm.training.recipe import RECIPES

RECIPE = RECIPES["fast"].to_dict() | {"epochs": 12, "least_updates": 0, "batch_size": 32}
N_HELD_OUT = 20


@pytest.fixture
def store(tmp_path):
    """A run directory with datasets of 200 configurations at T = 2 and T = 3."""
    store = Store(open_run(tmp_path / "run", "s"))
    prepare(store.directory, "", TASKS)
    for data, task in zip(datasets(), TASKS, strict=True):
        store.write_large(task, Product({}, large=data))
        store.write_reduced(task, Product({}, large=data), {})
    return store


def datasets():
    for temperature in (2.0, 3.0):
        data = sample(Lattice((4, 4)), temperature, 200, seed=1)
        yield Dataset(data.packed, data.lattice, temperature, n_held_out=N_HELD_OUT)


TASKS = [STEPS["sample"].task(name, {"seed": seed}) for seed, name in enumerate("ab")]


def train_task(inputs, **changes):
    parameters = {"n_hidden": 4, "recipe": RECIPE, "seed": 1, "precision": "fp32", "threads": 1}
    return STEPS["train"].task("m", {**parameters, "samples": None, "proportions": None, **changes}, inputs)


def nothing(*_):
    pass


def test_data_of_several_temperatures_in_proportion(store):
    data, held_out = training_data(train_task(TASKS, proportions=[0.5, 1.0]), store)
    assert (len(data), len(held_out)) == (90 + 180, 40)
    data, _ = training_data(train_task(TASKS, samples=50), store)
    assert len(data) == 100
    data, held_out = training_data(train_task(TASKS, proportions=[0.0, 2.0]), store)
    assert (len(data), len(held_out)) == (180, 20)
    one, _ = training_data(train_task(TASKS[:1]), store)
    assert one.temperature == 2.0


def test_held_out_configurations_are_not_trained_on(store):
    whole = read_dataset(store, TASKS[0].id)
    data, held_out = training_data(train_task(TASKS[:1]), store)
    np.testing.assert_array_equal(np.concatenate([data.packed, held_out.packed]), whole.packed)
    assert len(held_out) == N_HELD_OUT


def test_a_missing_input_names_who_has_to_make_it(store):
    store.directory.large(TASKS[1].id).unlink()
    with pytest.raises(DamagedInput) as caught:
        training_data(train_task(TASKS), store)
    assert caught.value.task_id == TASKS[1].id


class Stopped(Exception):
    pass


@pytest.fixture
def many_records(monkeypatch):
    """A record after every epoch."""
    monkeypatch.setattr(loop, "LEAST_STRIDE", 1)


@pytest.mark.usefixtures("many_records")
def test_a_stopped_training_goes_on_and_ends_with_the_same_machine(store):
    task = train_task(TASKS[:1])
    checkpoint = store.directory.checkpoint(task.id)

    def stop_half_way(fraction):
        if fraction > 0.5:
            raise Stopped

    whole = run(task, store, nothing, nothing)
    checkpoint.unlink()
    with pytest.raises(Stopped):
        run(task, store, stop_half_way, nothing)
    assert checkpoint.exists()
    seen = []
    rest = run(task, store, seen.append, nothing)
    assert min(seen) > 0.5
    assert rest.values == whole.values
    for name, array in whole.large.parameters.items():
        np.testing.assert_array_equal(rest.large.parameters[name], array)
    for name, column in whole.arrays.items():
        np.testing.assert_array_equal(rest.arrays[name], column)


@pytest.mark.usefixtures("many_records")
def test_a_damaged_checkpoint_is_dropped_and_said_so(store):
    task, notes = train_task(TASKS[:1]), []
    checkpoint = store.directory.checkpoint(task.id)
    whole = run(task, store, nothing, notes.append)
    checkpoint.write_bytes(checkpoint.read_bytes()[:-5])
    again = run(task, store, nothing, notes.append)
    assert notes == ["checkpoint cannot be used (checksum does not match: truncated or altered); training from the start"]  # fmt: skip  # noqa: E501
    assert again.values == whole.values
