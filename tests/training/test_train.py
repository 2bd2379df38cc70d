"""train(): it learns, repeats itself bit by bit, notices divergence, and refuses bad input in one line."""

import json
import math

import numpy as np
import pytest
import torch

from thermorbm import Dataset, Lattice
from thermorbm.errors import InputError
from thermorbm.training import Recipe, train, trainer as trainer_module
from thermorbm.training.checkpoint import data_hash, mean_abs_magnetization
from thermorbm.training.monitor import TOLERANCE
from thermorbm.training.start import glorot_normal
from thermorbm.training.units import TorchUnits

SCORES = ["pseudo_likelihood", "pseudo_likelihood_error", "cross_entropy", "visible_energy"]
COLUMNS = ["update", "epoch", "distance", "rate", *SCORES]
SMALL = {"batch_size": 50, "precision": "fp32"}


def parameters(result):
    return [result.rbm.parameters[name] for name in ("W", "b", "c")]


def assert_same_bits(a, b):
    for first, second in zip(parameters(a), parameters(b), strict=True):
        np.testing.assert_array_equal(first, second)


def assert_learned(result, data):
    """L~ far below that of fair coins, and no lower than the truth by more than its error."""
    likelihood = result.rbm.pseudo_likelihood(data.spins(0, 2000)) / data.n_sites
    error = likelihood.std() / np.sqrt(len(likelihood))
    # The Ising conditionals at T = 2.5 have 0.36 to 0.38 nats on this lattice: 25 % above is well learned.
    assert likelihood.mean() - 5 * error > 0.33
    assert likelihood.mean() + 5 * error < 0.47 < math.log(2)


@pytest.mark.parametrize(
    "changes",
    [
        {"recipe": "paper", "learning_rate": 1e-2},
        {"recipe": "fast"},
        {"recipe": "fast", "persistent_from": 0.0, "modes": 0},
        {"recipe": "fast", "start": "glorot", "precision": "bf16"},
        {"recipe": "paper", "learning_rate": 1e-2, "precision": "int8"},
    ],
    ids=["cd", "fast", "plain", "bf16", "int8"],
)
def test_it_learns(ising_data, changes):
    result = train(ising_data, n_hidden=32, epochs=12, seed=1, **changes)
    assert_learned(result, ising_data)
    assert result.history["update"][-1] == 12 * 31
    assert result.history["pseudo_likelihood"][-1] < result.history["pseudo_likelihood"][0]


def test_the_generic_path_learns_too(ising_data, monkeypatch):
    """Units from torch's own generator, as on a GPU, on CPU tensors."""
    monkeypatch.setattr(trainer_module, "unit_source", lambda seed, device: TorchUnits(seed, device))
    assert_learned(train(ising_data, n_hidden=32, recipe="fast", epochs=12, seed=1), ising_data)


def test_zero_bias_keeps_biases_at_zero(ising_data):
    result = train(ising_data, n_hidden=32, recipe="fast", epochs=12, seed=1, zero_bias=True)
    assert (result.rbm.b == 0).all()
    assert (result.rbm.c == 0).all()
    assert_learned(result, ising_data)
    with_bias = train(ising_data, n_hidden=32, recipe="paper", epochs=1, seed=1)
    assert (with_bias.rbm.b != 0).any()


@pytest.mark.parametrize("recipe", ["paper", "fast"])
def test_same_seed_same_bits(coins, recipe):
    first, again = (train(coins, 6, recipe, epochs=2, seed=5, **SMALL) for _ in range(2))
    assert_same_bits(first, again)
    assert (first.rbm.W != train(coins, 6, recipe, epochs=2, seed=6, **SMALL).rbm.W).all()
    for name, column in first.history.items():
        np.testing.assert_array_equal(column, again.history[name])


def test_scoring_does_not_change_the_path(coins, many_records):
    """Held-out data, progress and records draw nothing from the generators of the training."""
    plain = train(coins, 6, "fast", epochs=4, seed=5, **SMALL)
    watched = train(coins, 6, "fast", epochs=4, seed=5, validation=coins[:9], progress=print, **SMALL)
    assert_same_bits(plain, watched)


def test_the_start_is_glorot_normal():
    weights = glorot_normal(300, 700, np.random.SeedSequence(1))
    assert (weights["b"] == 0).all()
    assert (weights["c"] == 0).all()
    W, variance = weights["W"], 2 / 1000
    assert W.shape == (300, 700)
    assert abs(W.mean()) < 5 * np.sqrt(variance / W.size)
    assert abs(W.var() / variance - 1) < 5 * np.sqrt(2 / W.size)  # variance of a Gaussian's sample variance


