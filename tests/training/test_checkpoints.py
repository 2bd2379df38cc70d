"""A run that was stopped and resumed ends with the bits of one that was not; foreign files are refused."""

import os
import random
import resource

import numpy as np
import pytest

from thermorbm import RBM, Dataset, Lattice
from thermorbm.errors import FileError
from thermorbm.storage import read_hdf5, write_hdf5
from thermorbm.training import loop, train, trainer as trainer_module
from thermorbm.training.units import TorchUnits

pytestmark = pytest.mark.usefixtures("many_records")

# Six records of 24 updates each.
RUN = {"n_hidden": 6, "epochs": 12, "seed": 3, "batch_size": 50, "precision": "fp32", "stop_early": False}
RECIPES = {
    "cd": {"recipe": "paper", "learning_rate": 1e-2},
    "pcd": {"recipe": "fast"},
    "steps": {"recipe": "fast", "persistent_from": 0.0, "gibbs_steps": 2, "chain_life": 9, "modes": 2},
    "zero bias": {"recipe": "paper", "learning_rate": 1e-3, "zero_bias": True},
    "bf16": {"recipe": "fast", "precision": "bf16", "sparsity": 0.0},
}


class Stopped(Exception):
    pass


def stop_at(update):
    def progress(step):
        if step.update >= update:
            raise Stopped

    return progress


def assert_same_run(a, b):
    for name, array in a.rbm.parameters.items():
        np.testing.assert_array_equal(b.rbm.parameters[name], array)
    assert list(a.history) == list(b.history)
    for name, column in a.history.items():
        np.testing.assert_array_equal(b.history[name], column)
    assert str(a.verdict) == str(b.verdict)


@pytest.fixture(params=RECIPES)
def run(request):
    return RUN | RECIPES[request.param]


def test_a_stop_between_records_writes_a_checkpoint(coins, tmp_path, monkeypatch):
    """As on SIGTERM: nothing since the last record is lost, and the records stay where they were."""
    monkeypatch.setattr(loop, "SECONDS_BETWEEN_SIGNS", 0.0)
    run, path = RUN | RECIPES["pcd"], tmp_path / "c.h5"
    whole = train(coins, **run)
    for update in (5, 40, 41, 100):
        with pytest.raises(Stopped):
            train(coins, checkpoint=path, progress=stop_at(update), **run)
        assert read_hdf5(path, "checkpoint")[0]["progress"][0] == update
    assert_same_run(whole, train(coins, checkpoint=path, **run))


def test_interrupted_and_resumed_is_bit_identical(coins, run, tmp_path):
    whole = train(coins, validation=coins[:40], **run)
    assert whole.history["update"].tolist() == [24, 48, 72, 96, 120, 144]
    path = tmp_path / "c.h5"
    for update in (24, 72, 96, 144):
        with pytest.raises(Stopped):
            train(coins, validation=coins[:40], checkpoint=path, progress=stop_at(update), **run)
        assert os.listdir(tmp_path) == ["c.h5"]
    assert_same_run(whole, train(coins, validation=coins[:40], checkpoint=path, **run))


def test_the_generic_units_resume_too(coins, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer_module, "unit_source", lambda seed, device: TorchUnits(seed, device))
    run = RUN | RECIPES["steps"]
    with pytest.raises(Stopped):
        train(coins, checkpoint=tmp_path / "c.h5", progress=stop_at(72), **run)
    assert_same_run(train(coins, **run), train(coins, checkpoint=tmp_path / "c.h5", **run))


def test_stopping_between_records_loses_only_what_came_after_the_last(coins, tmp_path, monkeypatch):
    monkeypatch.setattr("thermorbm.training.loop.SECONDS_BETWEEN_SIGNS", 0.0)
    run = RUN | RECIPES["pcd"]
    with pytest.raises(Stopped):
        train(coins, checkpoint=tmp_path / "c.h5", progress=stop_at(83), **run)
    assert_same_run(train(coins, **run), train(coins, checkpoint=tmp_path / "c.h5", **run))


def test_a_finished_run_is_given_back_without_work(coins, tmp_path, monkeypatch):
    run = RUN | RECIPES["pcd"]
    first = train(coins, checkpoint=tmp_path / "c.h5", **run)
    monkeypatch.setattr(trainer_module.Trainer, "step", None)
    assert_same_run(first, train(coins, checkpoint=tmp_path / "c.h5", **run))


def refused(path, *arguments, **options):
    before = path.read_bytes()
    with pytest.raises(FileError) as caught:
        train(*arguments, checkpoint=path, **options)
    assert path.read_bytes() == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_checkpoints_of_other_runs_are_refused(coins, tmp_path):
    path, run = tmp_path / "c.h5", RUN | RECIPES["pcd"]
    with pytest.raises(Stopped):
        train(coins, checkpoint=path, progress=stop_at(24), **run)
    other_run = "is a checkpoint of another run: its "
    for change, difference in [
        ({"n_hidden": 7}, "n_hidden is 6, not 7"),
        ({"seed": 4}, "seed is 3, not 4"),
        ({"learning_rate": 0.5}, "recipe's learning_rate is "),
        ({"epochs": 13}, "recipe's epochs is 12, not 13"),
        ({"precision": "bf16"}, "precision is 'float32', not 'bfloat16'"),
        ({"validation": coins[:5]}, "validation differ"),
    ]:
        message = refused(path, coins, **(run | change))
        assert other_run + difference in message
        assert message.endswith("name another checkpoint file")
    assert other_run + "data differ" in refused(path, coins[1:], **run)
    flat = Dataset.from_spins(coins.spins(), Lattice((2, 10)))
    assert other_run + "shape is [4, 5], not [2, 10]" in refused(path, flat, **run)
    smaller = Dataset.from_spins(coins.spins()[:, :16], Lattice((4, 4)))
    assert other_run + "n_sites is 20, not 16" in refused(path, smaller, **run)