@pytest.mark.parametrize(("share_up", "scale"), [(0.99, (4 * 0.99 * 0.01) ** -0.5), (0.5, 1.0)])
def test_the_rate_follows_the_spread_of_the_data(share_up, scale):
    spins = np.where(np.random.default_rng(1).random((2000, 16)) < share_up, 1, -1)
    recipe = Recipe("mine", learning_rate=0.01, epochs=1, modes=2)
    history = train(Dataset.from_spins(spins), 4, recipe, **SMALL).history
    # 32 000 spins tell the share that is turned to 6 %, and the rate goes with its square root.
    assert history["rate"] == pytest.approx(scale * 0.01, rel=0.15)


@pytest.mark.usefixtures("many_records")
def test_history_and_progress(coins):
    steps = []
    kept = coins[500:540]  # few enough to be scored all
    result = train(coins[:500], 6, "paper", epochs=6, seed=1, validation=kept, progress=steps.append, **SMALL)
    history = result.history
    assert list(history) == COLUMNS + [f"validation_{name}" for name in SCORES]
    np.testing.assert_array_equal(history["update"], [30, 60])  # the first multiple of an epoch from 24 on
    np.testing.assert_array_equal(history["epoch"], [3, 6])
    np.testing.assert_allclose(history["distance"], [30e-4, 60e-4])
    np.testing.assert_array_equal(history["rate"], [1e-4, 1e-4])
    held_out = result.rbm.pseudo_likelihood(kept.spins())
    assert history["validation_pseudo_likelihood"][-1] == pytest.approx(held_out.mean())
    last = steps[-1]
    assert (last.update, last.n_updates, last.epoch) == (60, 60, 6)
    assert last.pseudo_likelihood_per_unit == pytest.approx(held_out.mean() / 20)
    assert last.cross_entropy == history["validation_cross_entropy"][-1]


def test_progress_shows_life_between_records(coins, monkeypatch):
    monkeypatch.setattr("thermorbm.training.loop.SECONDS_BETWEEN_SIGNS", 0.0)
    steps = []
    train(coins, 6, "paper", epochs=2, seed=1, progress=steps.append, **SMALL)
    assert [step.update for step in steps] == [*range(1, 25), 24]
    assert math.isnan(steps[0].cross_entropy)
    assert math.isfinite(steps[-1].cross_entropy)


def test_provenance_says_how_and_on_what(coins, tmp_path):
    result = train(coins, 6, "fast", epochs=2, seed=5, **SMALL)
    made = result.rbm.provenance
    assert made["data"] == {
        "n_samples": 600,
        "shape": [4, 5],
        "temperature": 3.0,
        "mean_abs_magnetization": pytest.approx(np.abs(coins.spins().mean(axis=1)).mean()),
        "certified": None,
    }
    assert made["hamiltonian"] is None
    assert made["training"]["seed"] == 5
    assert made["training"]["precision"] == "float32"
    assert Recipe(**made["training"]["recipe"]).name == "fast"
    assert made["training"]["data"] == data_hash(coins)
    assert made["verdict"]["status"] == result.verdict.status == "not converged"
    assert made["history"]["update"] == result.history["update"].tolist()
    assert "torch" in made["versions"]
    result.rbm.save(tmp_path / "r.h5")
    assert type(result.rbm).load(tmp_path / "r.h5").provenance["data"] == made["data"]


def test_slices_with_strides_are_data_too(coins):
    """Every other row is a view with gaps in memory."""
    strided, copied = coins[::2], Dataset.from_spins(coins.spins()[::2], Lattice((4, 5)))
    assert data_hash(strided) == data_hash(copied) != data_hash(coins[:300])
    assert mean_abs_magnetization(strided) == pytest.approx(np.abs(copied.spins().mean(axis=1)).mean())
    runs = [train(data, 4, "paper", epochs=1, seed=1, **SMALL) for data in (strided, copied)]
    assert_same_bits(*runs)


@pytest.mark.parametrize("recipe", ["paper", "fast"])
@pytest.mark.parametrize("rate", [1e6, 1e38])
def test_divergence_stops_with_a_finite_machine(coins, recipe, rate):
    result = train(coins, 6, recipe, epochs=50, seed=1, learning_rate=rate, **SMALL)
    assert result.verdict.status == "diverged"
    assert not result.converged
    assert all(np.isfinite(array).all() for array in parameters(result))
    assert np.isfinite(result.rbm.pseudo_likelihood(coins.spins(0, 5))).all()
    assert list(result.history) == COLUMNS
    assert result.history["update"][-1] < 600  # long before the end
    assert result.rbm.provenance["verdict"]["status"] == "diverged"


@pytest.mark.usefixtures("many_records")
def test_nan_stops_with_the_last_good_machine(coins, monkeypatch):
    good = train(coins, 6, "paper", epochs=4, seed=1, **SMALL)
    step = trainer_module.Trainer.step

    def poisoned(self):
        if self.update == 60:
            self.layers.parameters["W"][0, 0] = math.nan
        step(self)

    monkeypatch.setattr(trainer_module.Trainer, "step", poisoned)
    result = train(coins, 6, "paper", epochs=50, seed=1, **SMALL)
    assert result.verdict.status == "diverged"
    np.testing.assert_array_equal(result.history["update"], [24, 48, 72])
    assert np.isnan(result.history["pseudo_likelihood"][-1])
    assert_same_bits(result, good)  # the machine after 48 updates


@pytest.mark.usefixtures("many_records")
def test_a_converged_run_stops_early(coins):
    """Fair coins have nothing to learn from but their own sampling noise."""
    run = {"n_hidden": 1, "recipe": "paper", "seed": 1, "learning_rate": 0.05, "batch_size": 200}
    result = train(coins, epochs=400, **run)
    n_epochs = int(result.history["epoch"][-1])
    assert result.converged
    assert n_epochs < 200
    longer = train(coins, epochs=2 * n_epochs, stop_early=False, **run)
    assert longer.history["epoch"][-1] == 2 * n_epochs
    change = longer.history["pseudo_likelihood"][-1] - result.history["pseudo_likelihood"][-1]
    assert abs(change) / coins.n_sites < TOLERANCE  # what the verdict promised


def test_numpy_numbers_are_numbers(coins):
    result = train(coins, np.int64(6), "paper", epochs=np.int32(1), seed=np.uint8(5),
                   learning_rate=np.float32(1e-3), **SMALL)  # fmt: skip
    json.dumps(dict(result.rbm.provenance))
    assert_same_bits(result, train(coins, 6, "paper", 1, 5, learning_rate=float(np.float32(1e-3)), **SMALL))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_hidden": 0}, "n_hidden must be a whole number >= 1, got 0"),
        ({"n_hidden": 2.5}, "n_hidden must be a whole number >= 1, got 2.5"),
        ({"seed": -1}, "seed must be a whole number >= 0, got -1"),
        ({"recipe": "fst"}, "recipe must be one of paper, fast, got 'fst'; did you mean 'fast'"),
        ({"epochs": 0}, "epochs must be a whole number >= 1, got 0"),
        ({"learning_rate": -1.0}, "learning_rate must be .*, got -1.0"),
        ({"batch_size": 601}, "batch_size must be at most the number of configurations, 600, got 601"),
        ({"precision": "fp16"}, "precision must be one of auto, fp32, bf16, int8, got 'fp16'"),
        ({"precision": "int8"}, "precision must be bf16 or fp32 with stiff modes, got 'int8'"),
        ({"device": "abacus"}, "device must be 'auto', 'cpu' or a device that torch has here, got 'abacus'"),
        ({"threads": 0}, "threads must be a whole number >= 1, got 0"),
        ({"epoch": 5}, "got 'epoch'; did you mean 'epochs'"),
        ({"n_hiden": 5}, "option of train must be one of .*, got 'n_hiden'; did you mean 'n_hidden'"),
    ],
)
def test_bad_input(coins, options, message):
    with pytest.raises(InputError, match=message) as caught:
        train(coins, **({"n_hidden": 4, "batch_size": 50} | options))
    assert "\n" not in str(caught.value)


def test_held_out_data_must_fit(coins, ising_data):
    with pytest.raises(
        InputError, match="validation must be data of 20 sites, like the training data, got 64"
    ):
        train(coins, 4, validation=ising_data, batch_size=50)


def test_one_thread_is_the_default(coins):
    """On a busy computer threads that wait for each other take many times as long."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        made = train(coins, 3, epochs=1, seed=1).rbm.provenance["training"]
    finally:
        torch.set_num_threads(before)
    assert made["threads"] == 1


def test_threads_are_put_back(coins):
    before = torch.get_num_threads()
    train(coins, 4, "paper", epochs=1, threads=2, **SMALL)
    assert torch.get_num_threads() == before