def test_files_that_are_no_checkpoints_are_refused(coins, tmp_path):
    path = tmp_path / "c.h5"
    RBM(np.zeros((6, 20)), np.zeros(20), np.zeros(6)).save(path)
    assert "is a rbm file; a checkpoint file is wanted" in refused(path, coins, **RUN)
    path.write_bytes(b"something else")
    assert "is not a file of thermorbm" in refused(path, coins, **RUN)
    with pytest.raises(Stopped):
        train(coins, checkpoint=tmp_path / "d.h5", progress=stop_at(24), **RUN)
    damaged = bytearray((tmp_path / "d.h5").read_bytes())
    damaged[-5] ^= 1
    path.write_bytes(damaged)
    assert "checksum does not match" in refused(path, coins, **RUN)


def test_a_place_that_cannot_be_written_is_noticed_before_the_work(coins, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer_module.Trainer, "step", None)
    with pytest.raises(FileError, match="does not exist; create it first"):
        train(coins, checkpoint=tmp_path / "no" / "c.h5", **RUN)
    with pytest.raises(FileError, match="is a directory"):
        train(coins, checkpoint=tmp_path, **RUN)


def test_a_full_disk_leaves_the_previous_checkpoint_valid(coins, tmp_path):
    path, run = tmp_path / "c.h5", RUN | RECIPES["steps"]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_the_disk(step):
        if step.update == 72:
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, hard))

    try:
        with pytest.raises(FileError, match=r"c\.h5: cannot be written: File too large"):
            train(coins, checkpoint=path, progress=fill_the_disk, **run)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == ["c.h5"]
    resumed_from = []
    result = train(coins, checkpoint=path, progress=lambda step: resumed_from.append(step.update), **run)
    assert resumed_from[0] == 96
    assert_same_run(train(coins, **run), result)


def test_a_diverged_run_keeps_its_last_good_checkpoint(coins, tmp_path, monkeypatch):
    run = RUN | RECIPES["cd"]
    step = trainer_module.Trainer.step

    def poisoned(self):
        if self.update == 60:
            self.layers.parameters["b"][0] = float("inf")
        step(self)

    with monkeypatch.context() as patch:
        patch.setattr(trainer_module.Trainer, "step", poisoned)
        result = train(coins, checkpoint=tmp_path / "c.h5", **run)
    assert result.verdict.status == "diverged"
    assert_same_run(train(coins, **run), train(coins, checkpoint=tmp_path / "c.h5", **run))


def forged(path, draw, arrays, metadata):
    """A well-sealed checkpoint with one thing changed; gives its name."""
    name = draw.choice(sorted(arrays))
    array = arrays[name]
    is_float = array.dtype.kind == "f"
    changes = {
        "absent": lambda: arrays.pop(name),
        "more": lambda: arrays.update({"more": np.zeros(3)}),
        "stretched": lambda: arrays.update({name: array.reshape(-1)[:1]}),
        "longer": lambda: arrays.update({name: np.concatenate([array, array])}),
        "other type": lambda: arrays.update({name: array.astype(np.complex128)}),
        "text": lambda: arrays.update({name: np.array([b"abc"])}),
        "not finite": lambda: arrays.update(
            {name: np.full(array.shape, np.nan, array.dtype if is_float else None)}
        ),
        "without run": lambda: metadata.pop("run"),
        "other run": lambda: metadata.update(run=draw.choice([None, 1, [], "x", {"seed": "x"}])),
        "without history": lambda: [arrays.pop(key) for key in list(arrays) if key.startswith("history.u")],
    }
    kind = draw.choice(sorted(changes))
    changes[kind]()
    write_hdf5(path, "checkpoint", arrays, metadata)
    return f"{kind} {name}"


def test_forged_checkpoints_are_refused_or_used_as_they_are(coins, tmp_path, monkeypatch):
    """200 of them: never any other error, and never an array that is stretched to fit."""
    run, path = RUN | RECIPES["steps"], tmp_path / "c.h5"
    with pytest.raises(Stopped):
        train(coins, checkpoint=path, progress=stop_at(48), **run)
    arrays, metadata = read_hdf5(path, "checkpoint")
    monkeypatch.setattr("thermorbm.storage._flush", lambda path: None)
    monkeypatch.setattr(loop._Run, "finish", lambda self: None)
    used = []
    for number in range(200):
        kind = forged(path, random.Random(number), dict(arrays), dict(metadata))
        try:
            train(coins, checkpoint=path, **run)
            used.append(kind)
        except FileError:
            pass
    # A score of the history may be nan, and bits are bits: nothing else passes.
    assert all(kind.startswith("not finite history.") for kind in used), used


def test_the_number_of_threads_belongs_to_a_run(coins, tmp_path):
    path, run = tmp_path / "c.h5", RUN | RECIPES["pcd"]
    with pytest.raises(Stopped):
        train(coins, checkpoint=path, progress=stop_at(24), **run)
    assert "its threads is 1, not 2" in refused(path, coins, threads=2, **run)
    assert train(coins, **run).rbm.provenance["training"]["threads"] == 1
